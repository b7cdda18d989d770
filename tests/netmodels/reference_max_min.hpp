// SPDX-License-Identifier: Apache-2.0
// Max-min sharing written to be obviously right: long double, full progressive filling at every event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::reference {

struct Flow {
    std::vector<std::size_t> links;
    long double weight = 1;
    long double bits = 0;
    long double start = 0;  // seconds
    long double done = -1;
};

// Rates of the flows in `active`: raise all levels together; when a link is full its flows stop rising.
inline std::vector<long double> rates(std::vector<long double> const& capacity, std::vector<Flow> const& flows,
                                      std::vector<std::size_t> const& active) {
    std::vector<long double> rate(flows.size(), 0), left = capacity;
    std::vector<std::size_t> rising = active;
    while (!rising.empty()) {
        std::vector<long double> weight(capacity.size(), 0);
        for (auto const f : rising)
            for (auto const l : flows[f].links) weight[l] += flows[f].weight;
        auto lowest = std::numeric_limits<long double>::infinity();
        std::size_t full = 0;
        for (std::size_t l = 0; l < capacity.size(); ++l)
            if (weight[l] > 0 && left[l] / weight[l] < lowest) {
                lowest = left[l] / weight[l];
                full = l;
            }
        std::vector<std::size_t> still;
        for (auto const f : rising) {
            auto const& links = flows[f].links;
            if (std::find(links.begin(), links.end(), full) == links.end()) {
                still.push_back(f);
                continue;
            }
            rate[f] = lowest * flows[f].weight;
            for (auto const l : links) left[l] = std::max<long double>(0, left[l] - rate[f]);
        }
        rising = std::move(still);
    }
    return rate;
}

// Fills Flow::done of every flow.
inline void simulate(std::vector<long double> const& capacity, std::vector<Flow>& flows) {
    std::vector<long double> left;
    for (auto const& flow : flows) left.push_back(flow.bits);
    long double now = 0;
    for (;;) {
        std::vector<std::size_t> active;
        auto next = std::numeric_limits<long double>::infinity();
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (flows[f].done >= 0) continue;
            if (flows[f].start <= now)
                active.push_back(f);
            else
                next = std::min(next, flows[f].start);
        }
        auto const rate = rates(capacity, flows, active);
        for (auto const f : active) next = std::min(next, now + left[f] / rate[f]);
        if (next == std::numeric_limits<long double>::infinity()) return;
        for (auto const f : active) {
            left[f] -= rate[f] * (next - now);
            // Within a femtosecond of its end a flow is done: long double carries 19 digits.
            if (left[f] <= rate[f] * 1e-15L) flows[f].done = next;
        }
        now = next;
    }
}

}  // namespace orrery::reference

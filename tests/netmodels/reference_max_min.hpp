// SPDX-License-Identifier: Apache-2.0
// Max-min sharing written to be obviously right, twice: in real numbers, and in integers by the kernel's rounding rule.
// Both fill progressively over all flows, from nothing, every time.
#pragma once

#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::reference {

// A link of a flow and what the flow takes there per unit of its level.
struct Crossing {
    std::size_t link;
    long double weight;
};

struct Flow {
    std::vector<Crossing> crossings;
    long double weight = 1;
    long double bits = 0;
    long double start = 0;  // seconds
    long double done = -1;
};

struct Level {
    long double level = 0;  // b/s per unit of weight
    std::size_t bottleneck = 0;
};

// Levels of the flows in `active`: raise all together; when a link is full its flows stop rising.
inline std::vector<Level> levels(std::vector<long double> const& capacity, std::vector<Flow> const& flows,
                                 std::vector<std::size_t> const& active) {
    std::vector<Level> result(flows.size());
    auto left = capacity;
    auto rising = active;
    while (!rising.empty()) {
        std::vector<long double> weight(capacity.size(), 0);
        for (auto const f : rising)
            for (auto const& c : flows[f].crossings) weight[c.link] += c.weight;
        auto lowest = std::numeric_limits<long double>::infinity();
        std::size_t full = 0;
        for (std::size_t l = 0; l < capacity.size(); ++l)
            if (weight[l] > 0 && left[l] / weight[l] < lowest) {
                lowest = left[l] / weight[l];
                full = l;
            }
        std::vector<std::size_t> still;
        for (auto const f : rising) {
            auto const& crossings = flows[f].crossings;
            if (std::none_of(crossings.begin(), crossings.end(), [&](auto const& c) { return c.link == full; })) {
                still.push_back(f);
                continue;
            }
            result[f] = {lowest, full};
            for (auto const& c : crossings) left[c.link] = std::max<long double>(0, left[c.link] - lowest * c.weight);
        }
        rising = std::move(still);
    }
    return result;
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
        auto const share = levels(capacity, flows, active);
        auto const rate = [&](std::size_t f) { return share[f].level * flows[f].weight; };
        for (auto const f : active) next = std::min(next, now + left[f] / rate(f));
        if (next == std::numeric_limits<long double>::infinity()) return;
        for (auto const f : active) {
            left[f] -= rate(f) * (next - now);
            // Within a femtosecond of its end a flow is done: long double carries 19 digits.
            if (left[f] <= rate(f) * 1e-15L) flows[f].done = next;
        }
        now = next;
    }
}

// The rule in the header of MaxMinKernel, with its interface and none of its code: a level is found by dividing what is
// left of every link, a flow is done when what is left of its service divided by its level has passed.
class IntegerShares {
  public:
    using Completion = MaxMinKernel::Completion;
    static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

    explicit IntegerShares(std::span<Rate const> capacities) : links_(1) {
        for (auto const capacity : capacities) open(capacity);
    }
    void set_capacity(std::uint32_t link, Rate capacity) {
        links_[link].capacity = Int128{capacity.bits_per_s()} * 4096;
    }

    void add(std::span<MaxMinKernel::Crossing const> crossings, std::uint32_t weight, std::int64_t bytes,
             std::uint64_t cookie, Rate cap = Rate::unlimited()) {
        Flow flow{.crossings = {crossings.begin(), crossings.end()},
                  .remaining = (Int128{bytes} * 8'000'000'000'000 * 4096 + weight - 1) / weight,
                  .cookie = cookie};
        if (cap != Rate::unlimited()) flow.crossings.push_back({open(cap), weight});
        flows_.push_back(std::move(flow));
    }

    void settle(Time now) {
        for (auto& flow : flows_) {
            if (flow.moves) flow.remaining -= Int128{flow.level} * (now - since_).ps();
            flow.moves = true;
        }
        since_ = now;
        fill();
    }

    Time next_completion() const {
        auto first = never;
        for (auto const& flow : flows_) first = std::min(first, due(flow));
        if (first == never) return Time::infinity();
        ORRERY_VALIDATE(first <= never / 2, "too late");
        return Time::from_ps(static_cast<std::int64_t>(first));
    }

    void complete_until(Time now, std::vector<Completion>& done) {
        std::vector<Completion> ended;
        for (auto const& flow : flows_)
            if (due(flow) <= now.ps())
                ended.push_back({flow.cookie, Time::from_ps(static_cast<std::int64_t>(due(flow)))});
        std::erase_if(flows_, [&](Flow const& flow) { return due(flow) <= now.ps(); });
        std::sort(ended.begin(), ended.end(), [](auto const& a, auto const& b) {
            return a.when != b.when ? a.when < b.when : a.cookie < b.cookie;
        });
        done.insert(done.end(), ended.begin(), ended.end());
    }

    std::int64_t level(std::uint32_t link) const { return links_[link].level; }
    std::int64_t load(std::uint32_t link) const {
        std::int64_t load = 0;
        for (auto const& flow : flows_)
            for (auto const& c : flow.crossings)
                if (flow.moves && c.link == link) load += flow.level * c.weight;
        return load;
    }
    std::vector<std::uint64_t> starved() const {
        std::vector<std::uint64_t> cookies;
        for (auto const& flow : flows_)
            if (flow.moves && flow.level == 0) cookies.push_back(flow.cookie);
        std::sort(cookies.begin(), cookies.end());
        return cookies;
    }

  private:
    static constexpr Int128 never = std::numeric_limits<std::int64_t>::max();
    struct Link {
        Int128 capacity = 0;  // 2^-12 b/s
        std::int64_t level = unbounded;
    };
    struct Flow {
        std::vector<MaxMinKernel::Crossing> crossings;
        Int128 remaining = 0;  // at since_, in level * ps
        std::uint64_t cookie = 0;
        std::int64_t level = 0;
        bool moves = false;  // there has been a settle since it came
    };

    std::uint32_t open(Rate capacity) {
        links_.push_back({.capacity = Int128{capacity.bits_per_s()} * 4096});
        return static_cast<std::uint32_t>(links_.size() - 1);
    }

    Int128 due(Flow const& flow) const {
        if (!flow.moves || flow.level == 0) return never;
        return since_.ps() + (flow.remaining + flow.level - 1) / flow.level;
    }

    // All levels rise together. The links that fill first fill at the same integer level; their flows stay there, the
    // others go on with what that leaves.
    void fill() {
        for (auto& link : links_) link.level = unbounded;
        std::vector<Int128> left;
        for (auto const& link : links_) left.push_back(link.capacity);
        std::vector<Flow*> rising;
        for (auto& flow : flows_) rising.push_back(&flow);
        while (!rising.empty()) {
            std::vector<Int128> weight(links_.size(), 0);
            for (auto const* flow : rising)
                for (auto const& c : flow->crossings) weight[c.link] += c.weight;
            Int128 lowest = unbounded;
            for (std::size_t l = 0; l < links_.size(); ++l)
                if (weight[l] > 0) lowest = std::min(lowest, left[l] / weight[l]);
            for (std::size_t l = 0; l < links_.size(); ++l)
                if (weight[l] > 0 && left[l] / weight[l] == lowest) links_[l].level = static_cast<std::int64_t>(lowest);
            std::erase_if(rising, [&](Flow* flow) {
                bool const stays = std::any_of(flow->crossings.begin(), flow->crossings.end(),
                                               [&](auto const& c) { return links_[c.link].level == lowest; });
                if (!stays) return false;
                flow->level = static_cast<std::int64_t>(lowest);
                for (auto const& c : flow->crossings) left[c.link] -= lowest * c.weight;
                return true;
            });
        }
    }

    std::vector<Link> links_;  // from 1, as the kernel numbers them; caps behind the fabric's
    std::vector<Flow> flows_;
    Time since_;
};

}  // namespace orrery::reference

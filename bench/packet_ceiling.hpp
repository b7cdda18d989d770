// SPDX-License-Identifier: Apache-2.0
// The bare loop that the packet engines are measured against: a windowed sweep of FIFO ports and nothing else.
#pragma once

#include "bench/rows.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace orrery::bench {

struct BareRun {
    double seconds = 0;
    std::int64_t hops = 0, last_ps = 0;
};

// All-to-all in rotation on a leaf-spine with k hosts per leaf, k spines: one record of 16 bytes per packet-hop, ports
// known by arithmetic, one rate, one latency; no routes, flows, statistics, digests or checks.
class BareSweep {
  public:
    BareSweep(std::uint32_t hosts, std::uint32_t per_leaf, std::int64_t pair_bytes)
        : hosts_(hosts),
          per_leaf_(per_leaf),
          packets_(static_cast<std::uint32_t>(pair_bytes / packet_bytes)),
          free_(3 * hosts, 0),
          counts_(3 * hosts + 1, 0),
          sent_(hosts, 0) {}

    BareRun run() {
        BareRun result;
        auto const total = static_cast<std::uint64_t>(hosts_ - 1) * packets_;
        for (std::int64_t window = 0; pending_ > 0 || sent_[0] < total; ++window) {
            auto const begin = window * width;
            for (std::uint32_t h = 0; h < hosts_; ++h) {
                for (; sent_[h] < total && static_cast<std::int64_t>(sent_[h]) * time < begin + width; ++sent_[h]) {
                    auto const target = (h + 1 + static_cast<std::uint32_t>(sent_[h] / packets_)) % hosts_;
                    auto const spine = static_cast<std::uint32_t>(sent_[h] + h) % per_leaf_;
                    auto const arrival = static_cast<std::int64_t>(sent_[h]) * time + time + width;
                    bool const near = target / per_leaf_ == h / per_leaf_;
                    auto const up = hosts_ + h / per_leaf_ * per_leaf_ + spine;
                    push(arrival, near ? 2 * hosts_ + target : up, target);
                    ++result.hops;
                }
            }
            result.hops += sweep(window, result.last_ps);
        }
        return result;
    }

  private:
    static constexpr std::int64_t packet_bytes = 4096, time = 81'920, width = 500'000, ring = 64;
    struct Record {
        std::int64_t when;
        std::uint32_t port, target;
    };

    // The port knows its tier: host links up are sources, then leaf to spine, spine to leaf and leaf to host.
    void push(std::int64_t when, std::uint32_t port, std::uint32_t target) {
        ring_[static_cast<std::size_t>(when / width % ring)].push_back({when, port, target});
        ++pending_;
    }
    std::int64_t sweep(std::int64_t window, std::int64_t& last_ps) {
        auto& bucket = ring_[static_cast<std::size_t>(window % ring)];
        work_.swap(bucket);
        bucket.clear();
        pending_ -= static_cast<std::int64_t>(work_.size());
        if (free_.size() < 4 * hosts_) free_.resize(4 * hosts_, 0), counts_.resize(4 * hosts_ + 1, 0);
        std::fill(counts_.begin(), counts_.end(), 0);
        for (auto const& r : work_) ++counts_[r.port + 1];
        for (std::size_t p = 1; p < counts_.size(); ++p) counts_[p] += counts_[p - 1];
        sorted_.resize(work_.size());
        auto at = counts_;
        for (auto const& r : work_) sorted_[at[r.port]++] = r;
        for (std::uint32_t port = hosts_; port < 4 * hosts_; ++port) {
            auto* const first = sorted_.data() + counts_[port];
            auto* const last = sorted_.data() + counts_[port + 1];
            for (auto* i = first + 1; i < last; ++i)
                for (auto* j = i; j != first && j[-1].when > j->when; --j) std::swap(j[-1], *j);
            for (auto* r = first; r < last; ++r) {
                auto const start = std::max(free_[port], r->when);
                free_[port] = start + time;
                auto const arrival = start + time + width;
                if (port >= 2 * hosts_ && port < 3 * hosts_) {
                    last_ps = std::max(last_ps, arrival);
                } else if (port < 2 * hosts_) {
                    auto const spine = port % per_leaf_;
                    push(arrival, 3 * hosts_ + r->target / per_leaf_ * per_leaf_ + spine, r->target);
                } else {
                    push(arrival, 2 * hosts_ + r->target, r->target);
                }
            }
        }
        return static_cast<std::int64_t>(work_.size());
    }

    std::uint32_t hosts_, per_leaf_, packets_;
    std::vector<std::int64_t> free_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint64_t> sent_;
    std::array<std::vector<Record>, ring> ring_;
    std::vector<Record> work_, sorted_;
    std::int64_t pending_ = 0;
};

inline BareRun bare_sweep(std::uint32_t hosts, std::int64_t pair_bytes) {
    std::uint32_t leaf = 1;
    while (leaf * leaf < hosts) leaf *= 2;
    BareSweep sweep(hosts, leaf, pair_bytes);
    auto const started = cpu_seconds();
    auto result = sweep.run();
    result.seconds = cpu_seconds() - started;
    return result;
}

}  // namespace orrery::bench

// SPDX-License-Identifier: Apache-2.0
// Levels after a change of many flows at once: one water-filling over all links, as a start for the relaxation.
//
// It need not be right to the last unit, and where links fill within a rounding remainder of each other it is not:
// relaxation ends in the same state from any start, and this one is so near that it only has to look.
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>

namespace orrery {
namespace {

struct Filling {
    std::int64_t level;
    std::uint32_t link;
};
constexpr auto higher = [](Filling const& a, Filling const& b) {
    return a.level != b.level ? a.level > b.level : a.link > b.link;
};

}  // namespace

void MaxMinKernel::guess_levels(Time now) {
    queue_.clear();
    slack_.clear();
    order_.clear();
    std::fill(queued_.begin() + 1, queued_.end(), 0);
    std::vector<Filling> heap;
    for (std::uint32_t link = 1; link < links_.size(); ++link) {
        advance_clock(link, now);
        auto const& l = links_[link];
        shares_[link] = {.level = unbounded, .held = 0, .ceiling = -1, .own = l.total};
        if (l.total > 0) heap.push_back({l.imposed ? l.capacity : l.capacity / l.total, link});
    }
    std::make_heap(heap.begin(), heap.end(), higher);
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), higher);
        auto const [expected, link] = heap.back();
        heap.pop_back();
        auto& share = shares_[link];
        if (share.own == 0) continue;  // all its flows are bound elsewhere: it does not fill
        auto level = expected;
        if (!links_[link].imposed) {
            // Flows bound elsewhere since then can only have raised it.
            level = (links_[link].capacity - static_cast<std::int64_t>(share.held)) / share.own;
            if (level > expected) {
                heap.push_back({level, link});
                std::push_heap(heap.begin(), heap.end(), higher);
                continue;
            }
        }
        fill(link, std::max<std::int64_t>(level, 0));
    }
    for (std::uint32_t link = 1; link < links_.size(); ++link) classify(link);
    for (auto const flow : pending_) {
        rebind_to_level(flow, level_of(flow));
    }
    for (std::uint32_t link = 1; link < links_.size(); ++link) {
        touch(link);
        if (links_[link].total > 0) enqueue(link);
    }
}

// The flows of the link that no other link has bound yet take its level, and that much of their other links.
void MaxMinKernel::fill(std::uint32_t link, std::int64_t level) {
    auto const& list = lists_[link];
    auto const hold = [&](std::uint32_t other, std::uint32_t weight) {
        shares_[other].held += static_cast<std::uint64_t>(level) * weight;
        shares_[other].own -= weight;
    };
    counters_.visits += list.flows.size();
    for (std::uint32_t slot = 0; slot < list.flows.size(); ++slot) {
        auto const [other, weight] = list.entries[slot];
        if (level_elsewhere(link, slot) != unbounded) continue;
        if (other != 0) {
            hold(other, weight);
            continue;
        }
        auto const& f = flows_[list.flows[slot]];
        for (auto p = f.first_place; p != f.first_place + f.places; ++p)
            if (auto const [at, there] = places_[p]; at != link) hold(at, lists_[at].entries[there].weight);
    }
    shares_[link].level = level;
}

// Sorts the entries of a link into own and held by the levels as they are, and binds those whose bottleneck moved.
void MaxMinKernel::classify(std::uint32_t link) {
    auto& share = shares_[link];
    auto const& list = lists_[link];
    auto const own_before = links_[link].own_count;
    share.held = 0;
    share.own = links_[link].lone;
    share.ceiling = -1;
    auto const count = static_cast<std::uint32_t>(list.flows.size());
    std::uint32_t own = 0;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
        auto const elsewhere = level_elsewhere(link, slot);
        auto const weight = list.entries[slot].weight;
        if (elsewhere >= share.level) {
            ++own;
            share.own += weight;
            // Held so far: bound by a link that is perhaps not its bottleneck any more.
            if (slot >= own_before && elsewhere != share.level) rebind_to_level(list.flows[slot], share.level);
        } else {
            share.held += static_cast<std::uint64_t>(elsewhere) * weight;
            share.ceiling = std::max(share.ceiling, elsewhere);
            if (slot < own_before && flows_[list.flows[slot]].bound == link)
                rebind_to_level(list.flows[slot], elsewhere);
        }
    }
    links_[link].own_count = own;
    // Only those on the wrong side change places: finding an entry's flow costs a miss of the cache.
    for (std::uint32_t front = 0, back = own; front < own; ++front) {
        if (level_elsewhere(link, front) >= share.level) continue;
        while (level_elsewhere(link, back) < share.level) ++back;
        swap_entries(link, front, back);
    }
}

}  // namespace orrery

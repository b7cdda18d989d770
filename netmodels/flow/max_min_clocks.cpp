// SPDX-License-Identifier: Apache-2.0
// Progress: one clock per link, and the heap of the flows that read it.
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr auto later = [](auto const& a, auto const& b) {
    return a.tag_high != b.tag_high ? a.tag_high > b.tag_high : a.tag_low > b.tag_low;
};

constexpr auto furthest = std::numeric_limits<std::int64_t>::max() / 2;  // ps: 53 days

}  // namespace

void MaxMinKernel::advance_clock(std::uint32_t link, Time now) {
    auto const level = shares_[link].level;
    if (level != unbounded)
        clock_[link] += static_cast<UInt128>(level) * static_cast<std::uint64_t>((now - clock_time_[link]).ps());
    clock_time_[link] = now;
}

void MaxMinKernel::bind(std::uint32_t flow, std::uint32_t link, Time now) {
    auto& f = flows_[flow];
    auto tag = tag_of(f);
    if (f.bound != 0) {
        advance_clock(f.bound, now);
        tag -= clock_[f.bound];
        links_[f.bound].stale_heap = true;
        touch(f.bound);
    }
    advance_clock(link, now);
    set_tag(f, tag + clock_[link]);
    f.bound = link;
    push_due(link, flow);
    touch(link);
}

void MaxMinKernel::push_due(std::uint32_t link, std::uint32_t flow) {
    auto& heap = heaps_[link];
    if (heap.size() > 64 &&
        heap.size() > 2 * (lists_[link].flows.size() + links_[link].lone_count)) {  // mostly stale: rebuild
        std::erase_if(heap, [&](Due const& due) {
            auto const& f = flows_[due.flow];
            return f.bound != link || tag_of(f) != tag_of(due);
        });
        std::make_heap(heap.begin(), heap.end(), later);
    }
    heap.push_back({flows_[flow].tag_high, flows_[flow].tag_low, flow});
    std::push_heap(heap.begin(), heap.end(), later);
    next_tag_[link] = tag_of(heap.front());  // too early when the front is stale: drop_stale() comes before its use
}

// A flow that left, or was bound elsewhere since, leaves its entry behind.
void MaxMinKernel::drop_stale(std::uint32_t link) {
    if (!links_[link].stale_heap) return;
    links_[link].stale_heap = false;
    auto& heap = heaps_[link];
    while (!heap.empty()) {
        auto const& due = heap.front();
        auto const& f = flows_[due.flow];
        if (f.bound == link && tag_of(f) == tag_of(due)) break;
        std::pop_heap(heap.begin(), heap.end(), later);
        heap.pop_back();
    }
    next_tag_[link] = heap.empty() ? never : tag_of(heap.front());
}

void MaxMinKernel::schedule(std::uint32_t link) {
    drop_stale(link);
    auto const level = shares_[link].level;
    if (next_tag_[link] == never || level == 0 || level == unbounded)
        return due_.set(link, Time::infinity(), DueTable::Kind::exact);
    auto const tag = next_tag_[link];
    auto const at = clock_time_[link];
    if (tag <= clock_[link]) return due_.set(link, at, DueTable::Kind::exact);
    // A double carries 53 bits: less 2^-49 and one picosecond is certainly early.
    auto const ahead = tag - clock_[link];
    auto const left = static_cast<double>(static_cast<std::uint64_t>(ahead >> 64)) * 0x1p64 +
                      static_cast<double>(static_cast<std::uint64_t>(ahead));
    auto const wait = left / static_cast<double>(level) * (1 - 0x1p-49) - 1;
    auto const most = static_cast<double>(furthest - at.ps());
    auto const early = static_cast<std::int64_t>(std::clamp(wait, 0.0, most));
    due_.set(link, at + Time::from_ps(early), DueTable::Kind::lower_bound);
}

UInt128 MaxMinKernel::wait_of(std::uint32_t link) const {
    auto const level = static_cast<UInt128>(shares_[link].level);
    return (next_tag_[link] - clock_[link] + level - 1) / level;
}

DueTable::Due MaxMinKernel::next_due() const {
    for (;;) {
        auto const due = due_.earliest();
        if (due.kind == DueTable::Kind::exact) return due;
        auto const wait = wait_of(due.entry);
        auto const at = clock_time_[due.entry];
        ORRERY_VALIDATE(wait <= static_cast<UInt128>(furthest - at.ps()),
                        "a transfer would end more than 53 days of simulated time from now (its share of a link is {} "
                        "b/s) use faster links or fewer bytes",
                        shares_[due.entry].level / rate_scale);
        due_.set(due.entry, at + Time::from_ps(static_cast<std::int64_t>(wait)), DueTable::Kind::exact);
    }
}

Time MaxMinKernel::next_completion() const {
    return next_due().when;
}

void MaxMinKernel::complete_until(Time now, std::vector<Completion>& done) {
    auto const first = done.size();
    for (auto due = next_due(); due.when <= now; due = next_due()) {
        auto const link = due.entry;
        advance_clock(link, due.when);
        auto& heap = heaps_[link];
        for (drop_stale(link); next_tag_[link] <= clock_[link]; drop_stale(link)) {
            auto const flow = heap.front().flow;
            done.push_back({flows_[flow].cookie, due.when});
            remove(flow, due.when);
        }
        schedule(link);
    }
    std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end());
}

void MaxMinKernel::set_load(std::uint32_t link, std::int64_t load, Time now) {
    if (load == load_[link]) return;
    load_[link] = load;
    if (observer_) observer_->load_changes(link, now, load);
}

}  // namespace orrery

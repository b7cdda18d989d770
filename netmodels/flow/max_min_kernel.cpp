// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr std::uint32_t sentinel = 0;
constexpr std::uint32_t unbound = sentinel;  // a flow that no settle() has seen yet: its tag is its remaining service
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

}  // namespace

MaxMinKernel::MaxMinKernel(std::span<Rate const> capacities) {
    open_link(Rate{});  // the sentinel
    for (auto const capacity : capacities) open_link(capacity);
}

std::uint32_t MaxMinKernel::open_link(Rate capacity) {
    ORRERY_ENSURE(capacity.bits_per_s() <= std::numeric_limits<std::int64_t>::max() / rate_scale / 2, "rate of {} b/s",
                  capacity.bits_per_s());
    auto const scaled = capacity.bits_per_s() * rate_scale;
    if (!free_links_.empty()) {
        auto const link = free_links_.back();
        free_links_.pop_back();
        closed_[link] = 0;
        capacity_[link] = scaled;
        return link;
    }
    auto const link = static_cast<std::uint32_t>(capacity_.size());
    capacity_.push_back(scaled);
    load_.push_back(0);
    fixed_.push_back(0);
    level_.push_back(0);
    weight_.push_back(0);
    unfrozen_.push_back(0);
    full_.push_back(0);
    private_.push_back(0);
    closed_.push_back(0);
    clock_.push_back(0);
    clock_time_.emplace_back();
    next_tag_.push_back(never);
    stamp_.push_back(0);
    entries_.emplace_back();
    dead_.push_back(0);
    parent_.push_back(link);
    next_member_.push_back(link);
    component_flows_.push_back(0);
    component_size_.push_back(1);
    is_touched_.push_back(0);
    return link;
}

void MaxMinKernel::close_link(std::uint32_t link) {
    ORRERY_ENSURE(weight_[link] == 0 && link != sentinel, "link {} is closed while it carries flows", link);
    // A reused link starts as a new one: the fraction of a tag left on its clock would otherwise reach a rounding.
    capacity_[link] = level_[link] = 0;
    clock_[link] = 0;
    ++stamp_[link];
    closed_[link] = 1;
    if (component_size_[find(link)] == 1) free_links_.push_back(link);
}

void MaxMinKernel::touch(std::uint32_t link) {
    if (is_touched_[link]) return;
    is_touched_[link] = 1;
    touched_.push_back(link);
}

std::uint32_t MaxMinKernel::find(std::uint32_t link) {
    while (parent_[link] != link) {
        parent_[link] = parent_[parent_[link]];
        link = parent_[link];
    }
    return link;
}

void MaxMinKernel::unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    if (component_size_[a] < component_size_[b]) std::swap(a, b);
    parent_[b] = a;
    component_size_[a] += component_size_[b];
    component_flows_[a] += component_flows_[b];
    std::swap(next_member_[a], next_member_[b]);  // splices the two circular lists
}

void MaxMinKernel::add(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes,
                       std::uint64_t cookie, Rate cap) {
    bool const capped = cap != Rate::unlimited();
    ORRERY_ENSURE(!links.empty() && links.size() + (capped ? 1 : 0) <= max_links_per_flow && weight > 0 && bytes > 0,
                  "flow with {} links, weight {}, {} B", links.size(), weight, bytes);
    std::uint32_t flow;
    if (free_flows_.empty()) {
        flow = static_cast<std::uint32_t>(flow_weight_.size());
        flow_links_.emplace_back();
        flow_slots_.emplace_back();
        flow_weight_.push_back(0);
        flow_bound_.push_back(unbound);
        flow_tag_.push_back(0);
        flow_cookie_.push_back(0);
    } else {
        flow = free_flows_.back();
        free_flows_.pop_back();
    }
    auto const service = ((static_cast<UInt128>(bytes) << 20) + weight - 1) / weight;
    ORRERY_ENSURE(service < (UInt128{1} << 62), "flow of {} B with weight {} is too long", bytes, weight);
    flow_weight_[flow] = weight;
    flow_bound_[flow] = unbound;
    flow_tag_[flow] = static_cast<std::uint64_t>(service);
    flow_cookie_[flow] = cookie;
    flow_links_[flow].fill(sentinel);
    std::size_t count = 0;
    auto const cross = [&](std::uint32_t link) {
        flow_links_[flow][count] = link;
        flow_slots_[flow][count++] = static_cast<std::uint32_t>(entries_[link].size());
        entries_[link].push_back({flow, weight});
        weight_[link] += weight;
        if (link != links[0]) unite(links[0], link);
    };
    for (auto const link : links) cross(link);
    if (capped) {
        auto const link = open_link(cap);
        private_[link] = 1;
        cross(link);
    }
    ++component_flows_[find(links[0])];
    ++active_flows_;
    touch(links[0]);
}

void MaxMinKernel::settle(Time now) {
    if (touched_.empty()) return;
    for (auto const seed : touched_) {
        if (!is_touched_[seed]) continue;  // already solved with an earlier seed of its component
        members_.clear();
        auto link = seed;
        do {
            is_touched_[link] = 0;
            members_.push_back(link);
            if (dead_[link] * 2 > entries_[link].size()) compact(link);
            link = next_member_[link];
        } while (link != seed);
        auto const root = find(seed);
        bool const idle = component_flows_[root] == 0;
        water_fill(members_, now);
        if (idle) reset_component();
    }
    touched_.clear();
}

void MaxMinKernel::reset_component() {
    bool const single = members_.size() == 1;
    for (auto const member : members_) {
        parent_[member] = next_member_[member] = member;
        component_size_[member] = 1;
        component_flows_[member] = 0;
        if (closed_[member] && !single) free_links_.push_back(member);
    }
}

void MaxMinKernel::water_fill(std::span<std::uint32_t const> links, Time now) {
    ++settles_;
    auto const later = [](Level const& a, Level const& b) {
        return a.level != b.level ? a.level > b.level : a.link > b.link;
    };
    filling_.clear();
    for (auto const link : links) {
        advance_clock(link, now);
        fixed_[link] = 0;
        unfrozen_[link] = weight_[link];
        full_[link] = 0;
        next_tag_[link] = never;
        if (weight_[link] > 0) filling_.push_back({capacity_[link] / weight_[link], link});
    }
    std::make_heap(filling_.begin(), filling_.end(), later);
    while (!filling_.empty()) {
        auto const lowest = filling_.front();
        std::pop_heap(filling_.begin(), filling_.end(), later);
        filling_.pop_back();
        auto const link = lowest.link;
        if (unfrozen_[link] == 0) continue;  // all its flows are bound elsewhere: it does not fill
        // Flows bound elsewhere since the entry was made can only have raised the level.
        auto const level = (capacity_[link] - fixed_[link]) / unfrozen_[link];
        if (level > lowest.level) {
            filling_.push_back({level, link});
            std::push_heap(filling_.begin(), filling_.end(), later);
            continue;
        }
        freeze(link, level);
    }
    for (auto const link : links) {
        if (!full_[link]) level_[link] = 0;
        set_load(link, fixed_[link], now);
        schedule(link, now);
    }
}

void MaxMinKernel::freeze(std::uint32_t link, std::int64_t level) {
    auto const clock_tag = static_cast<std::uint64_t>(clock_[link] / tag_unit);
    auto smallest = never;
    visits_ += entries_[link].size();
    auto const bound_elsewhere = [this](auto const& links) {
        for (auto const other : links) {
            if (other == sentinel) return false;
            if (full_[other]) return true;
        }
        return false;
    };
    for (auto const entry : entries_[link]) {
        if (entry.weight == 0) continue;
        auto const flow = entry.flow;
        auto const& crossed = flow_links_[flow];
        if (bound_elsewhere(crossed)) continue;
        auto const rate = level * entry.weight;
        for (auto const other : crossed) {
            if (other == sentinel) break;
            fixed_[other] += rate;
            unfrozen_[other] -= entry.weight;
        }
        auto const bound = flow_bound_[flow];
        if (bound != link) {
            auto const served = bound == unbound ? 0 : static_cast<std::uint64_t>(clock_[bound] / tag_unit);
            auto const tag = flow_tag_[flow];
            flow_tag_[flow] = clock_tag + (tag > served ? tag - served : 0);
            flow_bound_[flow] = link;
        }
        smallest = std::min(smallest, flow_tag_[flow]);
    }
    full_[link] = 1;
    level_[link] = level;
    next_tag_[link] = smallest;
}

void MaxMinKernel::advance_clock(std::uint32_t link, Time now) {
    clock_[link] += static_cast<UInt128>(level_[link]) * static_cast<std::uint64_t>((now - clock_time_[link]).ps());
    clock_time_[link] = now;
}

void MaxMinKernel::schedule(std::uint32_t link, Time now) {
    ++stamp_[link];
    if (next_tag_[link] == never || level_[link] == 0) return;
    auto const target = static_cast<UInt128>(next_tag_[link]) * tag_unit;
    if (target <= clock_[link]) return push_due({now, link, stamp_[link]});
    auto const level = static_cast<UInt128>(level_[link]);
    auto const wait = (target - clock_[link] + level - 1) / level;
    ORRERY_VALIDATE(
        wait <= static_cast<UInt128>(std::numeric_limits<std::int64_t>::max() / 2 - now.ps()),
        "a transfer would end more than 53 days of simulated time from now (its share of a link is {} b/s) use "
        "faster links or fewer bytes",
        level_[link] / rate_scale);
    push_due({now + Time::from_ps(static_cast<std::int64_t>(wait)), link, stamp_[link]});
}

namespace {
constexpr auto due_later = [](auto const& a, auto const& b) {
    return a.when != b.when ? a.when > b.when : a.link > b.link;
};
}  // namespace

void MaxMinKernel::push_due(Due due) {
    due_.push_back(due);
    std::push_heap(due_.begin(), due_.end(), due_later);
    if (due_.size() > 64 && due_.size() > 4 * capacity_.size()) {  // mostly stale: rebuild
        std::erase_if(due_, [this](Due const& d) { return d.stamp != stamp_[d.link]; });
        std::make_heap(due_.begin(), due_.end(), due_later);
    }
}

Time MaxMinKernel::next_completion() const {
    while (!due_.empty() && due_.front().stamp != stamp_[due_.front().link]) {
        std::pop_heap(due_.begin(), due_.end(), due_later);
        due_.pop_back();
    }
    return due_.empty() ? Time::infinity() : due_.front().when;
}

void MaxMinKernel::complete_until(Time now, std::vector<Completion>& done) {
    auto const first = done.size();
    for (auto when = next_completion(); when <= now; when = next_completion()) {
        auto const link = due_.front().link;
        std::pop_heap(due_.begin(), due_.end(), due_later);
        due_.pop_back();
        advance_clock(link, when);
        auto const reached = static_cast<std::uint64_t>(clock_[link] / tag_unit);
        auto smallest = never;
        visits_ += entries_[link].size();
        auto& entries = entries_[link];
        for (std::size_t i = 0; i < entries.size(); ++i) {
            auto const entry = entries[i];
            if (entry.weight == 0 || flow_bound_[entry.flow] != link) continue;
            if (flow_tag_[entry.flow] > reached) {
                smallest = std::min(smallest, flow_tag_[entry.flow]);
                continue;
            }
            done.push_back({flow_cookie_[entry.flow], when});
            remove(entry.flow, when);
        }
        next_tag_[link] = smallest;
        schedule(link, when);
    }
    std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
              [](auto const& a, auto const& b) { return a.when != b.when ? a.when < b.when : a.cookie < b.cookie; });
}

void MaxMinKernel::remove(std::uint32_t flow, Time now) {
    auto const weight = flow_weight_[flow];
    auto const rate = level_[flow_bound_[flow]] * weight;
    auto const& links = flow_links_[flow];
    for (std::size_t k = 0; k < links.size() && links[k] != sentinel; ++k) {
        auto const link = links[k];
        entries_[link][flow_slots_[flow][k]].weight = 0;
        ++dead_[link];
        weight_[link] -= weight;
        set_load(link, load_[link] - rate, now);
        touch(link);
        if (private_[link]) {
            private_[link] = 0;
            close_link(link);
        }
    }
    --component_flows_[find(links[0])];
    --active_flows_;
    free_flows_.push_back(flow);
}

void MaxMinKernel::compact(std::uint32_t link) {
    auto& entries = entries_[link];
    std::size_t kept = 0;
    for (auto const entry : entries) {
        if (entry.weight == 0) continue;
        auto const& links = flow_links_[entry.flow];
        auto const k = static_cast<std::size_t>(std::find(links.begin(), links.end(), link) - links.begin());
        flow_slots_[entry.flow][k] = static_cast<std::uint32_t>(kept);
        entries[kept++] = entry;
    }
    entries.resize(kept);
    dead_[link] = 0;
}

void MaxMinKernel::set_load(std::uint32_t link, std::int64_t load, Time now) {
    if (load == load_[link]) return;
    load_[link] = load;
    if (observer_) observer_->load_changes(link, now, load);
}

std::vector<std::uint64_t> MaxMinKernel::starved() const {
    std::vector<std::uint64_t> cookies;
    for (std::uint32_t link = 1; link < capacity_.size(); ++link)
        if (level_[link] == 0)
            for (auto const entry : entries_[link])
                if (entry.weight > 0 && flow_bound_[entry.flow] == link) cookies.push_back(flow_cookie_[entry.flow]);
    std::sort(cookies.begin(), cookies.end());
    return cookies;
}

}  // namespace orrery

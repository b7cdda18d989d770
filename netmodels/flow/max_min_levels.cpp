// SPDX-License-Identifier: Apache-2.0
// Levels: relaxation, lowest first, of the links whose flows changed.
//
// The level of a link depends on strictly lower levels only: a flow whose level elsewhere is equal or higher counts as
// the link's own. So the true levels are the one state in which no link contradicts its flows, and any relaxation that
// goes on until none does ends there. Lowest first is what makes it short: most links are looked at once.
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace orrery {
namespace {

constexpr unsigned link_bits = 26;  // of a word of the queue
constexpr std::uint64_t link_mask = (1U << link_bits) - 1;

// Positive doubles order like their bits; the lowest 26 of the mantissa make room for the link.
std::uint64_t queue_word(std::int64_t level, std::uint32_t link) {
    return (std::bit_cast<std::uint64_t>(static_cast<double>(level)) & ~link_mask) | link;
}

}  // namespace

void MaxMinKernel::settle(Time now) {
    if (!needs_settle()) return;
    begin_settle(now);
    // Many changes at once cross each other in the relaxation, and then one filling of everything is cheaper. Where
    // that begins is learnt from the settles that had to fall back to it.
    bool const many = changes_ >= many_changes_;
    if (many_changes_ < never_many) many_changes_ += many_changes_ / 64 + 1;
    if (many) {
        guess_levels(now);
    } else {
        for (auto const link : seeds_) enqueue(link);
    }
    relax_all(now, many ? Fallback::none : Fallback::guess);
    finish_settle(now);
}

void MaxMinKernel::settle_afresh(Time now) {
    begin_settle(now);
    guess_levels(now);
    relax_all(now, Fallback::none);
    finish_settle(now);
}

void MaxMinKernel::begin_settle(Time now) {
    now_ = now;
    for (auto const flow : pending_) insert(flow);
    changes_ += static_cast<std::uint32_t>(pending_.size());
}

void MaxMinKernel::relax_all(Time now, Fallback fallback) {
    auto const most = counters_.visits + 1024 + entry_count_;
    for (auto link = take(); link != LevelOrder::none; link = take()) {
        ++counters_.relaxations;
        relax(link);
        if (fallback == Fallback::guess && counters_.visits > most) {
            fallback = Fallback::none;
            many_changes_ = std::max(changes_, 8U);
            ++counters_.afresh;
            guess_levels(now);
        }
    }
}

// The queued link with the lowest level, or expected level where it has none yet; last those that only hold.
std::uint32_t MaxMinKernel::take() {
    auto const leveled = order_.peek();
    if (leveled == LevelOrder::none && queue_.empty()) {
        if (slack_.empty()) return LevelOrder::none;
        auto const link = slack_.back();
        slack_.pop_back();
        queued_[link] = 0;
        return link;
    }
    while (!queue_.empty()) {
        auto const word = queue_.front();
        auto const link = static_cast<std::uint32_t>(word & link_mask);
        if (leveled != LevelOrder::none && queue_word(shares_[leveled].level, leveled) < word) break;
        std::pop_heap(queue_.begin(), queue_.end(), std::greater<>{});
        queue_.pop_back();
        // What others took since it was queued can only have raised its level.
        auto const expected = queue_word(estimate(link), link);
        if (expected > word && !queue_.empty() && expected > queue_.front()) {
            queue_.push_back(expected);
            std::push_heap(queue_.begin(), queue_.end(), std::greater<>{});
            continue;
        }
        queued_[link] = 0;
        return link;
    }
    order_.unmark(leveled);
    queued_[leveled] = 0;
    return leveled;
}

void MaxMinKernel::finish_settle(Time now) {
    ++counters_.settles;
    for (auto const link : seeds_) links_[link].seeded = false;
    seeds_.clear();
    pending_.clear();
    changes_ = 0;
    auto const level = [this](std::uint32_t link) { return shares_[link].level; };
    for (auto const link : touched_) order_.move(link, level);
    order_.sort_if_worn(level);
    for (auto const link : touched_) {
        links_[link].touched = false;
        schedule(link);
        auto const& share = shares_[link];
        set_load(link, static_cast<std::int64_t>(share.held) + (share.own > 0 ? share.own * share.level : 0), now);
    }
    touched_.clear();
}

void MaxMinKernel::touch(std::uint32_t link) {
    if (links_[link].touched) return;
    links_[link].touched = true;
    touched_.push_back(link);
}

// Orders the queue and nothing else, so a double will do.
std::int64_t MaxMinKernel::estimate(std::uint32_t link) const {
    auto const& share = shares_[link];
    if (share.own == 0) return share.level;
    auto const left = static_cast<double>(links_[link].capacity - static_cast<std::int64_t>(share.held));
    return std::min(share.level, static_cast<std::int64_t>(std::max(0.0, left) / static_cast<double>(share.own)));
}

void MaxMinKernel::enqueue(std::uint32_t link) {
    if (queued_[link]) return;
    queued_[link] = 1;
    touch(link);
    if (shares_[link].level != unbounded) return order_.mark(link);
    if (shares_[link].own == 0) return slack_.push_back(link);
    queue_.push_back(queue_word(estimate(link), link));
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>{});
}

void MaxMinKernel::relax(std::uint32_t link) {
    auto const& l = links_[link];
    auto const& share = shares_[link];
    if (l.imposed) return apply_all(link, l.capacity);
    auto const left = l.capacity - static_cast<std::int64_t>(share.held);
    // A held flow may be within a rounding remainder of the link's own level, or above it: then look at all. Held flows
    // are below the present level, so that takes a fall.
    bool const wrapped = static_cast<Int128>(share.ceiling) * l.total > unbounded;
    if (wrapped) {
        // Held flows could take so much that their sum has passed 63 bits.
    } else if (share.own == 0) {
        if (left >= l.total) return apply(link, unbounded);
    } else if (left >= 0) {
        auto const level = left / share.own;
        if (level - l.total > std::min(share.ceiling, share.level - 1)) return apply(link, level);
        if (level < share.level) return fall(link, level);
    }
    apply_all(link, level_by_scan(link));
}

// Applies a level that may concern held flows too.
void MaxMinKernel::apply_all(std::uint32_t link, std::int64_t level) {
    bool const falls = level < shares_[link].level;
    apply(link, level);
    if (falls) claim_held(link, level);
}

// The link sinks to where its held flows may be: to `level` if none is there. Those that are become its own as far as
// its level then lets them.
void MaxMinKernel::fall(std::uint32_t link, std::int64_t level) {
    auto& share = shares_[link];
    auto const& l = links_[link];
    auto const count = static_cast<std::uint32_t>(lists_[link].flows.size());
    auto const near = level - l.total;  // within a rounding remainder counts too
    auto ceiling = std::int64_t{-1};
    near_.clear();
    counters_.visits += count - l.own_count;
    for (auto slot = l.own_count; slot < count; ++slot) {
        auto const elsewhere = level_elsewhere(link, slot);
        if (elsewhere >= near)
            near_.push_back({elsewhere, slot});
        else
            ceiling = std::max(ceiling, elsewhere);
    }
    // As level_by_scan(), with only those in doubt.
    auto left = l.capacity - static_cast<std::int64_t>(share.held);
    auto weight = share.own;
    for (auto const& held : near_) {
        left += held.level * lists_[link].entries[held.slot].weight;
        weight += lists_[link].entries[held.slot].weight;
    }
    for (;;) {
        level = left / weight;
        auto const before = near_.size();
        std::erase_if(near_, [&](Near const& held) {
            if (held.level >= level) return false;
            auto const taken = lists_[link].entries[held.slot].weight;
            left -= held.level * taken;
            weight -= taken;
            ceiling = std::max(ceiling, held.level);
            return true;
        });
        if (near_.size() == before) break;
    }
    share.ceiling = ceiling;
    if (level >= share.level) return apply_all(link, level_by_scan(link));
    apply(link, level);
    for (auto const& held : near_) claim(link, held.slot, level);  // ascending: what changes places lies before
}

// The highest level at which the flows still fit. Begin with all flows as own; those found lower elsewhere are held and
// free what they do not take, which raises the level; until no more are found. Every step is a lower bound of the
// answer, so a flow found lower stays held.
std::int64_t MaxMinKernel::level_by_scan(std::uint32_t link) {
    auto const count = static_cast<std::uint32_t>(lists_[link].flows.size());
    scan_.resize(count);
    for (std::uint32_t slot = 0; slot < count; ++slot)
        scan_[slot] = {level_elsewhere(link, slot), lists_[link].entries[slot].weight};
    auto ceiling = std::int64_t{-1};
    auto left = links_[link].capacity;
    auto weight = links_[link].total;
    auto level = unbounded;
    for (auto rest = std::span{scan_}; weight > 0;) {
        counters_.visits += rest.size();
        level = left / weight;
        std::size_t kept = 0;
        for (auto const flow : rest) {
            rest[kept] = flow;
            bool const lower = flow.level < level;
            kept += lower ? 0 : 1;
            left -= lower ? flow.level * flow.weight : 0;
            weight -= lower ? flow.weight : 0;
            ceiling = std::max(ceiling, lower ? flow.level : -1);
        }
        if (kept == rest.size()) break;
        rest = rest.first(kept);
        level = unbounded;
    }
    shares_[link].ceiling = ceiling;
    return level;
}

void MaxMinKernel::apply(std::uint32_t link, std::int64_t to) {
    auto const from = shares_[link].level;
    if (to == from) return;
    advance_clock(link, now_);
    shares_[link].level = to;
    counters_.visits += links_[link].own_count;
    if (from == unbounded) {
        for (auto slot = links_[link].own_count; slot-- > 0;) move_one(link, slot, from, to);
    } else if (to > from) {
        move_own<true>(link, from, to);
    } else {
        move_own<false>(link, from, to);
    }
}

// Own flows go where the link goes, unless another of their links is in the way. The hot loop of the flow model.
template <bool rise>
void MaxMinKernel::move_own(std::uint32_t link, std::int64_t from, std::int64_t to) {
    auto const count = links_[link].own_count;
    auto const* const entries = lists_[link].entries.data();
    auto* const shares = shares_.data();
    auto* const queued = queued_.data();
    auto const change = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    auto const highest = rise ? to : from;
    bool met = false;  // a link that had the same level, or does not let its flow rise that far
    for (std::uint32_t slot = 0; slot < count; ++slot) {
        auto const [other, weight] = entries[slot];  // link 0 takes what it is given and is never read
        auto& share = shares[other];
        share.held += change * weight;
        if constexpr (rise) share.ceiling = std::max(share.ceiling, to);
        met |= share.level <= highest;
        if (!queued[other]) [[unlikely]]
            enqueue(other);
    }
    if (!met && links_[link].branching == 0) return;
    for (auto slot = count; slot-- > 0;) {  // backwards: one that is held now changes places with the last
        auto const [other, weight] = entries[slot];
        if (other != 0) {
            if (shares_[other].level > highest) continue;
            shares_[other].held -= change * weight;
        }
        move_one(link, slot, from, to);
    }
}

void MaxMinKernel::move_one(std::uint32_t link, std::uint32_t slot, std::int64_t from, std::int64_t to) {
    auto const flow = lists_[link].flows[slot];
    auto const weight = lists_[link].entries[slot].weight;
    auto const elsewhere = level_elsewhere(link, slot);
    auto const level = std::min(elsewhere, to);
    bool const lost = change_elsewhere(link, slot, from, level);
    if (elsewhere < to) {
        auto& share = shares_[link];
        share.own -= weight;
        share.held += static_cast<std::uint64_t>(level) * weight;
        share.ceiling = std::max(share.ceiling, level);
        make_held(link, slot);
        enqueue(link);  // what it does not take is for the others
    }
    if (lost || elsewhere < to || from == unbounded) rebind_to_level(flow, level);
}

// Held flows that the link's new level has sunk to, or below, become its own.
void MaxMinKernel::claim_held(std::uint32_t link, std::int64_t level) {
    auto const count = lists_[link].flows.size();
    counters_.visits += count - links_[link].own_count;
    for (auto slot = links_[link].own_count; slot < count; ++slot)
        if (level_elsewhere(link, slot) >= level) claim(link, slot, level);
}

void MaxMinKernel::claim(std::uint32_t link, std::uint32_t slot, std::int64_t level) {
    auto const elsewhere = level_elsewhere(link, slot);
    auto const flow = lists_[link].flows[slot];
    auto const weight = lists_[link].entries[slot].weight;
    auto& share = shares_[link];
    share.held -= static_cast<std::uint64_t>(elsewhere) * weight;
    share.own += weight;
    change_elsewhere(link, slot, elsewhere, level);
    make_own(link, slot);
    if (elsewhere != level) rebind_to_level(flow, level);
}

// Tells the flow's other links that its level changes; true when one of them is no longer its bottleneck.
bool MaxMinKernel::change_elsewhere(std::uint32_t link, std::uint32_t slot, std::int64_t from, std::int64_t to) {
    if (from == to) return false;
    auto const flow = lists_[link].flows[slot];
    auto const [other, weight] = lists_[link].entries[slot];
    if (other != 0) return change_at(other, flow, weight, from, to);
    bool lost = false;
    auto const& f = flows_[flow];
    for (auto p = f.first_place; p != f.first_place + f.places; ++p) {
        auto const place = places_[p];
        if (place.link != link)
            lost |= change_at(place.link, flow, lists_[place.link].entries[place.slot].weight, from, to);
    }
    return lost;
}

bool MaxMinKernel::change_at(std::uint32_t link, std::uint32_t flow, std::uint32_t weight, std::int64_t from,
                             std::int64_t to) {
    auto& share = shares_[link];
    enqueue(link);
    if (share.level == from) {  // own so far, lower than the link from now on
        share.own -= weight;
        share.held += static_cast<std::uint64_t>(to) * weight;
        share.ceiling = std::max(share.ceiling, to);
        make_held(link, place_of(flow, link).slot);
        return true;
    }
    if (share.level == to) {
        share.held -= static_cast<std::uint64_t>(from) * weight;
        share.own += weight;
        make_own(link, place_of(flow, link).slot);
        return false;
    }
    share.held += static_cast<std::uint64_t>(to - from) * weight;
    share.ceiling = std::max(share.ceiling, to);
    return false;
}

void MaxMinKernel::rebind_to_level(std::uint32_t flow, std::int64_t level) {
    auto const& f = flows_[flow];
    if (f.bound != 0 && shares_[f.bound].level == level) return;
    auto p = f.first_place;
    while (shares_[places_[p].link].level != level) {
        ++p;
        ORRERY_ENSURE(p != f.first_place + f.places, "flow {} has no link at level {}", flow, level);
    }
    bind(flow, places_[p].link, now_);
}

std::int64_t MaxMinKernel::lowest_elsewhere(std::uint32_t link, std::uint32_t slot) const {
    auto const& f = flows_[lists_[link].flows[slot]];
    auto level = unbounded;
    for (auto p = f.first_place; p != f.first_place + f.places; ++p)
        if (places_[p].link != link) level = std::min(level, shares_[places_[p].link].level);
    return level;
}

}  // namespace orrery

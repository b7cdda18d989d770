// SPDX-License-Identifier: Apache-2.0
// Flows, links and the entries that join them.
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>

namespace orrery {

namespace {

std::int64_t scaled(Rate rate) {
    ORRERY_ENSURE(rate >= Rate{} && rate <= MaxMinKernel::fastest(), "rate of {} b/s", rate.bits_per_s());
    return rate.bits_per_s() * MaxMinKernel::rate_scale;
}

}  // namespace

MaxMinKernel::MaxMinKernel(std::span<Rate const> capacities) {
    open_link(Rate{});  // index 0 is no link
    queued_[0] = 1;     // and is never relaxed
    for (auto const capacity : capacities) open_link(capacity);
}

std::uint32_t MaxMinKernel::open_link(Rate capacity) {
    std::uint32_t link;
    if (free_links_.empty()) {
        link = static_cast<std::uint32_t>(links_.size());
        ORRERY_ENSURE(link < most_links, "more than {} links in one solver", most_links);
        links_.emplace_back();
        shares_.emplace_back();
        queued_.push_back(0);
        lists_.emplace_back();
        load_.push_back(0);
        clock_.push_back(0);
        next_tag_.push_back(never);
        clock_time_.emplace_back();
        heaps_.emplace_back();
        due_.grow(link + 1);
        order_.grow(link + 1);
    } else {
        link = free_links_.back();
        free_links_.pop_back();
    }
    links_[link].capacity = scaled(capacity);
    return link;
}

void MaxMinKernel::close_link(std::uint32_t link) {
    ORRERY_ENSURE(links_[link].total == 0 && link != 0, "link {} is closed while it carries flows", link);
    advance_clock(link, std::max(now_, clock_time_[link]));
    shares_[link].level = unbounded;
    shares_[link].ceiling = -1;
    links_[link].is_private = links_[link].imposed = false;
    heaps_[link].clear();
    next_tag_[link] = never;
    due_.set(link, Time::infinity(), DueTable::Kind::exact);
    free_links_.push_back(link);
}

void MaxMinKernel::set_capacity(std::uint32_t link, Rate capacity) {
    links_[link].capacity = scaled(capacity);
    links_[link].imposed = false;
    seed(link);
}

void MaxMinKernel::set_cap(std::uint32_t flow, Rate cap) {
    auto const& f = flows_[flow];
    ORRERY_ENSURE(f.places > 0, "a cap for flow {}, which is over", flow);
    auto const link = places_[f.first_place + f.places - 1].link;
    ORRERY_ENSURE(links_[link].is_private, "flow {} was added without a cap", flow);
    set_capacity(link, cap);
}

void MaxMinKernel::impose_level(std::uint32_t link, std::int64_t level) {
    ORRERY_ENSURE(level >= 0 && link != 0, "level {} imposed on link {}", level, link);
    links_[link].imposed = true;
    links_[link].capacity = level;
    seed(link);
}

void MaxMinKernel::seed(std::uint32_t link) {
    if (links_[link].seeded) return;
    links_[link].seeded = true;
    seeds_.push_back(link);
}

std::uint32_t MaxMinKernel::add(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes,
                                std::uint64_t cookie, Rate cap) {
    crossings_.clear();
    for (auto const link : links) crossings_.push_back({link, weight});
    return add(std::span<Crossing const>{crossings_}, weight, bytes, cookie, cap);
}

std::uint32_t MaxMinKernel::add(std::span<Crossing const> crossings, std::uint32_t weight, std::int64_t bytes,
                                std::uint64_t cookie, Rate cap) {
    ORRERY_ENSURE(weight > 0 && bytes > 0, "flow with weight {}, {} B", weight, bytes);
    return add_service(crossings, weight, (static_cast<UInt128>(bytes) * service_per_byte + weight - 1) / weight,
                       cookie, cap);
}

UInt128 MaxMinKernel::service_left(std::uint32_t flow, Time now) {
    auto const& f = flows_[flow];
    if (f.bound == 0) return tag_of(f);
    advance_clock(f.bound, now);
    return tag_of(f) - std::min(tag_of(f), clock_[f.bound]);
}

std::uint32_t MaxMinKernel::add_service(std::span<Crossing const> crossings, std::uint32_t weight, UInt128 service,
                                        std::uint64_t cookie, Rate cap) {
    bool const capped = cap != Rate::unlimited();
    auto const count = static_cast<std::uint32_t>(crossings.size()) + (capped ? 1 : 0);
    ORRERY_ENSURE(!crossings.empty() && weight > 0, "flow with {} links, weight {}", crossings.size(), weight);
    std::uint32_t flow;
    if (free_flows_.empty()) {
        flow = static_cast<std::uint32_t>(flows_.size());
        flows_.emplace_back();
    } else {
        flow = free_flows_.back();
        free_flows_.pop_back();
    }
    auto const first = allocate_places(count);
    flows_[flow] = {.tag_high = 0,
                    .tag_low = 0,
                    .cookie = cookie,
                    .first_place = first,
                    .places = count,
                    .weight = weight,
                    .bound = 0};
    set_tag(flows_[flow], service);
    auto* place = &places_[first];
    for (auto const [link, part] : crossings) {
        ORRERY_EXPECT(link != 0 && part > 0);
        for (auto* other = &places_[first]; other != place; ++other) ORRERY_EXPECT(other->link != link);
        *place++ = {link, part};  // the slot comes with insert()
    }
    if (capped) {
        *place = {open_link(cap), weight};
        links_[place->link].is_private = true;
    }
    ++active_flows_;
    pending_.push_back(flow);
    return flow;
}

std::uint32_t MaxMinKernel::allocate_places(std::uint32_t count) {
    if (free_places_.size() <= count) free_places_.resize(count + 1);
    auto& free = free_places_[count];
    if (!free.empty()) {
        auto const first = free.back();
        free.pop_back();
        return first;
    }
    auto const first = static_cast<std::uint32_t>(places_.size());
    places_.resize(places_.size() + count);
    return first;
}

void MaxMinKernel::insert(std::uint32_t flow) {
    auto& f = flows_[flow];
    auto* const first = &places_[f.first_place];
    if (f.places == 1) {
        auto& l = links_[first->link];
        shares_[first->link].own += first->slot;
        l.total += first->slot;
        l.lone += first->slot;
        ++l.lone_count;
        seed(first->link);
        return bind(flow, first->link, now_);
    }
    auto const level = level_of(flow);
    bool const twin = f.places == 2 && first[0].slot == first[1].slot;  // still the weights
    for (std::uint32_t k = 0; k < f.places; ++k) {
        auto& place = first[k];
        auto const weight = place.slot;
        auto& share = shares_[place.link];
        bool const own = share.level == level;
        if (own) {
            share.own += weight;
        } else {
            share.held += static_cast<std::uint64_t>(level) * weight;
            share.ceiling = std::max(share.ceiling, level);
        }
        links_[place.link].total += weight;
        links_[place.link].branching += twin ? 0 : 1;
        append_entry(place.link, {twin ? first[1 - k].link : 0, weight}, flow, f.first_place + k, own);
        seed(place.link);
    }
    if (level != unbounded) rebind_to_level(flow, level);
}

std::int64_t MaxMinKernel::level_of(std::uint32_t flow) const {
    auto const& f = flows_[flow];
    auto level = unbounded;
    for (auto p = f.first_place; p != f.first_place + f.places; ++p)
        level = std::min(level, shares_[places_[p].link].level);
    return level;
}

void MaxMinKernel::append_entry(std::uint32_t link, Entry entry, std::uint32_t flow, std::uint32_t place, bool own) {
    auto& list = lists_[link];
    auto const slot = static_cast<std::uint32_t>(list.flows.size());
    list.entries.push_back(entry);
    list.flows.push_back(flow);
    places_[place].slot = slot;
    ++entry_count_;
    if (own) make_own(link, slot);
}

MaxMinKernel::Place& MaxMinKernel::place_of(std::uint32_t flow, std::uint32_t link) {
    auto* place = &places_[flows_[flow].first_place];
    while (place->link != link) ++place;
    return *place;
}

std::uint32_t MaxMinKernel::swap_entries(std::uint32_t link, std::uint32_t a, std::uint32_t b) {
    if (a == b) return b;
    auto& list = lists_[link];
    std::swap(list.entries[a], list.entries[b]);
    std::swap(list.flows[a], list.flows[b]);
    place_of(list.flows[a], link).slot = a;
    place_of(list.flows[b], link).slot = b;
    return b;
}

std::uint32_t MaxMinKernel::make_own(std::uint32_t link, std::uint32_t slot) {
    return swap_entries(link, slot, links_[link].own_count++);
}

std::uint32_t MaxMinKernel::make_held(std::uint32_t link, std::uint32_t slot) {
    return swap_entries(link, slot, --links_[link].own_count);
}

void MaxMinKernel::erase_entry(std::uint32_t link, std::uint32_t slot) {
    auto& list = lists_[link];
    auto const fill = [&](std::uint32_t from) {  // the hole moves to where the filler was
        if (from != slot) {
            list.entries[slot] = list.entries[from];
            list.flows[slot] = list.flows[from];
            place_of(list.flows[slot], link).slot = slot;
        }
        slot = from;
    };
    if (slot < links_[link].own_count) fill(--links_[link].own_count);
    fill(static_cast<std::uint32_t>(list.flows.size()) - 1);
    list.entries.pop_back();
    --entry_count_;
    list.flows.pop_back();
}

void MaxMinKernel::remove(std::uint32_t flow, Time now) {
    auto& f = flows_[flow];
    auto const level = shares_[f.bound].level;
    links_[f.bound].stale_heap = true;
    for (std::uint32_t k = 0; k < f.places; ++k) {
        auto const [link, slot] = places_[f.first_place + k];
        auto& l = links_[link];
        bool const lone = f.places == 1;
        auto const [other, weight] = lone ? Entry{link, slot} : lists_[link].entries[slot];
        auto const taken = level * static_cast<std::int64_t>(weight);
        if (lone || slot < l.own_count)
            shares_[link].own -= weight;
        else
            shares_[link].held -= static_cast<std::uint64_t>(taken);
        l.total -= weight;
        if (lone) {
            l.lone -= weight;
            --l.lone_count;
        } else {
            l.branching -= other == 0 ? 1 : 0;
            erase_entry(link, slot);
        }
        set_load(link, load_[link] - taken, now);
        if (l.is_private)
            close_link(link);
        else
            seed(link);
    }
    free_places_[f.places].push_back(f.first_place);
    f.places = 0;
    f.bound = 0;
    free_flows_.push_back(flow);
    --active_flows_;
    ++changes_;
}

std::vector<std::uint64_t> MaxMinKernel::starved() const {
    std::vector<std::uint64_t> cookies;
    for (auto const& flow : flows_)
        if (flow.places > 0 && flow.bound != 0 && shares_[flow.bound].level == 0) cookies.push_back(flow.cookie);
    std::sort(cookies.begin(), cookies.end());
    return cookies;
}

void MaxMinKernel::state(StateStream& stream) {
    ORRERY_ENSURE(queue_.empty() && slack_.empty() && touched_.empty(), "the state of a kernel within a settle");
    stream(links_, shares_, queued_, lists_, load_, clock_, next_tag_, clock_time_, heaps_, due_, free_links_);
    stream(flows_, places_, entry_count_, free_flows_, free_places_, pending_, seeds_, active_flows_, changes_,
           many_changes_, now_, order_, counters_);
}

std::size_t MaxMinKernel::memory_bytes() const {
    auto const of = [](auto const& v) { return v.capacity() * sizeof(v[0]); };
    auto const nested = [&of](auto const& lists) {
        auto bytes = of(lists);
        for (auto const& list : lists) bytes += of(list);
        return bytes;
    };
    std::size_t entries = 0;
    for (auto const& list : lists_) entries += of(list.entries) + of(list.flows);
    return entries + of(links_) + of(shares_) + of(queued_) + of(lists_) + of(load_) + of(clock_) + of(next_tag_) +
           of(clock_time_) + nested(heaps_) + of(free_links_) + of(flows_) + of(places_) + of(free_flows_) +
           nested(free_places_) + of(pending_) + of(seeds_) + of(queue_) + of(slack_) + of(touched_) + of(scan_) +
           due_.memory_bytes() + order_.memory_bytes();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The protocol at one site: posts, transfers, and who is over.
#include "netmodels/exchange/exchange_site.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {

ExchangeSite::ExchangeSite(SiteId site, Setup const& setup)
    : setup_(setup),
      me_(site),
      site_(&setup.map->site(site)),
      flows_(*setup.fabric, *setup.map, site, setup.epoch, setup.bin_width),
      book_(*setup.map, site),
      untold_(site_->peers.size()),
      bundle_bytes_(site_->bundles.size(), 0),
      bundle_payload_(bundle_bytes_) {}

void ExchangeSite::handle(Event const& event, Outbox& out) {
    now_ = event.when;
    switch (event.kind) {
        case exchange_post:
            return post(event, out);
        case begin_event:
            return begin(static_cast<std::uint32_t>(event.body[0]), static_cast<std::uint32_t>(event.body[1]), out);
        case close_event:
            return emit_row(ExchangeKey::unpack(event.body[0]));
        case levels_notice:
            return hear_levels(event, out);
        case loop_notice:
            return hear_loop(event, out);
        case served_notice:
            return hear_served(event, out);
        case begins_notice:
            return hear_begins(event, out);
        case part_notice:
            return hear_part(event, out);
        case instance_times_notice:
        case instance_bound_notice:
            return hear_instance(event, out);
        case tick_event:
            return tick(out);
        case tell_event:
            return tell(out);
        default:
            ORRERY_ENSURE(false, "site {} got an event of kind {}", me_.value(), event.kind);
    }
}

Route ExchangeSite::route(ExchangeKey key, std::uint32_t source, std::uint32_t target) const {
    return setup_.fabric->route(rank_of(key, source), rank_of(key, target));
}

// What follows from the key.
void ExchangeSite::know(Instance& instance) const {
    instance.plan = &setup_.traffic->plan(instance.key.kind);
    instance.part = (*setup_.layouts)[instance.key.group].part(site_->domain);
    ORRERY_ENSURE(instance.part != nullptr, "group {} has no pair at site {}", instance.key.group, me_.value());
}

std::uint32_t ExchangeSite::instance_of(ExchangeKey key) {
    if (auto const it = open_.find(key); it != open_.end()) return it->second;
    auto const free = std::find_if(instances_.begin(), instances_.end(), [](Instance const& i) { return !i.open; });
    auto const slot = static_cast<std::uint32_t>(free - instances_.begin());
    if (free == instances_.end()) instances_.emplace_back();
    auto const members = setup_.traffic->members(key.group);
    ORRERY_ENSURE(members <= 0xffff, "an exchange of {} members", members);
    auto const group_first = setup_.traffic->first_rank(key.group).value();
    auto const first = std::max(group_first, site_->first_rank.value());
    auto const end = std::max(first, std::min(group_first + members, site_->first_rank.value() + site_->ranks));
    auto& instance = instances_[slot];
    instance = Instance{.key = key,
                        .first = first - group_first,
                        .peers = std::move(instance.peers),
                        .own = std::move(instance.own),
                        .bundle_bytes = std::move(instance.bundle_bytes),
                        .facts = {},
                        .open = true};
    know(instance);
    instance.peers.assign(members, Peer{});
    instance.own.assign(end - first, Member{});
    instance.bundle_bytes.assign(site_->bundles.size(), 0);
    for (std::uint32_t m = 0; m < instance.own.size(); ++m) {
        auto const senders = instance.part->senders_to[instance.first + m];
        instance.own_participants += senders > 0 ? 1 : 0;
        instance.own[m].awaited = instance.plan->style == ExchangeStyle::push ? senders : 0;
    }
    setup_.traffic->open(key, me_.value());
    open_.emplace(key, slot);
    return slot;
}

void ExchangeSite::post(Event const& event, Outbox& out) {
    auto const key = ExchangeKey::unpack(event.body[0]);
    auto const slot = instance_of(key);
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto const index = event.source.value() + setup_.first_rank.value() - setup_.traffic->first_rank(key.group).value();
    auto& peer = instance.peers[index];
    ORRERY_ENSURE(!peer.posted, "member {} of group {} posted twice", index, key.group);
    peer.posted = true;
    ++instance.posted;

    setup_.traffic->sent_by(key, index, shares_);
    std::uint64_t messages = 0;
    for (auto const& share : shares_) messages += share.messages;
    auto const loop = plan.loop_time(messages);
    instance.facts.posted(Time::from_ps(static_cast<std::int64_t>(event.body[1])), loop, messages);
    peer.loop_end = now_ + loop;
    if (instance.holds(index)) instance.at(index).send_done = peer.loop_end;

    if (plan.style == ExchangeStyle::pull) {
        if (instance.posted == instance.part->participants) announce_all(slot, out);
    } else if (plan.loop == ExchangeLoop::prepared && loop > Time{}) {
        out.schedule(peer.loop_end, begin_event, {slot, index, 0, 0, 0});
    } else {
        if (loop > Time{} && messages > 0) open_loop(instance, index, messages, loop);
        begin(slot, index, out);
    }
}

// The loop of a member elsewhere has, by rule, the level at which all its transfers together take all of it; it is told
// when that changes.
void ExchangeSite::open_loop(Instance& instance, std::uint32_t source, std::uint64_t messages, Time loop) {
    auto& peer = instance.peers[source];
    auto const rate = loop_rate(*instance.plan, messages, loop);
    std::int64_t weight = 0;
    for (auto const& share : shares_)
        if (share.member != source) weight += instance.plan->shares == ExchangeShares::by_bytes ? share.messages : 1;
    if (weight == 0) return;
    auto const level = rate.bits_per_s() * MaxMinKernel::rate_scale / weight;
    peer.loop = instance.holds(source) ? flows_.open_loop(rate) : flows_.open_far_loop(level);
    peer.loop_told = level;
}

void ExchangeSite::begin(std::uint32_t slot, std::uint32_t member, Outbox& out) {
    auto const& instance = instances_[slot];
    ++instances_[slot].begun;
    if (instance.holds(member)) instances_[slot].at(member).begun = true;
    if (instance.plan->style == ExchangeStyle::push)
        send_all(slot, member);
    else
        read_all(slot, member);
    auto& peer = instances_[slot].peers[member];
    if (peer.loop != 0 && peer.loop_flows == 0) {  // no transfer of it passes here
        flows_.close_loop(peer.loop);
        peer.loop = 0;
    }
    // Members without traffic of their own may be over already; the others will be told as transfers end.
    for (std::uint32_t m = 0; m < instance.own.size(); ++m) tell_if_over(slot, instance.first + m, out);
    close_if_over(slot, out);
    want_tick(out);
}

// Of a member here all pairs, of one elsewhere those that end here; all of them where bundles between other sites are
// owned.
void ExchangeSite::send_all(std::uint32_t slot, std::uint32_t source) {
    auto& instance = instances_[slot];
    bool const from_here = instance.holds(source);
    auto const everywhere = from_here || site_->relays;
    auto const first = everywhere ? 0 : instance.first;
    auto const end = everywhere ? instance.members() : first + static_cast<std::uint32_t>(instance.own.size());
    setup_.traffic->sent_by(instance.key, source, shares_);
    auto share = std::lower_bound(shares_.begin(), shares_.end(), first,
                                  [](auto const& a, std::uint32_t member) { return a.member < member; });
    for (auto target = first; target < end; ++target) {
        auto const messages = share != shares_.end() && share->member == target ? (share++)->messages : 0;
        bool const to_here = instance.holds(target);
        if (target == source) {
            if (!to_here) continue;
            auto& receiver = instance.at(target);
            receiver.arrival = std::max(receiver.arrival, instance.peers[source].loop_end);
            --receiver.awaited;
            continue;
        }
        if (messages == 0 && !to_here) continue;
        auto const way = route(instance.key, source, target);
        if (way.domain != site_->domain) continue;
        if (messages > 0) {
            begin_transfer(slot, source, target, messages, way);
            continue;
        }
        auto& receiver = instance.at(target);
        receiver.arrival = std::max(receiver.arrival, flag_leaves(instance, source, target) + way.latency);
        --receiver.awaited;
    }
}

void ExchangeSite::read_all(std::uint32_t slot, std::uint32_t target) {
    auto& instance = instances_[slot];
    bool const to_here = instance.holds(target);
    if (to_here) instance.at(target).arrival = now_;
    setup_.traffic->received_by(instance.key, target, shares_);
    for (auto const& share : shares_) {
        if (share.member == target || (!to_here && !site_->relays && !instance.holds(share.member))) continue;
        auto const way = route(instance.key, share.member, target);
        if (way.domain == site_->domain) begin_transfer(slot, share.member, target, share.messages, way);
    }
}

void ExchangeSite::begin_transfer(std::uint32_t slot, std::uint32_t source, std::uint32_t target,
                                  std::uint32_t messages, Route const& way) {
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto const sites = setup_.map->way(way);
    bool const push = plan.style == ExchangeStyle::push;
    bool const from_here = instance.holds(source);
    auto const wire = plan.wire_bytes * messages;
    auto const payload = plan.message_bytes * messages;
    if (instance.holds(target)) instance.at(target).awaited += push ? sites.count - 1 : sites.count;
    if (from_here) {
        if (push) instance.at(source).in_flight += sites.count;
        instance.facts.payload_bytes += payload;
        counters_.injected_bytes += payload;
        ++counters_.flows;
        if (setup_.pairs == CountPairs::yes)
            pair_table_.count(instance.key, instance.members(), instance.first,
                              static_cast<std::uint32_t>(instance.own.size()), source, target, payload);
    }
    if (!sites.includes(me_)) return;
    for (auto const hop : way.bundles()) {
        auto const owner = setup_.map->owner(hop);
        if (owner == me_) instance.bundle_bytes[setup_.map->index_at_owner(hop)] += wire;
        if (!from_here || sites.includes(owner)) continue;
        auto& carried = elsewhere_[hop];  // its owner never hears of this transfer
        carried.wire += wire;
        carried.payload += payload;
    }
    auto& peer = instance.peers[source];
    if (peer.loop != 0) ++peer.loop_flows;
    ++instance.flows;
    book_.begin(way, sites);
    flows_.start(way, peer.loop, plan.shares == ExchangeShares::by_bytes ? messages : 1, wire,
                 TransferName{slot, source, target}.pack());
}

void ExchangeSite::want_tick(Outbox& out) {
    auto when = flows_.next(now_);
    if (when == Time::infinity()) return;
    // No further ahead than a finish: shares may rise, and a tick that is not needed any more must not outlast the end.
    when = std::min(when, now_ + std::max(setup_.finish, setup_.epoch));
    if (when >= tick_at_) return;
    tick_at_ = when;
    out.schedule(when, tick_event, {});
}

void ExchangeSite::tick(Outbox& out) {
    if (now_ == tick_at_) tick_at_ = Time::infinity();  // an older, later tick finds nothing to do
    done_.clear();
    flows_.advance(now_, done_);
    for (auto const& done : done_) serve(done, out);
    bool const moved = flows_.settle(now_);
    want_tick(out);
    if (moved || !done_.empty()) want_tell(out);
}

void ExchangeSite::serve(TransferDone const& done, Outbox& out) {
    auto const [slot, source, target] = TransferName::unpack(done.cookie);
    auto& instance = instances_[slot];
    auto const way = route(instance.key, source, target);
    auto const sites = setup_.map->way(way);
    digest_.add(done.cookie);
    digest_.add(static_cast<std::uint64_t>(done.when.ps()));
    // Counted from the traffic itself, not from what began: conservation is a check, not an identity.
    auto const messages = setup_.traffic->messages(instance.key, source, target);
    flows_.leave(way);
    book_.served(way, sites);
    --instance.flows;
    auto& peer = instance.peers[source];
    if (peer.loop != 0 && --peer.loop_flows == 0) {
        flows_.close_loop(peer.loop);
        peer.loop = 0;
    }
    if (instance.holds(target)) counters_.delivered_bytes += instance.plan->message_bytes * messages;
    for (auto const other : sites.all())
        if (other != me_) untold_[site_->peer_index(other)].push_back({instance.key, source, target, done.when});
    note_served(slot, source, target, done.when, way, out);
    close_if_over(slot, out);
}

// One of the sites on the way has served the transfer.
void ExchangeSite::note_served(std::uint32_t slot, std::uint32_t source, std::uint32_t target, Time when,
                               Route const& way, Outbox& out) {
    auto& instance = instances_[slot];
    bool const push = instance.plan->style == ExchangeStyle::push;
    if (push && instance.holds(source)) {
        auto& sender = instance.at(source);
        sender.send_done = std::max(sender.send_done, when);
        if (--sender.in_flight == 0) tell_if_over(slot, source, out);
    }
    if (instance.holds(target)) {
        auto& receiver = instance.at(target);
        auto const arrives = push ? std::max(when, flag_leaves(instance, source, target)) + way.latency
                                  : when + 2 * way.latency;  // request out, data back
        receiver.arrival = std::max(receiver.arrival, arrives);
        if (--receiver.awaited == 0) tell_if_over(slot, target, out);
    }
}

void ExchangeSite::tell_if_over(std::uint32_t slot, std::uint32_t index, Outbox& out) {
    auto& instance = instances_[slot];
    auto& member = instance.at(index);
    if (member.told || !member.begun || member.in_flight > 0 || member.awaited > 0) return;
    member.told = true;
    ++instance.told;
    // The last notice may have come so late that what it says should have ended is over already.
    auto const end =
        std::max(std::max(member.send_done, member.arrival) + instance.plan->finish, now_ + setup_.lookahead);
    instance.facts.last_end = std::max(instance.facts.last_end, end);
    auto const received = setup_.traffic->received(instance.key, index);
    digest_.add(static_cast<std::uint64_t>(end.ps()));
    out.send(LpId{rank_of(instance.key, index).value() - setup_.first_rank.value()}, end, exchange_done,
             {instance.key.pack(), static_cast<std::uint64_t>(instance.facts.last_start.ps()),
              static_cast<std::uint64_t>(received.messages) << 32 | received.active_experts, 0, 0});
}

// This site's part of the instance is over: all members have begun, nothing is being served, its own have been told.
void ExchangeSite::close_if_over(std::uint32_t slot, Outbox& out) {
    auto& instance = instances_[slot];
    if (!instance.open || instance.flows > 0 || instance.begun < instance.part->participants ||
        instance.told < instance.own_participants)
        return;
    send_part(instance, out);
    setup_.traffic->close(instance.key, me_.value());
    open_.erase(instance.key);
    instance.open = false;
}

// Adds the instance's bytes to the totals.
PortBound ExchangeSite::charge_ports(Instance& instance) {
    auto const& plan = *instance.plan;
    PortBound bound;
    for (std::size_t b = 0; b < site_->bundles.size(); ++b) {
        auto const bytes = instance.bundle_bytes[b];
        if (bytes == 0) continue;
        bundle_bytes_[b] += bytes;
        bundle_payload_[b] += bytes / plan.wire_bytes * plan.message_bytes;
        auto const bundle = site_->bundles[b];
        bound.consider(transfer_time(bytes, setup_.fabric->bundles()[bundle.index()].capacity), bundle.value());
    }
    return bound;
}

DigestChain ExchangeSite::digest() const {
    auto chain = digest_;
    for (auto const bytes : bundle_bytes_) chain.add(static_cast<std::uint64_t>(bytes));
    for (auto const& [bundle, carried] : elsewhere_) chain.add(static_cast<std::uint64_t>(carried.wire));
    chain.add(static_cast<std::uint64_t>(counters_.injected_bytes));
    chain.add(static_cast<std::uint64_t>(counters_.delivered_bytes));
    return chain;
}

void ExchangeSite::add_bundle_bytes(std::vector<std::int64_t>& wire, std::vector<std::int64_t>& payload) const {
    for (std::size_t b = 0; b < site_->bundles.size(); ++b) {
        wire[site_->bundles[b].index()] += bundle_bytes_[b];
        payload[site_->bundles[b].index()] += bundle_payload_[b];
    }
    for (auto const& [bundle, carried] : elsewhere_) {
        wire[bundle.index()] += carried.wire;
        payload[bundle.index()] += carried.payload;
    }
}

void ExchangeSite::state(StateStream& stream) {
    stream(flows_, book_, now_, instances_, gathered_, over_, untold_, pair_table_, bundle_bytes_, bundle_payload_,
           elsewhere_, counters_, digest_, tick_at_, next_tell_, tell_wanted_, collectives_);
    setup_.traffic->state(me_.value(), stream);
    if (!stream.restoring()) return;
    for (std::uint32_t slot = 0; slot < instances_.size(); ++slot) {
        if (!instances_[slot].open) continue;
        know(instances_[slot]);
        open_.emplace(instances_[slot].key, slot);
    }
}

std::vector<StuckExchange> ExchangeSite::stuck() const {
    std::vector<StuckExchange> all;
    auto const starved = flows_.starved();
    for (auto const& [key, slot] : open_) {
        auto const& instance = instances_[slot];
        StuckExchange stuck{.key = key, .missing = {}, .starved = {}, .waiting = {}};
        for (std::uint32_t m = 0; m < instance.members(); ++m) {
            if (instance.part->senders_to[m] == 0) continue;
            if (!instance.peers[m].posted) stuck.missing.push_back(m);
            if (instance.peers[m].posted && instance.holds(m) && !instance.own[m - instance.first].told)
                stuck.waiting.push_back(m);
        }
        for (auto const cookie : starved)
            if (auto const name = TransferName::unpack(cookie); name.slot == slot && instance.holds(name.source))
                stuck.starved.emplace_back(rank_of(key, name.source), rank_of(key, name.target));
        all.push_back(std::move(stuck));
    }
    return all;
}

}  // namespace orrery

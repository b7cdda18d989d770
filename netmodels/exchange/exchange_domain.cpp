// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/exchange_domain.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {
ExchangeDomain::ExchangeDomain(DomainId domain, Fabric const& fabric, DomainMap const& map,
                               std::vector<GroupLayout> const& layouts, ExchangeTraffic& traffic,
                               std::unique_ptr<TransferEngine> engine, RankId first_rank, CountPairs pairs,
                               TimelineSink& sink)
    : domain_(domain),
      fabric_(&fabric),
      map_(&map),
      layouts_(&layouts),
      traffic_(&traffic),
      engine_(std::move(engine)),
      first_rank_(first_rank),
      pairs_(pairs),
      sink_(&sink),
      bundle_bytes_(map.bundles(domain).size(), 0),
      bundle_payload_(bundle_bytes_) {}

void ExchangeDomain::handle(Event const& event, Outbox& out) {
    switch (event.kind) {
        case exchange_post:
            return post(event, out);
        case begin_event:
            return begin(static_cast<std::uint32_t>(event.body[0]), static_cast<std::uint32_t>(event.body[1]),
                         event.when, out);
        case close_event:
            return close(event);
        case tick_event:
            return tick(event.when, out);
        default:
            ORRERY_ENSURE(false, "domain {} got an event of kind {}", domain_.value(), event.kind);
    }
}

RankId ExchangeDomain::rank_of(Instance const& instance, std::uint32_t member) const {
    return RankId{traffic_->first_rank(instance.key.group).value() + member};
}

Route ExchangeDomain::route(Instance const& instance, std::uint32_t source, std::uint32_t target) const {
    return fabric_->route(rank_of(instance, source), rank_of(instance, target));
}

Time ExchangeDomain::flag_leaves(Instance const& instance, std::uint32_t source, std::uint32_t target) {
    return orrery::flag_leaves(*instance.plan, instance.members[source].loop_end,
                               static_cast<std::uint32_t>(instance.members.size()), source, target);
}

void ExchangeDomain::release_engine(Member& member) {
    if (member.engine != TransferEngine::no_engine) engine_->close_engine(member.engine);
    member.engine = TransferEngine::no_engine;
}

// What follows from the key.
void ExchangeDomain::know(Instance& instance) const {
    instance.plan = &traffic_->plan(instance.key.kind);
    instance.part = (*layouts_)[instance.key.group].part(domain_);
    ORRERY_ENSURE(instance.part != nullptr, "group {} has no pair in domain {}", instance.key.group, domain_.value());
}

std::uint32_t ExchangeDomain::instance_of(ExchangeKey key) {
    if (auto const it = open_.find(key); it != open_.end()) return it->second;
    auto const free = std::find_if(instances_.begin(), instances_.end(), [](Instance const& i) { return !i.open; });
    auto const slot = static_cast<std::uint32_t>(free - instances_.begin());
    if (free == instances_.end()) instances_.emplace_back();
    auto& instance = instances_[slot];
    instance = Instance{.key = key,
                        .members = std::move(instance.members),
                        .bundle_bytes = std::move(instance.bundle_bytes),
                        .open = true};
    know(instance);
    auto const members = traffic_->members(key.group);
    ORRERY_ENSURE(members <= 0xffff, "an exchange of {} members", members);
    instance.members.assign(members, Member{});
    instance.bundle_bytes.assign(bundle_bytes_.size(), 0);
    for (std::uint32_t m = 0; m < members; ++m)
        instance.members[m].awaited = instance.plan->style == ExchangeStyle::push ? instance.part->senders_to[m] : 0;
    traffic_->open(key, domain_.value());
    open_.emplace(key, slot);
    return slot;
}

void ExchangeDomain::post(Event const& event, Outbox& out) {
    auto const key = ExchangeKey::unpack(event.body[0]);
    auto const slot = instance_of(key);
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto const index = event.source.value() + first_rank_.value() - traffic_->first_rank(key.group).value();
    auto& member = instance.members[index];
    ORRERY_ENSURE(!member.posted, "member {} of group {} posted twice", index, key.group);
    auto const started = Time::from_ps(static_cast<std::int64_t>(event.body[1]));
    member.posted = true;
    ++instance.posted;

    traffic_->sent_by(key, index, shares_);
    std::uint64_t messages = 0;
    for (auto const& share : shares_) messages += share.messages;
    auto const loop = plan.loop_time(messages);
    instance.facts.posted(started, loop, messages);
    member.loop_end = member.send_done = event.when + loop;

    if (plan.style == ExchangeStyle::pull) {
        if (instance.posted == instance.part->participants) announce_all(slot, event.when, out);
    } else if (plan.loop == ExchangeLoop::prepared && loop > Time{}) {
        out.schedule(member.loop_end, begin_event, {slot, index, 0, 0, 0});
    } else {
        if (loop > Time{} && messages > 0) member.engine = engine_->open_engine(loop_rate(plan, messages, loop));
        begin(slot, index, event.when, out);
    }
}

void ExchangeDomain::announce_all(std::uint32_t slot, Time now, Outbox& out) {
    auto const& instance = instances_[slot];
    auto const members = static_cast<std::uint32_t>(instance.members.size());
    for (std::uint32_t target = 0; target < members; ++target) {
        if (instance.part->senders_to[target] == 0) continue;
        // Not before the last member has come, even one that does not reach this target in this domain.
        auto met = std::max(now, instance.members[target].loop_end);
        for (std::uint32_t source = 0; source < members; ++source) {
            if (source == target || instance.part->senders_to[source] == 0) continue;
            auto const way = route(instance, source, target);
            if (way.domain != domain_) continue;
            met = std::max(met, flag_leaves(instance, source, target) + way.latency);
        }
        out.schedule(met, begin_event, {slot, target, 0, 0, 0});
    }
}

void ExchangeDomain::begin(std::uint32_t slot, std::uint32_t member, Time now, Outbox& out) {
    instances_[slot].members[member].begun = true;
    if (instances_[slot].plan->style == ExchangeStyle::push)
        send_all(slot, member, now);
    else
        read_all(slot, member, now);
    // Members without traffic of their own may be over already; the others will be told as transfers end.
    auto const members = static_cast<std::uint32_t>(instances_[slot].members.size());
    for (std::uint32_t m = 0; m < members && instances_[slot].open; ++m)
        if (instances_[slot].members[m].awaited == 0) tell_if_over(slot, m, out);
    want_tick(now, out);
}

void ExchangeDomain::send_all(std::uint32_t slot, std::uint32_t source, Time now) {
    auto& instance = instances_[slot];
    auto const members = static_cast<std::uint32_t>(instance.members.size());
    auto const loop_end = instance.members[source].loop_end;
    traffic_->sent_by(instance.key, source, shares_);
    auto share = shares_.begin();
    for (std::uint32_t target = 0; target < members; ++target) {
        auto const messages = share != shares_.end() && share->member == target ? (share++)->messages : 0;
        auto& receiver = instance.members[target];
        if (target == source) {
            receiver.arrival = std::max(receiver.arrival, loop_end);
            --receiver.awaited;
            continue;
        }
        auto const way = route(instance, source, target);
        if (way.domain != domain_) continue;
        if (messages > 0) {
            start_transfer(slot, source, target, messages, way, now);
            continue;
        }
        receiver.arrival = std::max(receiver.arrival, flag_leaves(instance, source, target) + way.latency);
        --receiver.awaited;
    }
}

void ExchangeDomain::read_all(std::uint32_t slot, std::uint32_t target, Time now) {
    auto& instance = instances_[slot];
    auto& reader = instance.members[target];
    reader.arrival = now;
    traffic_->received_by(instance.key, target, shares_);
    for (auto const& share : shares_) {
        if (share.member == target) continue;
        auto const way = route(instance, share.member, target);
        if (way.domain != domain_) continue;
        ++reader.awaited;
        start_transfer(slot, share.member, target, share.messages, way, now);
    }
}

void ExchangeDomain::start_transfer(std::uint32_t slot, std::uint32_t source, std::uint32_t target,
                                    std::uint32_t messages, Route const& way, Time now) {
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto const wire = plan.wire_bytes * messages;
    auto const payload = plan.message_bytes * messages;
    auto& sender = instance.members[source];
    if (plan.style == ExchangeStyle::push) ++sender.in_flight;
    for (auto const hop : way.bundles()) instance.bundle_bytes[map_->local(hop)] += wire;
    instance.facts.payload_bytes += payload;
    counters_.injected_bytes += payload;
    ++counters_.flows;
    if (pairs_ == CountPairs::yes) {
        auto const members = static_cast<std::uint32_t>(instance.members.size());
        pair_table_.count(instance.key, members, 0, members, source, target, payload);
    }
    engine_->start(now, way.bundles(), sender.engine, way.cap, plan.shares == ExchangeShares::by_bytes ? messages : 1,
                   wire, TransferName{slot, source, target}.pack());
}

void ExchangeDomain::want_tick(Time when, Outbox& out) {
    if (when >= tick_at_) return;
    tick_at_ = when;
    out.schedule(when, tick_event, {});
}

void ExchangeDomain::tick(Time now, Outbox& out) {
    if (now == tick_at_) tick_at_ = Time::infinity();  // an older, later tick finds nothing to do
    done_.clear();
    engine_->advance(now, done_);
    for (auto const& done : done_) transfer_done(done, out);
    engine_->settle(now);
    if (auto const next = engine_->next(); next < Time::infinity()) want_tick(next, out);
}

void ExchangeDomain::transfer_done(TransferDone const& done, Outbox& out) {
    auto const [slot, source, target] = TransferName::unpack(done.cookie);
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto& sender = instance.members[source];
    auto& receiver = instance.members[target];
    auto const way = route(instance, source, target);
    digest_.add(done.cookie);
    digest_.add(static_cast<std::uint64_t>(done.when.ps()));

    // Counted from the traffic itself, not from what start_transfer() noted: conservation is a check, not an identity.
    counters_.delivered_bytes += plan.message_bytes * traffic_->messages(instance.key, source, target);
    --receiver.awaited;
    if (plan.style == ExchangeStyle::push) {
        auto const flag = flag_leaves(instance, source, target);
        receiver.arrival = std::max(receiver.arrival, std::max(done.when, flag) + way.latency);
        if (--sender.in_flight == 0) {
            sender.send_done = std::max(sender.send_done, done.when);
            release_engine(sender);
            tell_if_over(slot, source, out);
        }
    } else {
        receiver.arrival = std::max(receiver.arrival, done.when + 2 * way.latency);  // request out, data back
    }
    if (receiver.awaited == 0) tell_if_over(slot, target, out);
}

void ExchangeDomain::tell_if_over(std::uint32_t slot, std::uint32_t index, Outbox& out) {
    auto& instance = instances_[slot];
    auto& member = instance.members[index];
    if (member.told || !member.posted || !member.begun || member.in_flight > 0 || member.awaited > 0) return;
    member.told = true;
    release_engine(member);
    auto const end = std::max(member.send_done, member.arrival) + instance.plan->finish;
    instance.facts.last_end = std::max(instance.facts.last_end, end);
    auto const received = traffic_->received(instance.key, index);
    digest_.add(static_cast<std::uint64_t>(end.ps()));
    out.send(LpId{rank_of(instance, index).value() - first_rank_.value()}, end, exchange_done,
             {instance.key.pack(), static_cast<std::uint64_t>(instance.facts.last_start.ps()),
              static_cast<std::uint64_t>(received.messages) << 32 | received.active_experts, 0, 0});
    if (++instance.told == instance.part->participants)
        out.schedule(instance.facts.last_end, close_event, {slot, 0, 0, 0, 0});
}

void ExchangeDomain::close(Event const& event) {
    auto& instance = instances_[static_cast<std::uint32_t>(event.body[0])];
    sink_->add(
        instance.facts.row(instance.key, *instance.plan, charge_ports(instance), domain_.value(), collectives_++));
    traffic_->close(instance.key, domain_.value());
    open_.erase(instance.key);
    instance.open = false;
}

// Adds the instance's bytes to the totals; the longest time any bundle needs for them, and which one it is.
PortBound ExchangeDomain::charge_ports(Instance& instance) {
    auto const& plan = *instance.plan;
    auto const bundles = map_->bundles(domain_);
    PortBound bound;
    for (std::size_t b = 0; b < bundles.size(); ++b) {
        auto const bytes = instance.bundle_bytes[b];
        if (bytes == 0) continue;
        bundle_bytes_[b] += bytes;
        bundle_payload_[b] += bytes / plan.wire_bytes * plan.message_bytes;
        bound.consider(transfer_time(bytes, fabric_->bundles()[bundles[b].index()].capacity), bundles[b].value());
    }
    return bound;
}

DigestChain ExchangeDomain::digest() const {
    auto chain = digest_;
    for (auto const bytes : bundle_bytes_) chain.add(static_cast<std::uint64_t>(bytes));
    chain.add(static_cast<std::uint64_t>(counters_.injected_bytes));
    chain.add(static_cast<std::uint64_t>(counters_.delivered_bytes));
    return chain;
}

void ExchangeDomain::state(StateStream& stream) {
    stream(instances_, pair_table_, bundle_bytes_, bundle_payload_, counters_, digest_, tick_at_, collectives_);
    engine_->state(stream);
    traffic_->state(domain_.value(), stream);
    if (!stream.restoring()) return;
    for (std::uint32_t slot = 0; slot < instances_.size(); ++slot) {
        if (!instances_[slot].open) continue;
        know(instances_[slot]);
        open_.emplace(instances_[slot].key, slot);
    }
}

std::vector<StuckExchange> ExchangeDomain::stuck() const {
    std::vector<StuckExchange> all;
    auto const starved = engine_->starved();
    for (auto const& [key, slot] : open_) {
        auto const& instance = instances_[slot];
        StuckExchange stuck{.key = key, .missing = {}, .starved = {}, .waiting = {}};
        for (std::uint32_t m = 0; m < instance.members.size(); ++m) {
            if (instance.part->senders_to[m] == 0) continue;
            if (!instance.members[m].posted) stuck.missing.push_back(m);
            if (instance.members[m].posted && !instance.members[m].told) stuck.waiting.push_back(m);
        }
        for (auto const cookie : starved)
            if (auto const name = TransferName::unpack(cookie); name.slot == slot)
                stuck.starved.emplace_back(rank_of(instance, name.source), rank_of(instance, name.target));
        all.push_back(std::move(stuck));
    }
    return all;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/exchange_domain.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {

ExchangeDomain::ExchangeDomain(DomainLp& domain, std::vector<GroupLayout> const& layouts, ExchangeTraffic& traffic,
                               RankId first_rank, CountPairs pairs)
    : domain_(&domain), layouts_(&layouts), traffic_(&traffic), first_rank_(first_rank), pairs_(pairs) {}

void ExchangeDomain::handle(Event const& event, Outbox& out) {
    switch (event.kind) {
        case exchange_post:
            return post(event, out);
        case begin_event:
            return begin(static_cast<std::uint32_t>(event.body[0]), static_cast<std::uint32_t>(event.body[1]),
                         event.when, out);
        case close_event:
            return close(event);
        default:
            ORRERY_ENSURE(false, "exchanges got an event of kind {}", event.kind);
    }
}

RankId ExchangeDomain::rank_of(Instance const& instance, std::uint32_t member) const {
    return RankId{traffic_->first_rank(instance.key.group).value() + member};
}

Route ExchangeDomain::route(Instance const& instance, std::uint32_t source, std::uint32_t target) const {
    return domain_->fabric().route(rank_of(instance, source), rank_of(instance, target));
}

Time ExchangeDomain::flag_leaves(Instance const& instance, std::uint32_t source, std::uint32_t target) {
    return orrery::flag_leaves(*instance.plan, instance.members[source].loop_end,
                               static_cast<std::uint32_t>(instance.members.size()), source, target);
}

void ExchangeDomain::release_engine(Member& member) {
    if (member.engine != TransferEngine::no_engine) domain_->engine().close_engine(member.engine);
    member.engine = TransferEngine::no_engine;
}

// What follows from the key.
void ExchangeDomain::know(Instance& instance) const {
    instance.plan = &traffic_->plan(instance.key.kind);
    instance.part = (*layouts_)[instance.key.group].part(domain_->domain());
    ORRERY_ENSURE(instance.part != nullptr, "group {} has no pair in domain {}", instance.key.group,
                  domain_->domain().value());
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
    instance.bundle_bytes.assign(domain_->bundle_bytes().size(), 0);
    for (std::uint32_t m = 0; m < members; ++m)
        instance.members[m].awaited = instance.plan->style == ExchangeStyle::push ? instance.part->senders_to[m] : 0;
    traffic_->open(key, domain_->domain().value());
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
        if (loop > Time{} && messages > 0)
            member.engine = domain_->engine().open_engine(loop_rate(plan, messages, loop));
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
            if (way.domain != domain_->domain()) continue;
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
    domain_->want_tick(now, out);
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
        if (way.domain != domain_->domain()) continue;
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
        if (way.domain != domain_->domain()) continue;
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
    for (auto const hop : way.bundles()) instance.bundle_bytes[domain_->map().local(hop)] += wire;
    instance.facts.payload_bytes += payload;
    if (pairs_ == CountPairs::yes) {
        auto const members = static_cast<std::uint32_t>(instance.members.size());
        pair_table_.count(instance.key, members, 0, members, source, target, payload);
    }
    domain_->begin(*this,
                   {.hops = way.bundles(),
                    .cap = way.cap,
                    .engine = sender.engine,
                    .weight = plan.shares == ExchangeShares::by_bytes ? messages : 1,
                    .wire_bytes = wire,
                    .payload_bytes = payload},
                   TransferName{slot, source, target}.pack(), now);
}

void ExchangeDomain::transfer_done(TransferDone const& done, Outbox& out) {
    auto const [slot, source, target] = TransferName::unpack(done.cookie);
    auto& instance = instances_[slot];
    auto const& plan = *instance.plan;
    auto& sender = instance.members[source];
    auto& receiver = instance.members[target];
    auto const way = route(instance, source, target);
    domain_->note(done.cookie);
    domain_->note(done.when);

    // Counted from the traffic itself, not from what start_transfer() noted: conservation is a check, not an identity.
    domain_->delivered(plan.message_bytes * traffic_->messages(instance.key, source, target));
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
    domain_->note(end);
    out.send(LpId{rank_of(instance, index).value() - first_rank_.value()}, end, exchange_done,
             {instance.key.pack(), static_cast<std::uint64_t>(instance.facts.last_start.ps()),
              static_cast<std::uint64_t>(received.messages) << 32 | received.active_experts, 0, 0});
    if (++instance.told == instance.part->participants)
        out.schedule(instance.facts.last_end, close_event, {slot, 0, 0, 0, 0});
}

void ExchangeDomain::close(Event const& event) {
    auto& instance = instances_[static_cast<std::uint32_t>(event.body[0])];
    domain_->sink().add(instance.facts.row(instance.key, *instance.plan, charge_ports(instance),
                                           domain_->domain().value(), domain_->next_collective_row()));
    traffic_->close(instance.key, domain_->domain().value());
    open_.erase(instance.key);
    instance.open = false;
}

// Adds the instance's bytes to the totals; the longest time any bundle needs for them, and which one it is.
PortBound ExchangeDomain::charge_ports(Instance& instance) {
    auto const& plan = *instance.plan;
    auto const bundles = domain_->map().bundles(domain_->domain());
    PortBound bound;
    for (std::size_t b = 0; b < bundles.size(); ++b) {
        auto const bytes = instance.bundle_bytes[b];
        if (bytes == 0) continue;
        domain_->count_bundle(static_cast<std::uint32_t>(b), bytes, bytes / plan.wire_bytes * plan.message_bytes);
        bound.consider(transfer_time(bytes, domain_->fabric().bundles()[bundles[b].index()].capacity),
                       bundles[b].value());
    }
    return bound;
}

void ExchangeDomain::state(StateStream& stream) {
    stream(instances_, pair_table_);
    traffic_->state(domain_->domain().value(), stream);
    if (!stream.restoring()) return;
    for (std::uint32_t slot = 0; slot < instances_.size(); ++slot) {
        if (!instances_[slot].open) continue;
        know(instances_[slot]);
        open_.emplace(instances_[slot].key, slot);
    }
}

std::vector<StuckExchange> ExchangeDomain::stuck() const {
    std::vector<StuckExchange> all;
    auto const starved = domain_->starved(*this);
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

// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives/collective_domain.hpp"

#include <algorithm>

namespace orrery {
namespace {

// The part of a route that a message loads.
std::span<BundleId const> part_of(Route const& way, Way part) {
    auto const bundles = way.bundles();
    auto const middle = (bundles.size() + 1) / 2;
    if (part == Way::to_switch) return bundles.first(middle);
    if (part == Way::from_switch) return bundles.subspan(middle);
    return bundles;
}

}  // namespace

void CollectiveDomain::handle(Event const& event, Outbox& out) {
    switch (event.kind) {
        case collective_join:
            return join(event, out);
        case collective_arrival:
            return hear(event, out);
        case begin_event:
            return begin_batch(event.when, out);
        case close_event:
            return close(event);
        default:
            ORRERY_ENSURE(false, "collectives got an event of kind {}", event.kind);
    }
}

std::uint32_t CollectiveDomain::instance_of(std::uint32_t collective) {
    if (auto const at = open_.find(collective); at != open_.end()) return at->second;
    auto const free = std::find_if(instances_.begin(), instances_.end(), [](Instance const& i) { return !i.open; });
    auto const slot = static_cast<std::uint32_t>(free - instances_.begin());
    if (free == instances_.end()) instances_.emplace_back();
    auto& instance = instances_[slot];
    auto const& course = book_->open(collective);
    instance.collective = collective;
    instance.open = true;
    instance.joined = instance.told = 0;
    instance.first_start = instance.least_latency = Time::infinity();
    instance.last_start = instance.last_end = {};
    instance.payload_bytes = 0;
    instance.members.assign(course.members(), {.end = {}, .lanes_left = course.plan().lanes()});
    instance.lanes.assign(static_cast<std::size_t>(course.members()) * course.plan().lanes(), {});
    instance.bundles.clear();
    instance.course = &course;
    open_.emplace(collective, slot);
    return slot;
}

void CollectiveDomain::join(Event const& event, Outbox& out) {
    auto const slot = instance_of(static_cast<std::uint32_t>(event.body[0]));
    auto& instance = instances_[slot];
    auto const index = instance.course->member_of[event.body[1]];
    auto& member = instance.members[index];
    ORRERY_ENSURE(!member.joined, "member {} of collective {} joins twice", index, instance.collective);
    auto const started = Time::from_ps(static_cast<std::int64_t>(event.body[2]));
    member.joined = true;
    member.task = static_cast<std::uint32_t>(event.body[3]);
    ++instance.joined;
    instance.first_start = std::min(instance.first_start, started);
    instance.last_start = std::max(instance.last_start, started);
    auto const& plan = instance.course->plan();
    auto const at = event.when + instance.course->planned.protocol.launch;
    member.end = at;
    for (std::uint32_t lane = 0; lane < plan.lanes(); ++lane) {
        lane_of(instance, index, lane).step = plan.steps() > 0 ? plan.next_step(index, lane, 0) : 0;
        enter(slot, index, lane, at, out);
    }
}

void CollectiveDomain::enter(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time at, Outbox& out) {
    auto& instance = instances_[slot];
    auto const& plan = instance.course->plan();
    for (;;) {
        auto& state = lane_of(instance, member, lane);
        state.ready = at;
        if (state.step >= plan.steps()) {
            state.phase = Lane::Phase::over;
            auto& whole = instance.members[member];
            whole.end = std::max(whole.end, at);
            if (--whole.lanes_left == 0) tell(slot, member, out);
            return;
        }
        if (held(instance, member, lane, at)) {
            state.phase = Lane::Phase::held;
            return;
        }
        begin_step(slot, member, lane, at, out);
        if (state.left > 0) return;
        at = state.ready;
        pass(slot, member, lane, out);
    }
}

// Does the lane that this one follows keep it from beginning its step? If not, when did it let it go?
bool CollectiveDomain::held(Instance& instance, std::uint32_t member, std::uint32_t lane, Time& at) {
    auto const follows = instance.course->plan().follows();
    if (follows == 0 || lane < follows) return false;
    auto const step = lane_of(instance, member, lane).step;
    auto const& first = lane_of(instance, member, lane - follows);
    if (first.phase != Lane::Phase::over && first.step <= step) return true;
    auto const after = instance.passed.upper_bound(key(instance, member, lane - follows, step));
    if (after == instance.passed.begin()) return false;
    auto const last = std::prev(after);
    if (last->first < key(instance, member, lane - follows, 0)) return false;
    at = std::max(at, last->second);
    instance.passed.erase(last);
    return false;
}

void CollectiveDomain::begin_step(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time at, Outbox& out) {
    auto& instance = instances_[slot];
    auto const& plan = instance.course->plan();
    auto& state = lane_of(instance, member, lane);
    // Packets may be told after they have arrived.
    at = std::max(at, domain_->now());
    state.phase = Lane::Phase::begun;
    state.ready = at;
    sends_.clear();
    plan.sends(member, lane, state.step, sends_);
    auto const sends = sends_.sends();
    state.left = static_cast<std::uint32_t>(sends.size()) + plan.receives(member, lane, state.step);
    if (!instance.early.empty()) {
        if (auto const early = instance.early.find(key(instance, member, lane, state.step));
            early != instance.early.end()) {
            state.left -= early->second.count;
            state.ready = std::max(state.ready, early->second.latest);
            instance.early.erase(early);
        }
    }
    if (sends.empty()) return;
    auto [place, fresh] = batches_.try_emplace(at);
    auto& batch = place->second;
    if (fresh) {
        if (!spare_.empty()) {
            batch = std::move(spare_.back());
            spare_.pop_back();
        }
        out.schedule(at, begin_event, {});
    }
    batch.begins.push_back({slot, member, lane, state.step, static_cast<std::uint32_t>(sends.size())});
    batch.sends.insert(batch.sends.end(), sends.begin(), sends.end());
}

void CollectiveDomain::begin_batch(Time now, Outbox& out) {
    auto const at = batches_.find(now);
    ORRERY_ENSURE(at != batches_.end(), "no step of a collective begins at {} ps", now.ps());
    auto batch = std::move(at->second);
    batches_.erase(at);
    auto message = batch.sends.begin();
    for (auto const& begin : batch.begins)
        for (std::uint32_t i = 0; i < begin.sends; ++i) send(begin, *message++, now, out);
    domain_->want_tick(now, out);
    batch.begins.clear();
    batch.sends.clear();
    spare_.push_back(std::move(batch));
}

void CollectiveDomain::send(Begin const& begin, Send const& message, Time now, Outbox& out) {
    auto& instance = instances_[begin.slot];
    auto const& course = *instance.course;
    auto const& protocol = course.planned.protocol;
    auto const source = course.ranks[begin.member], target = course.ranks[message.peer];
    auto const way = domain_->fabric().route(source, target);
    if (way.domain != domain_->domain()) {
        ORRERY_ENSURE(book_->carries(course, way.domain), "nobody carries what rank {} sends to rank {}",
                      source.value(), target.value());
        return;
    }
    auto const per_node = std::max(1U, domain_->fabric().ranks_per_block());
    bool const near = course.plan().shape().levels.empty() || source.value() / per_node == target.value() / per_node;
    // A message that ends at a switch is answered from there within its step: the step takes a whole way.
    auto const latency = way.latency + (near ? protocol.near : protocol.far);
    Hop const hop{begin.slot, begin.member, message.peer, begin.lane, begin.step};
    instance.least_latency = std::min(instance.least_latency, latency);
    instance.payload_bytes += message.bytes;
    auto const hops = part_of(way, message.way);
    if (message.bytes == 0 || hops.empty()) return know(hop, now + latency, out);
    auto const wire = protocol.on_wire(message.bytes);
    for (auto const bundle : hops) instance.bundles.add(domain_->map().local(bundle), wire, message.bytes);
    if (free_transfers_.empty()) {
        free_transfers_.push_back(static_cast<std::uint32_t>(transfers_.size()));
        transfers_.emplace_back();
    }
    auto const number = free_transfers_.back();
    free_transfers_.pop_back();
    transfers_[number] = {hop, message.bytes, latency};
    domain_->begin(
        *this,
        {.hops = hops, .cap = std::min(way.cap, protocol.cap), .wire_bytes = wire, .payload_bytes = message.bytes},
        number, now);
}

void CollectiveDomain::transfer_done(TransferDone const& done, Outbox& out) {
    auto const transfer = transfers_[done.cookie];
    free_transfers_.push_back(static_cast<std::uint32_t>(done.cookie));
    domain_->delivered(transfer.payload);
    know(transfer.hop, done.when + transfer.latency, out);
}

// One of the domain's own messages will have arrived then.
void CollectiveDomain::know(Hop const& hop, Time arrival, Outbox& out) {
    auto const& instance = instances_[hop.slot];
    domain_->note(static_cast<std::uint64_t>(hop.source) << 32 | hop.target);
    domain_->note(arrival);
    for (auto const carrier : instance.course->carriers) {
        if (carrier == self_) continue;
        out.send(carrier, domain_->now() + timing_.lookahead, collective_arrival,
                 {instance.collective, static_cast<std::uint64_t>(hop.source) << 32 | hop.target,
                  static_cast<std::uint64_t>(hop.lane) << 32 | hop.step, static_cast<std::uint64_t>(arrival.ps()), 0});
    }
    know_sent(hop, arrival, out);
    know_received(hop, arrival, out);
}

void CollectiveDomain::hear(Event const& event, Outbox& out) {
    Hop const hop{.slot = instance_of(static_cast<std::uint32_t>(event.body[0])),
                  .source = static_cast<std::uint32_t>(event.body[1] >> 32),
                  .target = static_cast<std::uint32_t>(event.body[1]),
                  .lane = static_cast<std::uint32_t>(event.body[2] >> 32),
                  .step = static_cast<std::uint32_t>(event.body[2])};
    auto const arrival = Time::from_ps(static_cast<std::int64_t>(event.body[3]));
    know_sent(hop, arrival, out);
    know_received(hop, arrival, out);
}

// The sender is in that step: it leaves it no earlier than its messages arrive.
void CollectiveDomain::know_sent(Hop const& hop, Time arrival, Outbox& out) {
    auto const& state = lane_of(instances_[hop.slot], hop.source, hop.lane);
    ORRERY_ENSURE(state.phase == Lane::Phase::begun && state.step == hop.step,
                  "a message of step {} arrives and its sender is in step {}", hop.step, state.step);
    count(hop.slot, hop.source, hop.lane, arrival, out);
}

void CollectiveDomain::know_received(Hop const& hop, Time arrival, Outbox& out) {
    auto& instance = instances_[hop.slot];
    auto const& state = lane_of(instance, hop.target, hop.lane);
    if (state.phase == Lane::Phase::begun && state.step == hop.step)
        return count(hop.slot, hop.target, hop.lane, arrival, out);
    auto& early = instance.early[key(instance, hop.target, hop.lane, hop.step)];
    ++early.count;
    early.latest = std::max(early.latest, arrival);
}

void CollectiveDomain::count(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time arrival, Outbox& out) {
    auto& state = lane_of(instances_[slot], member, lane);
    state.ready = std::max(state.ready, arrival);
    ORRERY_ENSURE(state.left > 0, "member {} got more messages in step {} than its plan has", member, state.step);
    if (--state.left > 0) return;
    auto const over = state.ready;
    pass(slot, member, lane, out);
    enter(slot, member, lane, over, out);
}

// The step is over: the lane stands before the next one, and the lane that follows may begin this one.
void CollectiveDomain::pass(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Outbox& out) {
    auto& instance = instances_[slot];
    auto const& plan = instance.course->plan();
    auto& state = lane_of(instance, member, lane);
    auto const step = state.step;
    state.phase = Lane::Phase::idle;
    state.step = step + 1 < plan.steps() ? plan.next_step(member, lane, step + 1) : plan.steps();
    auto const next = lane + plan.follows();
    if (next == lane || next >= plan.lanes()) return;
    instance.passed.insert_or_assign(key(instance, member, lane, step), state.ready);
    auto const& follower = lane_of(instance, member, next);
    if (follower.phase == Lane::Phase::held && follower.step < state.step)
        enter(slot, member, next, follower.ready, out);
}

// A member's part is over. What it needed is known ahead, except to a member that joins when everything has arrived: it
// takes as long as an answer takes to hear so.
void CollectiveDomain::tell(std::uint32_t slot, std::uint32_t index, Outbox& out) {
    auto& instance = instances_[slot];
    auto const& member = instance.members[index];
    auto const answer = domain_->now() + timing_.lookahead;
    auto const when = std::max(member.end + timing_.back, answer);
    instance.last_end = std::max(instance.last_end, when);
    if (tells(instance)) {
        domain_->note(when);
        out.send(LpId{instance.course->lps[index]}, when, collective_over,
                 {member.task, static_cast<std::uint64_t>(instance.last_start.ps()), 0, 0, 0});
    }
    if (++instance.told == instance.members.size()) out.schedule(instance.last_end, close_event, {slot, 0, 0, 0, 0});
}

void CollectiveDomain::close(Event const& event) {
    auto& instance = instances_[static_cast<std::uint32_t>(event.body[0])];
    domain_->sink().add(row_of(instance));
    open_.erase(instance.collective);
    book_->close(instance.collective);
    instance.open = false;
    instance.course = nullptr;
    ORRERY_ENSURE(instance.early.empty(), "collective {} ends with messages that nobody expects", instance.collective);
    instance.passed.clear();
}

// Charges the links. No schedule could pass the bytes of a link faster than at its full rate, or a message without its
// latency.
CollectiveRow CollectiveDomain::row_of(Instance& instance) {
    auto const bundles = domain_->map().bundles(domain_->domain());
    Time ports;
    auto bound_by = no_bundle_binds;
    for (auto const& [local, wire, payload] : instance.bundles.entries()) {
        if (wire == 0) continue;
        domain_->count_bundle(local, wire, payload);
        auto const needed = transfer_time(wire, domain_->fabric().bundles()[bundles[local].index()].capacity);
        // Of bundles that need as long, the first: entries come in no order.
        if (needed < ports || (needed == ports && bound_by <= bundles[local].value())) continue;
        ports = needed;
        bound_by = bundles[local].value();
    }
    auto const latency = instance.least_latency < Time::infinity() ? instance.least_latency : Time{};
    if (ports < latency) bound_by = no_bundle_binds;
    auto const bound = instance.course->planned.protocol.launch + ports + latency;
    ORRERY_ENSURE(instance.last_end - instance.first_start >= bound,
                  "collective {} takes {} ps, less than its bound of {} ps", instance.collective,
                  (instance.last_end - instance.first_start).ps(), bound.ps());
    return {.first_start = instance.first_start,
            .last_start = instance.last_start,
            .last_end = instance.last_end,
            .bound = bound,
            .payload_bytes = instance.payload_bytes,
            .group = instance.course->group,
            .domain = domain_->domain().value(),
            .sequence = domain_->next_collective_row(),
            .bound_bundle = bound_by,
            .layer = static_cast<std::uint16_t>(instance.collective),
            .kind = static_cast<OpKind>(static_cast<std::uint8_t>(OpKind::all_reduce) +
                                        static_cast<std::uint8_t>(instance.course->plan().shape().op)),
            .microbatch = 0};
}

void CollectiveDomain::state(StateStream& stream) {
    stream(instances_, transfers_, free_transfers_, batches_);
    if (!stream.restoring()) return;
    for (std::uint32_t slot = 0; slot < instances_.size(); ++slot) {
        if (!instances_[slot].open) continue;
        instances_[slot].course = &book_->open(instances_[slot].collective);
        open_.emplace(instances_[slot].collective, slot);
    }
}

std::vector<std::string> CollectiveDomain::stuck() const {
    std::vector<std::string> lines;
    for (auto const& [collective, slot] : open_) {
        auto const& instance = instances_[slot];
        auto const& course = *instance.course;
        auto line = fmt::format("collective {} ({} of group {}, {}):", collective, name_of(course.plan().shape().op),
                                course.group, course.planned.algorithm);
        for (std::uint32_t m = 0; m < instance.members.size() && instance.joined < instance.members.size(); ++m)
            if (!instance.members[m].joined) {
                line += fmt::format(" {} members wait for rank {}, which has not reached it", instance.joined,
                                    course.ranks[m].value());
                break;
            }
        lines.push_back(std::move(line));
    }
    for (auto const cookie : domain_->starved(*this)) {
        auto const& hop = transfers_[cookie].hop;
        auto const& course = *instances_[hop.slot].course;
        lines.push_back(fmt::format("collective {}: a message from rank {} to rank {} cannot move",
                                    instances_[hop.slot].collective, course.ranks[hop.source].value(),
                                    course.ranks[hop.target].value()));
        break;
    }
    return lines;
}

}  // namespace orrery

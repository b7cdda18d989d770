// SPDX-License-Identifier: Apache-2.0
// The sweep itself: sources, buckets, walks.
#include "netmodels/packet/sweep_engine.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <bit>

namespace orrery {
SweepEngine::SweepEngine(PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
                         PacketShare share)
    : fabric_(fabric),
      map_(map),
      settings_(settings),
      share_(std::move(share)),
      chooser_(fabric, settings),
      tie_{DigestChain::mix(settings.seed)},
      by_node_(settings.load_balancing == LoadBalancing::adaptive),
      ports_(fabric.port_count()),
      received_(share_.processes),
      injectors_(map.bundles(fabric.domain()).size()),
      order_(std::max(fabric.port_count(), fabric.node_count()), tie_),
      mail_(share_.processes),
      queues_(fabric.fabric().link_classes().size()),
      done_digest_(fabric.fabric().rank_count(), 0),
      meter_(fabric, map, settings.bin_width, *this) {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        bool const bounded = settings.port_buffer != PacketSettings::unbounded && !fabric.is_endpoint(fabric.from(p));
        ports_[p].limit = bounded && fabric.port(p).rate > 0
                              ? transfer_time(settings.port_buffer, Rate::from_bits_per_s(fabric.port(p).rate)).ps()
                              : PacketSettings::unbounded / 2;
    }
    for (auto const b : map.bundles(fabric.domain()))
        class_of_.push_back(fabric.fabric().bundles()[b.index()].link_class);
    if (share_.processes == 1) return;
    for (std::uint32_t p = 0; p < fabric.port_count(); ++p)
        ORRERY_ENSURE(share_.owner[fabric.from(p)] == share_.owner[fabric.port(p).to] || fabric.port(p).rate == 0 ||
                          fabric.port(p).latency >= fabric.lookahead().ps(),
                      "link {} of {} ps is cut although the lookahead is {} ps",
                      fabric.fabric().link_name(fabric.link(p)), fabric.port(p).latency, fabric.lookahead().ps());
}

void SweepEngine::append(std::uint32_t& head, std::uint32_t& tail, std::uint32_t flow) {
    flows_[flow].next = none;
    if (head == none)
        head = flow;
    else
        flows_[tail].next = flow;
    tail = flow;
}

void SweepEngine::follow(MessageRule const& rule) {
    rule_ = &rule;
    numbers_.assign(fabric_.fabric().rank_count(), 0);
    for (std::uint32_t r = 0; r < fabric_.fabric().rank_count(); ++r)
        if (auto const node = fabric_.node_of(RankId{r}); node != none && mine(node)) draw(r);
}

void SweepEngine::draw(std::uint32_t origin) {
    Message message;
    if (rule_->message(RankId{origin}, numbers_[origin], message)) admit(message, numbers_[origin], true);
}

void SweepEngine::offer(Message const& message) {
    if (numbers_.empty()) numbers_.assign(fabric_.fabric().rank_count(), 0);
    admit(message, numbers_[message.source.index()], false);
}

void SweepEngine::admit(Message const& message, std::uint32_t number, bool by_rule) {
    auto const cut = cut_message(fabric_, map_, settings_.mtu, message);
    auto slot = free_flow_;
    if (slot == none) {
        slot = static_cast<std::uint32_t>(flows_.size());
        flows_.emplace_back();
        received_[share_.me].resize(flows_.size());
    } else {
        free_flow_ = flows_[slot].next;
    }
    ++numbers_[message.source.index()];
    flows_[slot] = {.cookie = message.cookie,
                    .offered = message.offered.ps(),
                    .pace = static_cast<std::uint64_t>(message.pace.bits_per_s()) & ((std::uint64_t{1} << 44) - 1),
                    .weight = std::min(message.weight, Turns::most_weight) & 0xffff,
                    .first = cut.way.first,
                    .hop1 = cut.way.hop1,
                    .hop2 = cut.way.hop2,
                    .last = cut.way.last,
                    .origin = message.source.value(),
                    .number = number,
                    .packets = cut.packets,
                    .sent = 0,
                    .next = none,
                    .last_bytes = cut.last_bytes & 0x7fffU,
                    .left = cut.way.left & 63U,
                    .by_rule = by_rule ? 1U : 0U};
    ++counters_.messages;
    counters_.bytes_offered += cut.bytes;
    auto& injector = injectors_[flows_[slot].first];
    injector.node = fabric_.node_of(message.source);
    ORRERY_EXPECT(injector.waiting == none || flows_[injector.waiting_tail].offered <= message.offered.ps());
    append(injector.waiting, injector.waiting_tail, slot);
    if (injector.active) return;
    injector.active = true;
    active_.push_back(flows_[slot].first);
}

Time SweepEngine::next() const {
    auto earliest = Time::infinity();
    if (auto const window = calendar_.next(); window != PacketCalendar::never && width_ > 0)
        earliest = Time::from_ps(window * width_);
    for (auto const bundle : active_) {
        auto const& injector = injectors_[bundle];
        auto const flow = injector.head != none ? injector.head : injector.waiting;
        auto when = std::max({injector.clock, flows_[flow].offered, ran_until_});
        if (flows_[flow].pace > 0 && injector.turns.open(flow)) when = std::max(when, injector.paced_until);
        earliest = std::min(earliest, Time::from_ps(when));
    }
    return earliest;
}

void SweepEngine::run(Window const& window) {
    if (width_ == 0) {
        width_ = window.end.ps() - window.begin.ps();
        calendar_.set_width(width_);
    }
    begin_ = window.begin.ps();
    window_ = window.index;
    earliest_sent_ = Time::infinity();
    calendar_.open(window.index);
    auto const end = begin_ + width_;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        if (i + 1 < active_.size()) {
            auto const& soon = injectors_[active_[i + 1]];
            if (soon.head != none) __builtin_prefetch(&flows_[soon.head]);
            __builtin_prefetch(&ports_[soon.port], 1);
        }
        inject(active_[i], end);
    }
    std::erase_if(active_, [this](std::uint32_t bundle) { return !injectors_[bundle].active; });
    sweep();
    calendar_.close();
    mail_.seal();
    ran_until_ = end;
}

std::uint32_t SweepEngine::source_port(Heading const& heading, std::uint32_t first, std::uint32_t node,
                                       std::uint32_t left) const {
    auto const group = fabric_.group(first, node);
    if (!by_node_) return chooser_.choose(heading, group, node, left, true, 0);
    return chooser_.least(heading, group, node, left, true, 0, [&](std::uint32_t port) { return ports_[port].free; });
}

// The first flow that waits for its time takes part from now on.
void SweepEngine::begin_first(Injector& injector) {
    auto const first = injector.waiting;
    injector.waiting = flows_[first].next;
    injector.turns.join(static_cast<std::uint32_t>(flows_[first].weight));
    append(injector.head, injector.tail, first);
}

// Of the flow at the head. False: its turn is worth no packet, and it is at the end of the list.
inline bool SweepEngine::take_turn(Injector& injector) {
    auto const slot = injector.head;
    if (injector.turns.open(slot)) return true;
    auto& flow = flows_[slot];
    flow.credit = injector.turns.take(slot, static_cast<std::uint32_t>(flow.weight), flow.credit) & (Turns::one - 1);
    if (injector.turns.open(slot)) return true;
    injector.head = flow.next;
    append(injector.head, injector.tail, slot);
    return false;
}

void SweepEngine::inject(std::uint32_t bundle, std::int64_t end) {
    auto& injector = injectors_[bundle];
    for (;;) {
        if (injector.head == none) {
            if (injector.waiting == none) {
                injector.active = false;
                return;
            }
            auto const when = flows_[injector.waiting].offered;
            while (injector.waiting != none && flows_[injector.waiting].offered <= when) begin_first(injector);
        }
        if (!take_turn(injector)) continue;
        auto const slot = injector.head;
        auto& flow = flows_[slot];
        Heading const heading{.origin = flow.origin,
                              .count = injector.count & id_mask,
                              .hop1 = flow.hop1,
                              .hop2 = flow.hop2,
                              .last = flow.last};
        auto const port = source_port(heading, flow.first, injector.node, flow.left);
        ORRERY_VALIDATE(port != LinkChooser::no_port, "rank {} has no link left to its target", flow.origin);
        auto start = std::max({injector.clock, ports_[port].free, flow.offered});
        if (flow.pace > 0) start = std::max(start, injector.paced_until);
        while (injector.waiting != none && flows_[injector.waiting].offered <= start) begin_first(injector);
        if (start >= end) return;

        bool const final = flow.sent + 1 == flow.packets;
        Packet packet;
        packet.set_out(PacketLoad::of(heading.origin, heading.count, final ? flow.last_bytes : settings_.mtu, 0, slot,
                                      heading.last, flow.sent),
                       {.final = final ? 1U : 0U, .hop2 = heading.hop2 & id_mask, .seq_low = flow.sent & 0xffff});
        auto const time = fabric_.serialisation(port, static_cast<std::uint32_t>(packet.bytes));
        injector.clock = start;
        if (flow.pace > 0)
            injector.paced_until = start + PacketFabric::ceil_time(static_cast<std::uint32_t>(packet.bytes),
                                                                   static_cast<std::int64_t>(flow.pace));
        ++injector.count;
        injector.port = port;
        ++flow.sent;
        ++counters_.injected;
        injector.turns.sent();
        bool const by_rule = flow.by_rule != 0;
        auto const origin = flow.origin;
        if (final) {
            injector.turns.end();
            injector.turns.leave(static_cast<std::uint32_t>(flow.weight));
            injector.head = flow.next;
        } else if (!injector.turns.open(slot)) {
            injector.head = flow.next;
            append(injector.head, injector.tail, slot);
        }
        send(packet, flow.left,
             flow.left >= 3   ? flow.hop1
             : flow.left == 2 ? flow.hop2
                              : flow.last,
             port, ports_[port], start, time);
        if (final && by_rule) draw(origin);
    }
}

// One departure. `left` hops are to go behind the port, the first of them over the bundle `onward`.
inline void SweepEngine::send(Packet const& packet, std::uint32_t left, std::uint32_t onward, std::uint32_t port,
                              Port& state, std::int64_t start, std::int64_t time) {
    auto const& spec = fabric_.port(port);
    meter_.add(state.bin, port, start, static_cast<std::int64_t>(packet.bytes));
    state.free = start + time;
    state.chain =
        (state.chain + static_cast<std::uint64_t>(start) + (std::uint64_t{packet.origin} << 40) + packet.count) *
        0x9e3779b97f4a7c15U;
    state.bytes += static_cast<std::int64_t>(packet.bytes);
    ++state.packets;
    ++counters_.hops;
    auto next = onward;
    auto hop2 = static_cast<std::uint32_t>(packet.hop2);
    auto when = start + spec.latency;
    if (left == 0) {
        when += time;
        if (mine(spec.to)) return deliver(packet, when);
        next = spec.to;
    } else {
        when += time & fabric_.hold_mask(port);
        if (hop2 >= fabric_.long_from()) [[unlikely]] {
            auto const step = fabric_.long_step(static_cast<std::uint32_t>(packet.origin), packet.last, hop2);
            next = step.bundle;
            left = step.left;
            hop2 = step.hop2;
        }
        if (!by_node_) {
            next = chooser_.choose(packet.heading(), fabric_.group(next, spec.to), spec.to, left - 1, false, when);
            if (next == LinkChooser::no_port) [[unlikely]] {
                ++counters_.blocked;
                return drop(packet, port);
            }
        }
    }
    auto const due = PacketCalendar::due(window_, when - begin_, width_);
    PacketLeg leg = packet;
    leg.offset = due.offset;
    leg.next = next & id_mask;
    leg.left = std::min(left, 3U) & 3;
    leg.hop2 = hop2 & id_mask;
    leg.in = port & id_mask;
    if (!mine(spec.to)) [[unlikely]] {
        earliest_sent_ = std::min(earliest_sent_, Time::from_ps(when));
        return mail_.add(share_.owner[spec.to], due.window, packet, leg);
    }
    calendar_.push(due.window, due.offset).set_out(packet, leg);
}

void SweepEngine::arrive(std::span<Event const> records) {
    PacketMail::open(
        records,
        [this](std::int64_t window, Packet const& packet) {
            if (packet.left == 0) return deliver(packet, window * width_ + packet.offset);
            calendar_.push(window, packet.offset) = packet;
        },
        [this](std::uint32_t slot, std::int64_t when) { finish(slot, when); });
}

void SweepEngine::sweep() {
    order_.deal(calendar_, [this](Packet const& packet) {
        return by_node_ ? fabric_.port(static_cast<std::uint32_t>(packet.in)).to : packet.next;
    });
    auto const soon = [this](std::uint32_t place) {
        if (by_node_) return;
        __builtin_prefetch(&ports_[place], 1);
        __builtin_prefetch(&fabric_.port(place));
    };
    order_.visit(
        calendar_, soon, [](std::uint32_t) {},
        [this](std::uint32_t place, Arrival const* first, Arrival const* last) {
            by_node_ ? pass(place, first, last) : walk(place, first, last);
        });
}

// The arrivals at one node whose links are chosen by their load.
void SweepEngine::pass(std::uint32_t node, Arrival const* first, Arrival const* last) {
    for (auto const* arrival = first; arrival != last; ++arrival) {
        auto const& packet = calendar_.at(arrival->index);
        auto const now = begin_ + arrival->offset();
        auto const heading = packet.heading();
        auto const behind = fabric_.hops_behind(packet.left, heading.hop2, false);
        auto const port =
            chooser_.least(heading, fabric_.group(packet.next, node), node, behind, false, now, [&](std::uint32_t p) {
                return std::max(ports_[p].free, now) +
                       fabric_.serialisation(p, static_cast<std::uint32_t>(packet.bytes));
            });
        if (port == LinkChooser::no_port) {
            ++counters_.blocked;
            drop(packet, static_cast<std::uint32_t>(packet.in));
            continue;
        }
        walk(port, arrival, arrival + 1);
    }
}

// Arrivals at one port, in order: each starts when it has come and all before it have left.
void SweepEngine::walk(std::uint32_t port, Arrival const* first, Arrival const* last) {
    auto& state = ports_[port];
    auto const& spec = fabric_.port(port);
    auto& histogram = queues_[class_of_[spec.bundle]];
    bool const may_run_dry = fabric_.mixed_rates() && !fabric_.holds(fabric_.from(port));
    for (auto const* at = first; at != last; ++at) {
        if (at + 2 < last) __builtin_prefetch(&calendar_.at(at[2].index));
        auto const& packet = calendar_.at(at->index);
        auto arrival = begin_ + at->offset();
        auto const bytes = static_cast<std::uint32_t>(packet.bytes);
        auto const time = fabric_.serialisation(port, bytes);
        // A cut-through switch may not run dry: a faster output ends no earlier than the input.
        if (may_run_dry) [[unlikely]] {
            auto const input = fabric_.serialisation(static_cast<std::uint32_t>(packet.in), bytes);
            arrival += std::max<std::int64_t>(0, input - time);
        }
        auto const wait = state.free - arrival;
        if (wait > 0 && wait + time > state.limit) [[unlikely]] {
            drop(packet, port);
            continue;
        }
        ++histogram[queue_bucket(wait, spec.mtu_time)];
        auto const start = std::max(arrival, state.free);
        meter_.touch(state.bin, port, start);  // the queue counts where the packet leaves
        state.max_wait = std::max(state.max_wait, wait);
        auto const left = packet.left - 1U;
        send(packet, left, left == 1 ? packet.last : static_cast<std::uint32_t>(packet.hop2), port, state, start, time);
    }
}

void SweepEngine::drop(Packet const&, std::uint32_t port) {
    ++counters_.dropped;
    ++ports_[port].drops;
}

inline void SweepEngine::deliver(Packet const& packet, std::int64_t when) {
    auto const process = process_of(fabric_.node_of(RankId{static_cast<std::uint32_t>(packet.origin)}));
    auto& table = received_[process];
    if (packet.slot >= table.size()) table.resize(packet.slot + 1);
    auto& state = table[packet.slot];
    ++counters_.delivered;
    counters_.bytes_delivered += static_cast<std::int64_t>(packet.bytes);
    state.last = std::max(state.last, when);
    if (packet.final) state.total = packet.sequence() + 1;
    if (++state.packets != state.total) return;
    auto const last = state.last;
    state = {};
    if (process == share_.me) return finish(packet.slot, last);
    earliest_sent_ = std::min(earliest_sent_, Time::from_ps(begin_ + width_));
    mail_.complete(process, packet.slot, last);
}

void SweepEngine::finish(std::uint32_t slot, std::int64_t when) {
    auto& flow = flows_[slot];
    ++counters_.messages_done;
    done_digest_[flow.origin] += DigestChain::mix(DigestChain::mix(flow.number + 1) + static_cast<std::uint64_t>(when));
    deliveries_.push_back(
        {flow.cookie, Time::from_ps(when), Time::from_ps(flow.offered), RankId{flow.origin}, flow.number});
    flow.packets = 0;
    flow.next = free_flow_;
    free_flow_ = slot;
}

}  // namespace orrery

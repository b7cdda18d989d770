// SPDX-License-Identifier: Apache-2.0
// The sweep itself: sources, buckets, walks.
#include "netmodels/packet/sweep_engine.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

constexpr std::uint32_t offset_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32);
}
constexpr std::uint32_t index_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

// A port sees a handful of arrivals per window.
void sort_few(std::uint64_t* first, std::uint64_t* last) {
    if (last - first > 32) return std::sort(first, last);
    for (auto* at = first + 1; at < last; ++at) {
        auto const key = *at;
        auto* hole = at;
        for (; hole != first && hole[-1] > key; --hole) *hole = hole[-1];
        *hole = key;
    }
}

}  // namespace

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
      count_(std::max(fabric.port_count(), fabric.node_count()), 0),
      outgoing_(share_.processes),
      queues_(fabric.fabric().link_classes().size()),
      done_digest_(fabric.fabric().rank_count(), 0),
      meter_(map.bundles(fabric.domain()), settings.bin_width) {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        bool const bounded = settings.port_buffer != PacketSettings::unbounded && !fabric.is_endpoint(fabric.from(p));
        ports_[p].limit = bounded && fabric.port(p).rate > 0
                              ? transfer_time(settings.port_buffer, Rate::from_bits_per_s(fabric.port(p).rate)).ps()
                              : PacketSettings::unbounded / 2;
    }
    for (auto const b : map.bundles(fabric.domain()))
        class_of_.push_back(fabric.fabric().bundles()[b.index()].link_class);
    meter_.on_flush([this](Time now) { flush_bins(now); });
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
                    .pace = message.pace.bits_per_s(),
                    .first = cut.first,
                    .hop1 = cut.hop1,
                    .hop2 = cut.hop2,
                    .last = cut.last,
                    .origin = message.source.value(),
                    .number = number,
                    .packets = cut.packets,
                    .sent = 0,
                    .next = none,
                    .last_bytes = cut.last_bytes,
                    .left = cut.left,
                    .by_rule = by_rule};
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
        if (flows_[flow].pace > 0) when = std::max(when, injector.paced_until);
        earliest = std::min(earliest, Time::from_ps(when));
    }
    return earliest;
}

void SweepEngine::run(Window const& window) {
    if (width_ == 0) width_ = window.end.ps() - window.begin.ps();
    begin_ = window.begin.ps();
    window_ = window.index;
    earliest_sent_ = Time::infinity();
    calendar_.open(window.index);
    auto const end = begin_ + width_;
    for (std::size_t i = 0; i < active_.size(); ++i) inject(active_[i], end);
    std::erase_if(active_, [this](std::uint32_t bundle) { return !injectors_[bundle].active; });
    bucket();
    calendar_.close();
    ran_until_ = end;
}

std::uint32_t SweepEngine::source_port(Flow const& flow, Injector const& injector, Packet& packet) const {
    packet.origin = flow.origin & id_mask;
    packet.count = injector.count & id_mask;
    packet.hop1 = flow.hop1 & id_mask;
    packet.hop2 = flow.hop2 & id_mask;
    packet.last = flow.last & id_mask;
    packet.left = flow.left & 3;
    auto const group = fabric_.group(flow.first, injector.node);
    if (!by_node_) return chooser_.choose(packet, group, injector.node, flow.left, true);
    return chooser_.least(packet, group, injector.node, flow.left, true,
                          [&](std::uint32_t port) { return ports_[port].free; });
}

void SweepEngine::inject(std::uint32_t bundle, std::int64_t end) {
    auto& injector = injectors_[bundle];
    for (;;) {
        if (injector.head == none) {
            if (injector.waiting == none) {
                injector.active = false;
                return;
            }
            auto const first = injector.waiting;
            injector.waiting = flows_[first].next;
            append(injector.head, injector.tail, first);
        }
        auto const slot = injector.head;
        auto& flow = flows_[slot];
        Packet packet;
        auto const port = source_port(flow, injector, packet);
        ORRERY_VALIDATE(port != LinkChooser::no_port, "rank {} has no link left to its target", flow.origin);
        auto start = std::max({injector.clock, ports_[port].free, flow.offered});
        if (flow.pace > 0) start = std::max(start, injector.paced_until);
        while (injector.waiting != none && flows_[injector.waiting].offered <= start) {
            auto const first = injector.waiting;
            injector.waiting = flows_[first].next;
            append(injector.head, injector.tail, first);
        }
        if (start >= end) return;

        bool const final = flow.sent + 1 == flow.packets;
        packet.slot = slot;
        packet.bytes = (final ? flow.last_bytes : settings_.mtu) & 0x7fff;
        packet.set_sequence(flow.sent);
        packet.final = final ? 1 : 0;
        auto const time = fabric_.serialisation(port, static_cast<std::uint32_t>(packet.bytes));
        injector.clock = start;
        if (flow.pace > 0)
            injector.paced_until = start + PacketFabric::ceil_time(static_cast<std::uint32_t>(packet.bytes), flow.pace);
        ++injector.count;
        ++flow.sent;
        ++counters_.injected;
        injector.head = flow.next;
        bool const by_rule = flow.by_rule != 0;
        auto const origin = flow.origin;
        if (!final) append(injector.head, injector.tail, slot);
        send(packet, port, start, time);
        if (final && by_rule) draw(origin);
    }
}

// Everything about one departure that does not depend on how the port was found.
inline void SweepEngine::send(Packet& packet, std::uint32_t port, std::int64_t start, std::int64_t time) {
    auto const& spec = fabric_.port(port);
    auto& state = ports_[port];
    state.free = start + time;
    state.chain =
        (state.chain + static_cast<std::uint64_t>(start) + (std::uint64_t{packet.origin} << 40) + packet.count) *
        0x9e3779b97f4a7c15U;
    state.bytes += static_cast<std::int64_t>(packet.bytes);
    ++state.packets;
    meter_.add(state.bin, spec.bundle, start, static_cast<std::int64_t>(packet.bytes));
    ++counters_.hops;
    if (packet.left == 0) {
        auto const tail = start + time + spec.latency;
        if (mine(spec.to)) return deliver(packet, tail);
        packet.in = port & id_mask;
        return push(tail, packet, spec.to);
    }
    packet.in = port & id_mask;
    push(start + spec.latency + (time & fabric_.hold_mask(port)), packet, spec.to);
}

inline void SweepEngine::push(std::int64_t when, Packet& packet, std::uint32_t node) {
    if (!mine(node)) return ship(share_.owner[node], when, packet, 0);
    auto ahead = when - begin_;
    auto window = window_;
    if (ahead < 3 * width_) [[likely]] {
        while (ahead >= width_) {
            ahead -= width_;
            ++window;
        }
    } else {
        window += ahead / width_;
        ahead %= width_;
    }
    packet.offset = static_cast<std::uint32_t>(ahead);
    calendar_.push(window, packet);
}

void SweepEngine::ship(std::uint32_t process, std::int64_t when, Packet const& packet, std::int64_t note) {
    Event event;
    event.when = Time::from_ps(when);
    event.kind = static_cast<std::uint16_t>(packet.kind_bits);
    event.body = wire_form(packet, note);
    outgoing_[process].push_back(event);
    earliest_sent_ = std::min(earliest_sent_, event.when);
}

void SweepEngine::arrive(std::span<Event const> events) {
    for (auto const& event : events) {
        auto [packet, note] = from_wire(event.body);
        if (packet.kind() == PacketKind::done) {
            finish(packet.slot, note);
            continue;
        }
        packet.offset = static_cast<std::uint32_t>(event.when.ps() % width_);
        calendar_.push(event.when.ps() / width_, packet);
    }
}

void SweepEngine::bucket() {
    auto const n = calendar_.size();
    if (n == 0) return;
    place_.resize(n);
    keys_.resize(n);
    touched_.clear();
    for (std::uint32_t i = 0; i < n; ++i) {
        auto const& packet = calendar_.at(i);
        auto place = none;
        if (packet.left == 0) {
            deliver(packet, begin_ + packet.offset);
        } else {
            auto const node = fabric_.port(packet.in).to;
            if (by_node_) {
                place = node;
            } else {
                place = chooser_.choose(packet, fabric_.group(packet.next_bundle(), node), node,
                                        static_cast<std::uint32_t>(packet.left) - 1, false);
                if (place == LinkChooser::no_port) {
                    ++counters_.blocked;
                    drop(packet, static_cast<std::uint32_t>(packet.in));
                }
            }
        }
        place_[i] = place;
        if (place != none && count_[place]++ == 0) touched_.push_back(place);
    }
    std::uint32_t first = 0;
    for (auto const place : touched_) {
        auto const count = count_[place];
        count_[place] = first;
        first += count;
    }
    for (std::uint32_t i = 0; i < n; ++i)
        if (place_[i] != none)
            keys_[count_[place_[i]]++] = static_cast<std::uint64_t>(calendar_.at(i).offset) << 32 | i;
    std::uint32_t begin = 0;
    for (auto const place : touched_) {
        auto const end = count_[place];
        count_[place] = 0;
        walk(place, keys_.data() + begin, keys_.data() + end);
        begin = end;
    }
}

void SweepEngine::settle_ties(std::uint64_t* first, std::uint64_t* last) {
    for (auto* at = first; at + 1 < last; ++at) {
        if (offset_of(at[0]) != offset_of(at[1])) [[likely]]
            continue;
        auto* end = at + 2;
        while (end < last && offset_of(*end) == offset_of(*at)) ++end;
        std::sort(at, end, [this](std::uint64_t a, std::uint64_t b) {
            return tie_(calendar_.at(index_of(a)), calendar_.at(index_of(b)));
        });
        at = end - 1;
    }
}

void SweepEngine::walk(std::uint32_t place, std::uint64_t* first, std::uint64_t* last) {
    sort_few(first, last);
    settle_ties(first, last);
    auto port = place;
    for (auto* key = first; key != last; ++key) {
        if (key + 2 < last) __builtin_prefetch(&calendar_.at(index_of(key[2])));
        auto& packet = calendar_.at(index_of(*key));  // read for the last time: it may be changed in place
        auto arrival = begin_ + offset_of(*key);
        auto const left = static_cast<std::uint32_t>(packet.left) - 1;
        if (by_node_) {
            auto const now = arrival;
            port = chooser_.least(packet, fabric_.group(packet.next_bundle(), place), place, left, false,
                                  [&](std::uint32_t p) {
                                      return std::max(ports_[p].free, now) +
                                             fabric_.serialisation(p, static_cast<std::uint32_t>(packet.bytes));
                                  });
            if (port == LinkChooser::no_port) {
                ++counters_.blocked;
                drop(packet, static_cast<std::uint32_t>(packet.in));
                continue;
            }
        }
        auto& state = ports_[port];
        auto const bytes = static_cast<std::uint32_t>(packet.bytes);
        auto const time = fabric_.serialisation(port, bytes);
        // A cut-through switch may not run dry: a faster output ends no earlier than the input.
        if (fabric_.mixed_rates() && !fabric_.holds(fabric_.port(packet.in).to)) {
            auto const input = fabric_.serialisation(static_cast<std::uint32_t>(packet.in), bytes);
            arrival += std::max<std::int64_t>(0, input - time);
        }
        auto const wait = state.free - arrival;
        auto& histogram = queues_[class_of_[fabric_.port(port).bundle]];
        if (wait <= 0) {
            ++histogram[0];
            packet.left = left & 3;
            send(packet, port, arrival, time);
            continue;
        }
        if (wait + time > state.limit) {
            drop(packet, port);
            continue;
        }
        auto const full = fabric_.port(port).mtu_time;
        // A 32-bit division takes half the time of a 64-bit one, and nearly every wait is below 4 ms.
        auto const queued = ((wait | full) >> 32) == 0
                                ? static_cast<std::uint32_t>(wait) / static_cast<std::uint32_t>(full)
                                : static_cast<std::uint64_t>(wait / full);
        ++histogram[std::min<std::size_t>(queue_buckets - 1, 1 + static_cast<std::size_t>(std::bit_width(queued)))];
        state.max_wait = std::max(state.max_wait, wait);
        packet.left = left & 3;
        send(packet, port, state.free, time);
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
    auto notice = packet;
    notice.set_kind(PacketKind::done);
    ship(process, begin_ + width_, notice, last);
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

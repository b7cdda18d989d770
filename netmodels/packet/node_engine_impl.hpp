// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, first part: construction and the window. Only transports include it.
#pragma once

#include "netmodels/packet/node_engine.hpp"
#include "netmodels/packet/node_engine_buffers.hpp"
#include "netmodels/packet/node_engine_figures.hpp"
#include "netmodels/packet/node_engine_flows.hpp"
#include "netmodels/packet/node_engine_ports.hpp"
#include "netmodels/packet/node_engine_receivers.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace orrery {

template <class T>
NodeEngine<T>::NodeEngine(PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
                          PacketShare share)
    : fabric_(fabric),
      map_(map),
      settings_(settings),
      share_(std::move(share)),
      transport_(settings),
      chooser_(fabric, settings),
      tie_{DigestChain::mix(settings.seed)},
      ports_(fabric.port_count()),
      ingress_(fabric.port_count()),
      nodes_(fabric.node_count()),
      ready_(settings.load_balancing == LoadBalancing::ecmp ? fabric.port_count()
                                                            : map.bundles(fabric.domain()).size()),
      rx_(share_.processes),
      latest_(share_.processes),
      retired_(share_.processes),
      numbers_(fabric.fabric().rank_count(), 0),
      done_digest_(fabric.fabric().rank_count(), 0),
      at_ports_(fabric.port_count() + fabric.node_count(), tie_),
      at_endpoints_(fabric.node_count(), tie_),
      always_joint_(fabric.node_count(), 0),
      mail_(share_.processes),
      queues_(fabric.fabric().link_classes().size()),
      meter_(fabric, map, settings.bin_width, *this),
      trace_(fabric, settings.trace) {
    ORRERY_VALIDATE(settings.window <= reach, "network.packet.window is {} packets (at most {}, the receiver's reach)",
                    settings.window, reach);
    counts_ = settings.window == 0;
    ORRERY_VALIDATE(!T::acks || !counts_ || (settings.lossless != Lossless::off && settings.losses.empty()),
                    "network.packet.window is 0, no limit (only links that lose nothing allow that); use 1 to {}",
                    reach);
    Time longest;
    for (auto const b : map.bundles(fabric.domain())) {
        auto const& bundle = fabric.fabric().bundles()[b.index()];
        class_of_.push_back(bundle.link_class);
        longest = std::max(longest, bundle.latency);
    }
    // Four hops, or as many as the longest route has, there and back over the slowest kind of link, packets held at
    // each.
    auto const hops = std::max<std::int64_t>(4, fabric.fabric().figures().diameter_hops);
    std::int64_t slowest = 0;
    for (std::uint32_t p = 0; p < ports_.size(); ++p)
        slowest = std::max<std::int64_t>(slowest, fabric.port(p).mtu_time);
    round_trip_ = hops * (2 * longest.ps() + slowest);
    timeout_ = settings.timeout > Time{} ? settings.timeout.ps() : std::max<std::int64_t>(4 * round_trip_, 250'000'000);
    recovers_ = T::acks && !counts_;
    if (T::telemetry) loads_.resize(ports_.size());
    in_order_ = recovers_ && settings.recovery == Recovering::go_back_n;
    foresees_ = settings.prompt && !T::pulls && !in_order_;
    // Nothing of a finished flow is on its way any longer.
    quarantine_ = std::max<std::int64_t>(100'000'000, 2 * longest.ps());
    late_ = settings.load_balancing == LoadBalancing::adaptive;
    shares_ = settings.shared_buffer != PacketSettings::unbounded || settings.pfc_alpha > 0;
    can_lose_ = !counts_ && (settings.lossless != Lossless::credit || !settings.losses.empty());
    if (settings_.lossless != Lossless::off) set_thresholds();
    std::vector<Rate> inbound(nodes_.size());
    for (std::uint32_t p = 0; p < ports_.size(); ++p)
        inbound[fabric.port(p).to] += Rate::from_bits_per_s(fabric.port(p).rate);
    bool const together = late_ || shares_ || settings.lossless == Lossless::credit;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        if (inbound[n] > Rate{}) nodes_[n].pull_gap = transfer_time(fabric.mtu(), inbound[n]).ps();
        if (fabric.is_endpoint(n))
            nodes_[n].rank = fabric.fabric().nodes()[fabric.node(n).index()].rank.value();
        else
            always_joint_[n] = together || (fabric.mixed_rates() && !fabric.holds(n)) ? 1 : 0;
        nodes_[n].joint = always_joint_[n] != 0;
    }
    ports_of_.resize(nodes_.size());
    if (settings.lossless == Lossless::pfc)
        for (std::uint32_t p = 0; p < ports_.size(); ++p)
            if (auto const n = fabric.from(p); !fabric.is_endpoint(n) && !always_joint_[n]) ports_of_[n].push_back(p);
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        ports_[p].credit = settings.lossless == Lossless::credit ? settings.port_buffer : PacketSettings::unbounded;
        ports_[p].crossed = fabric.is_endpoint(fabric.from(p)) ? 0 : 1;
    }
    for (auto const& loss : settings.losses) {
        ORRERY_VALIDATE(loss.probability >= 0 && loss.probability < 1,
                        "network.packet.losses: {} loses {} of its packets (must be below 1: nothing would arrive)",
                        loss.pattern, loss.probability);
        bool found = false;
        for (std::uint32_t p = 0; p < ports_.size(); ++p) {
            if (fnmatch(loss.pattern.c_str(), fabric.fabric().link_name(fabric.link(p)).c_str(), 0) != 0) continue;
            ports_[p].loss_below = static_cast<std::uint32_t>(loss.probability * 0x1p32);
            ports_[p].lossy = true;
            found = true;
        }
        ORRERY_VALIDATE(found, "network.packet.losses: '{}' matches no link", loss.pattern);
    }
}

// Headroom: what is still on its way when a pause is sent: a round trip of the link and a packet at either end.
template <class T>
void NodeEngine<T>::set_thresholds() {
    ORRERY_VALIDATE(settings_.port_buffer != PacketSettings::unbounded,
                    "network.packet.port_buffer is not set (lossless links need a buffer to protect); use 1MiB or so");
    ORRERY_VALIDATE(settings_.port_buffer >= 2 * std::int64_t{settings_.mtu},
                    "network.packet.port_buffer is {} bytes (less than two packets); use a larger one",
                    settings_.port_buffer);
    if (settings_.lossless != Lossless::pfc || settings_.pfc_alpha > 0) return;
    std::int64_t headroom = 0;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        auto const& port = fabric_.port(p);
        if (fabric_.is_endpoint(port.to)) continue;
        auto const flying = static_cast<Int128>(2 * port.latency) * port.rate / 8'000'000'000'000;
        headroom = std::max(headroom, static_cast<std::int64_t>(flying) + 3 * std::int64_t{settings_.mtu});
    }
    if (settings_.pfc_xoff == 0) {
        ORRERY_VALIDATE(
            settings_.port_buffer > headroom,
            "network.packet.port_buffer is {} bytes (the headroom of its links alone is {}); use more, or set "
            "pfc_xoff",
            settings_.port_buffer, headroom);
        settings_.pfc_xoff = settings_.port_buffer - headroom;
    }
    if (settings_.pfc_xon == 0)
        settings_.pfc_xon = std::max<std::int64_t>(0, settings_.pfc_xoff - 2 * std::int64_t{settings_.mtu});
}

template <class T>
Time NodeEngine<T>::next() const {
    if (width_ > 0) {
        auto window = std::min({calendars_[0].next(), calendars_[1].next(), woken_.next()});
        for (auto const port : carried_) window = std::min(window, ports_[port].busy_until / width_);
        if (window == PacketCalendar::never) return Time::infinity();
        return std::max(Time::from_ps(window * width_), Time::from_ps(ran_until_));
    }
    auto earliest = Time::infinity();
    for (auto const& node : nodes_)
        if (!node.heap.empty()) earliest = std::min(earliest, Time::from_ps(node.heap.front().when));
    return earliest;
}

// Puts a node on the list of the window in which it next has something to do.
template <class T>
void NodeEngine<T>::enlist(std::uint32_t n) {
    auto& node = nodes_[n];
    if (node.heap.empty() || width_ == 0) return;
    auto const window = std::max(node.heap.front().when / width_, window_);
    if (node.registered >= window_ && node.registered <= window) return;
    node.registered = window;
    woken_.add(window, n);
}

template <class T>
void NodeEngine<T>::wake(std::uint32_t n, std::int64_t when, WakeKind kind, std::uint64_t id, std::uint32_t what,
                         std::uint32_t spare) {
    auto& heap = nodes_[n].heap;
    heap.push_back({when, packet_detail::wake_key(kind, id), what, spare});
    std::push_heap(heap.begin(), heap.end(), [](Wake const& a, Wake const& b) { return later(a, b); });
}

// The first window tells the width, and with it how much a link may bring within one.
template <class T>
void NodeEngine<T>::set_width(std::int64_t width) {
    width_ = width;
    calendars_[0].set_width(width);
    calendars_[1].set_width(width);
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        auto const& link = fabric_.port(p);
        auto const brought = static_cast<std::int64_t>(static_cast<Int128>(width) * link.rate / 8'000'000'000'000);
        ingress_[p].calm = settings_.pfc_xoff - brought - 2 * std::int64_t{fabric_.mtu()};
        if (settings_.lossless == Lossless::pfc && !fabric_.is_endpoint(link.to)) watch(ingress_[p], link.to);
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) enlist(n);
}

template <class T>
void NodeEngine<T>::run(Window const& window) {
    begin_ = window.begin.ps();
    window_ = window.index;
    if (width_ == 0) set_width(window.end.ps() - window.begin.ps());
    end_ = begin_ + width_;
    earliest_sent_ = Time::infinity();
    gather();
    run_switches();
    run_endpoints();
    mail_.seal();
    if (trace_.active()) trace_.end_of_window();
    ran_until_ = end_;
}

// Which nodes have something to do of their own, and which switches are joint in this window.
template <class T>
void NodeEngine<T>::gather() {
    woken_.take(window_, [this](std::uint32_t n) {
        if (nodes_[n].registered > window_) return;  // listed again for a later window
        nodes_[n].registered = -1;
        (fabric_.is_endpoint(n) ? woken_endpoints_ : woken_switches_).push_back(n);
    });
    std::erase_if(tight_, [this](std::uint32_t n) {
        if (nodes_[n].tight == 0) nodes_[n].listed = false;
        return nodes_[n].tight == 0;
    });
    joint_ = tight_;
    for (auto const n : joint_) {
        nodes_[n].joint = true;
        for (auto const p : ports_of_[n])
            if (ports_[p].waits()) wake_port(p);
    }
}

template <class T>
void NodeEngine<T>::run_switches() {
    calendars_[0].open(window_);
    auto const ports = fabric_.port_count();
    at_ports_.deal(calendars_[0], [&](Packet const& packet) {
        if (late_) return ports + node_of(packet);
        auto const node = fabric_.from(packet.next);
        return nodes_[node].joint ? ports + node : packet.next;
    });
    carrying_.swap(carried_);
    auto const soon = [&](std::uint32_t place) {
        if (place >= ports) return;
        __builtin_prefetch(&ports_[place], 1);
        __builtin_prefetch(&ports_[place].bytes, 1);
        __builtin_prefetch(&fabric_.port(place));
    };
    auto const next = [&](std::uint32_t place) {
        if (place < ports) pool_.fetch(ports_[place].data), pool_.fetch(ports_[place].control);
    };
    at_ports_.visit(calendars_[0], soon, next, [&](std::uint32_t place, Arrival const* first, Arrival const* last) {
        place < ports ? run_port(place, first, last) : run_joint(place - ports, first, last);
    });
    for (auto const port : carrying_)
        if (ports_[port].ran != static_cast<std::uint32_t>(window_) && !nodes_[fabric_.from(port)].joint)
            run_port(port, nullptr, nullptr);
    carrying_.clear();
    for (auto const n : woken_switches_)
        if (nodes_[n].ran != window_) run_joint(n, nullptr, nullptr);
    woken_switches_.clear();
    for (auto const n : joint_) {
        if (nodes_[n].ran != window_) run_joint(n, nullptr, nullptr);
        nodes_[n].joint = false;
    }
    calendars_[0].close();
}

// A switch that is joint in this window only leaves no wakes behind: its ports are carried.
template <class T>
void NodeEngine<T>::run_joint(std::uint32_t n, Arrival const* first, Arrival const* last) {
    run_node(n, calendars_[0], first, last);
    if (always_joint_[n]) return enlist(n);
    nodes_[n].heap.clear();
    for (auto const port : ports_of_[n]) {
        ports_[port].woken = false;
        carry(port, ports_[port]);
    }
}

template <class T>
void NodeEngine<T>::run_endpoints() {
    calendars_[1].open(window_);
    at_endpoints_.deal(calendars_[1], [](Packet const& packet) { return packet.next; });
    auto const soon = [this](std::uint32_t node) { __builtin_prefetch(&nodes_[node], 1); };
    auto const next = [this](std::uint32_t node) {
        auto const& heap = nodes_[node].heap;
        if (!heap.empty()) __builtin_prefetch(heap.data());
    };
    at_endpoints_.visit(calendars_[1], soon, next,
                        [this](std::uint32_t node, Arrival const* first, Arrival const* last) {
                            run_node(node, calendars_[1], first, last);
                            enlist(node);
                        });
    for (auto const n : woken_endpoints_) {
        if (nodes_[n].ran == window_) continue;
        run_node(n, calendars_[1], nullptr, nullptr);
        enlist(n);
    }
    woken_endpoints_.clear();
    calendars_[1].close();
}

// Arrivals and own events of one node in one order: time, own events first, then by key or fair tie.
template <class T>
void NodeEngine<T>::run_node(std::uint32_t n, PacketCalendar& calendar, Arrival const* first, Arrival const* last) {
    auto& node = nodes_[n];
    node.ran = window_;
    auto const order = [](Wake const& a, Wake const& b) { return later(a, b); };
    for (auto const* arrival = first; arrival != last; ++arrival) fetch(calendar.at(arrival->index));
    for (;;) {
        auto const own = node.heap.empty() ? end_ : node.heap.front().when;
        auto const arrival = first != last ? begin_ + first->offset() : end_;
        if (own >= end_ && first == last) break;
        if (own <= arrival) {
            auto const event = node.heap.front();
            std::pop_heap(node.heap.begin(), node.heap.end(), order);
            node.heap.pop_back();
            handle(n, event);
        } else {
            handle(n, calendar.at(first->index), arrival);
            ++first;
        }
    }
}

// Asks for the state of the flow that a packet which has arrived will touch.
template <class T>
inline void NodeEngine<T>::fetch(Packet const& packet) const {
    if (packet.left != 0 || to_upstream(packet)) return;
    if (packet.kind() != PacketKind::data) {
        __builtin_prefetch(&tx_[packet.slot]);
        return;
    }
    auto const& table = rx_[process_of(static_cast<std::uint32_t>(packet.origin))];
    if (packet.slot < table.size()) __builtin_prefetch(&table[packet.slot]);
}

template <class T>
void NodeEngine<T>::handle(std::uint32_t node, Packet& packet, std::int64_t now) {
    if (to_upstream(packet)) return notified(packet, now);
    if (packet.left == 0) return received(node, packet, now);
    forward(node, packet, now);
}

template <class T>
void NodeEngine<T>::handle(std::uint32_t node, Wake const& wake) {
    switch (static_cast<WakeKind>(wake.key >> 56)) {
        case WakeKind::port:
            return sent(wake.what, wake.when);
        case WakeKind::start:
        case WakeKind::pace:
            tx_[wake.what].paced = 0;
            return list(wake.what, wake.when);
        case WakeKind::timeout:
            return timed_out(wake.what, wake.when);
        case WakeKind::emit:
        case WakeKind::enqueue: {
            packet_detail::Fifo one{.head = wake.what, .tail = wake.what};
            auto packet = pool_.pop(one);
            if (static_cast<WakeKind>(wake.key >> 56) == WakeKind::emit) return reply(node, packet, wake.when);
            return enqueue(node, wake.spare, packet, wake.when);
        }
        case WakeKind::pull:
            return pull_next(node, wake.when);
        case WakeKind::feed: {
            auto& ready = ready_[wake.what];
            if (ready.waiting && ready.fed_at == wake.when) ready.waiting = false;
            return feed(node, wake.what, wake.when);
        }
    }
}

template <class T>
inline void NodeEngine<T>::push(std::int64_t when, PacketLoad const& load, PacketLeg const& leg, std::uint32_t node) {
    auto const due = PacketCalendar::due(window_, when - begin_, width_);
    auto out = leg;
    out.offset = due.offset;
    if (!mine(node)) [[unlikely]] {
        earliest_sent_ = std::min(earliest_sent_, Time::from_ps(when));
        return mail_.add(share_.owner[node], due.window, load, out);
    }
    calendar_to(node).push(due.window, due.offset).set_out(load, out);
}

template <class T>
void NodeEngine<T>::arrive(std::span<Event const> records) {
    PacketMail::open(
        records,
        [this](std::int64_t window, Packet const& packet) {
            if (packet.left == 0 && foresees_ && packet.kind() == PacketKind::data && !packet.trimmed)
                foresee(packet, window * width_ + packet.offset);
            calendar_to(node_of(packet)).push(window, packet.offset) = packet;
        },
        [this](std::uint32_t slot, std::int64_t when) { delivered(slot, when); });
}

}  // namespace orrery

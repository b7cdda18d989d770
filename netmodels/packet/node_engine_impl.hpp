// SPDX-License-Identifier: Apache-2.0
// Definitions of NodeEngine, first part: construction and the window. Only transports include it.
#pragma once

#include "netmodels/packet/node_engine.hpp"
#include "netmodels/packet/node_engine_figures.hpp"
#include "netmodels/packet/node_engine_flows.hpp"
#include "netmodels/packet/node_engine_ports.hpp"

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
      numbers_(fabric.fabric().rank_count(), 0),
      done_digest_(fabric.fabric().rank_count(), 0),
      count_(fabric.node_count(), 0),
      outgoing_(share_.processes),
      queues_(fabric.fabric().link_classes().size()),
      meter_(map.bundles(fabric.domain()), settings.bin_width) {
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
    // Four hops there and back over the slowest kind of link, packets held at each.
    std::int64_t slowest = 0;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) slowest = std::max(slowest, fabric.port(p).mtu_time);
    round_trip_ = 8 * longest.ps() + 4 * slowest;
    timeout_ = settings.timeout > Time{} ? settings.timeout.ps() : std::max<std::int64_t>(4 * round_trip_, 250'000'000);
    can_lose_ = !counts_ && (settings.lossless != Lossless::credit || !settings.losses.empty());
    if (settings_.lossless != Lossless::off) set_thresholds();
    std::vector<Rate> inbound(nodes_.size());
    for (std::uint32_t p = 0; p < ports_.size(); ++p)
        inbound[fabric.port(p).to] += Rate::from_bits_per_s(fabric.port(p).rate);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
        if (inbound[n] > Rate{}) nodes_[n].pull_gap = transfer_time(fabric.mtu(), inbound[n]).ps();
    for (auto& port : ports_)
        port.credit = settings.lossless == Lossless::credit ? settings.port_buffer : PacketSettings::unbounded;
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
    meter_.on_flush([this](Time now) { flush_bins(now); });
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
    auto earliest = Time::infinity();
    if (width_ > 0) {
        if (auto const window = calendar_.next(); window != PacketCalendar::never)
            earliest = Time::from_ps(window * width_);
        if (!woken_.empty()) earliest = std::min(earliest, Time::from_ps(woken_.begin()->first * width_));
        return earliest == Time::infinity() ? earliest : std::max(earliest, Time::from_ps(ran_until_));
    }
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
    woken_[window].push_back(n);
}

template <class T>
void NodeEngine<T>::wake(std::uint32_t n, std::int64_t when, WakeKind kind, std::uint64_t id, std::uint32_t what,
                         std::uint32_t spare) {
    auto& heap = nodes_[n].heap;
    heap.push_back({when, packet_detail::wake_key(kind, id), what, spare});
    std::push_heap(heap.begin(), heap.end(), [](Wake const& a, Wake const& b) { return later(a, b); });
}

// Takes the packets of the window out of the calendar, switches' and endpoints' apart.
template <class T>
void NodeEngine<T>::drain() {
    calendar_.open(window_);
    calendar_.for_each_open([&](std::uint32_t, Packet const& packet) {
        (fabric_.is_endpoint(node_of(packet)) ? for_endpoints_ : for_switches_).push_back(packet);
    });
    calendar_.close();
    while (!woken_.empty() && woken_.begin()->first <= window_) {
        for (auto const n : woken_.begin()->second) {
            if (nodes_[n].registered > window_) continue;  // listed again for a later window
            nodes_[n].registered = -1;
            (fabric_.is_endpoint(n) ? woken_endpoints_ : woken_switches_).push_back(n);
        }
        woken_.erase(woken_.begin());
    }
}

template <class T>
void NodeEngine<T>::run(Window const& window) {
    bool const first = width_ == 0;
    width_ = first ? window.end.ps() - window.begin.ps() : width_;
    calendar_.set_width(width_);
    begin_ = window.begin.ps();
    end_ = begin_ + width_;
    window_ = window.index;
    earliest_sent_ = Time::infinity();
    if (first)
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) enlist(n);
    drain();
    run_all(for_switches_, woken_switches_);
    run_all(for_endpoints_, woken_endpoints_);
    ran_until_ = end_;
}

template <class T>
void NodeEngine<T>::run_all(std::vector<Packet>& work, std::vector<std::uint32_t>& woken) {
    auto const n = static_cast<std::uint32_t>(work.size());
    node_scratch_.resize(n);
    keys_.resize(n);
    touched_.clear();
    for (std::uint32_t i = 0; i < n; ++i) {
        auto const node = node_scratch_[i] = node_of(work[i]);
        if (count_[node]++ == 0) touched_.push_back(node);
    }
    std::uint32_t first = 0;
    for (auto const node : touched_) {
        auto const count = count_[node];
        count_[node] = first;
        first += count;
    }
    for (std::uint32_t i = 0; i < n; ++i)
        keys_[count_[node_scratch_[i]]++] = static_cast<std::uint64_t>(work[i].offset) << 32 | i;
    first = 0;
    for (auto const node : touched_) {
        auto const last = count_[node];
        count_[node] = 0;
        std::sort(keys_.begin() + first, keys_.begin() + last);
        settle_ties(work, first, last);
        run_node(node, work, first, last);
        first = last;
    }
    for (auto const node : woken)
        if (nodes_[node].ran != window_) run_node(node, work, 0, 0);
    work.clear();
    woken.clear();
}

// Traffic in lockstep has many arrivals at one instant, so each draws once.
template <class T>
void NodeEngine<T>::settle_ties(std::vector<Packet> const& work, std::uint32_t first, std::uint32_t last) {
    for (auto at = first; at + 1 < last; ++at) {
        if (keys_[at] >> 32 != keys_[at + 1] >> 32) continue;
        ties_.clear();
        auto end = at;
        for (; end < last && keys_[end] >> 32 == keys_[at] >> 32; ++end)
            ties_.push_back({tie_.draw(work[static_cast<std::uint32_t>(keys_[end])]), keys_[end]});
        std::sort(ties_.begin(), ties_.end(), [&](Tie const& a, Tie const& b) {
            if (a.draw != b.draw) return a.draw < b.draw;
            return tie_(work[static_cast<std::uint32_t>(a.key)], work[static_cast<std::uint32_t>(b.key)]);
        });
        for (auto const& tie : ties_) keys_[at++] = tie.key;
        --at;
    }
}

// Arrivals and own events of one node in one order: time, own events first, then by key or fair tie.
template <class T>
void NodeEngine<T>::run_node(std::uint32_t n, std::vector<Packet>& work, std::uint32_t first, std::uint32_t last) {
    auto& node = nodes_[n];
    node.ran = window_;
    auto const order = [](Wake const& a, Wake const& b) { return later(a, b); };
    for (;;) {
        auto const own = node.heap.empty() ? end_ : node.heap.front().when;
        auto const arrival = first < last ? begin_ + static_cast<std::int64_t>(keys_[first] >> 32) : end_;
        if (own >= end_ && first >= last) break;
        if (own <= arrival) {
            auto const event = node.heap.front();
            std::pop_heap(node.heap.begin(), node.heap.end(), order);
            node.heap.pop_back();
            handle(n, event);
        } else {
            handle(n, work[static_cast<std::uint32_t>(keys_[first])], arrival);
            ++first;
        }
    }
    enlist(n);
}

template <class T>
void NodeEngine<T>::handle(std::uint32_t node, Packet& packet, std::int64_t now) {
    if (to_upstream(packet)) return notified(packet, now);
    if (packet.kind() == PacketKind::data) --data_here_;
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
            tx_[wake.what].paced = false;
            return list(wake.what, wake.when);
        case WakeKind::timeout:
            return timed_out(wake.what, wake.when);
        case WakeKind::emit:
        case WakeKind::enqueue: {
            packet_detail::Fifo one{.head = wake.what, .tail = wake.what, .bytes = 0};
            auto packet = pool_.pop(one);
            if (static_cast<WakeKind>(wake.key >> 56) == WakeKind::emit) return reply(node, packet, wake.when);
            if (packet.kind() == PacketKind::data) --data_here_;
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
void NodeEngine<T>::push(std::int64_t when, Packet packet, std::uint32_t node) {
    if (!mine(node)) return ship(share_.owner[node], when, packet, 0);
    if (packet.kind() == PacketKind::data && !to_upstream(packet)) ++data_here_;
    auto ahead = when - begin_;
    auto window = window_;
    if (ahead < 3 * width_) [[likely]] {
        for (; ahead >= width_; ++window) ahead -= width_;
    } else {
        window += ahead / width_;
        ahead %= width_;
    }
    packet.offset = static_cast<std::uint32_t>(ahead);
    if (window > window_) {
        calendar_.push(window, packet.offset) = packet;
        return;
    }
    ORRERY_EXPECT(fabric_.is_endpoint(node));
    for_endpoints_.push_back(packet);
}

template <class T>
void NodeEngine<T>::ship(std::uint32_t process, std::int64_t when, Packet const& packet, std::int64_t note) {
    Event event;
    event.when = Time::from_ps(when);
    event.kind = static_cast<std::uint16_t>(packet.kind_bits);
    event.body = wire_form(packet, note);
    outgoing_[process].push_back(event);
    earliest_sent_ = std::min(earliest_sent_, event.when);
}

template <class T>
void NodeEngine<T>::arrive(std::span<Event const> events) {
    for (auto const& event : events) {
        auto [packet, note] = from_wire(event.body);
        if (packet.kind() == PacketKind::done) {
            delivered(packet.slot, note);
            continue;
        }
        if (packet.kind() == PacketKind::data) ++data_here_;
        packet.offset = static_cast<std::uint32_t>(event.when.ps() % width_);
        calendar_.push(event.when.ps() / width_, packet.offset) = packet;
    }
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Open loop over FIFO ports: the packet engine in which a packet-hop is one record, one addition and one comparison.
#pragma once

#include "netmodels/packet/arrival_order.hpp"
#include "netmodels/packet/calendar.hpp"
#include "netmodels/packet/choose.hpp"
#include "netmodels/packet/message_cut.hpp"
#include "netmodels/packet/network.hpp"
#include "netmodels/packet/packet_mail.hpp"
#include "netmodels/packet/port_meter.hpp"
#include "netmodels/packet/registry.hpp"
#include "netmodels/packet/turns.hpp"

#include <vector>

namespace orrery {

// Without back-pressure the departure of a packet is known when it arrives: start = max(arrival, free), where `free` is
// the instant at which the port has sent all that came before. So no queue is kept at all. Per window the arrivals are
// bucketed by port (by node when links are chosen by their load), each port's few are sorted by (time, fair tie), and
// walked once. A backlog in bytes is (free - arrival) * rate, so finite buffers that drop at their tail need no more.
//
// Tasks of window k:  S(k) sources hand packets to their ports   B(k) bucket arrivals   W(k) sort and walk each port
//   S(k), B(k) before W(k): what W(k) and S(k) send enters a switch at least one lookahead later, so in window k+1 or
//   beyond, and what they send to an endpoint is booked at once. Ports are independent inside a window.
class SweepEngine final : public PacketNetwork, private MeteredPorts {
  public:
    SweepEngine(PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings, PacketShare share);

    void offer(Message const& message) override;
    void follow(MessageRule const& rule) override;
    Time next() const override;
    void run(Window const& window) override;
    std::vector<std::vector<Event>>& outgoing() override { return mail_.sealed(); }
    Time earliest_sent() const override { return earliest_sent_; }
    void arrive(std::span<Event const> records) override;
    std::vector<Delivery>& deliveries() override { return deliveries_; }
    PacketCounters counters() const override { return counters_; }
    std::int64_t in_flight() const override;
    PortFigures figures(std::uint32_t port) const override;
    QueueHistogram queues(std::uint32_t link_class) const override { return queues_[link_class]; }
    LinkTraffic& traffic() override { return meter_; }
    Digest digest() const override;
    std::int64_t flow_state_bytes() const override { return sizeof(Flow) + sizeof(Received); }
    std::int64_t memory_bytes() const override;
    std::vector<std::uint64_t> starved() const override;
    void state(StateStream& stream) override;

  private:
    static constexpr std::uint32_t none = ~0U;

    // One cache line.
    struct Port {
        std::int64_t free = 0;      // ps: all that came before has left
        std::uint64_t chain = 0;    // of every departure, in order
        std::int64_t max_wait = 0;  // ps, since the bin began
        std::int64_t bytes = 0;
        OpenBin bin;
        std::uint32_t packets = 0, drops = 0;
        std::int64_t limit = 0;  // ps of backlog that the buffer holds
    };
    static_assert(sizeof(Port) == 64);
    struct Flow {
        std::uint64_t cookie = 0;
        std::int64_t offered = 0;
        std::uint64_t pace : 44 = 0;    // b/s; 0: none
        std::uint64_t weight : 16 = 0;  // and credit: of its turns (turns.hpp)
        std::uint32_t first = 0, hop1 = 0, hop2 = 0, last = 0;
        std::uint32_t origin = 0, number = 0;
        std::uint32_t packets = 0, sent = 0;  // packets 0: the slot is free
        std::uint32_t next = none;            // in its injector's list or the list of free slots
        std::uint32_t last_bytes : 15 = 0;
        std::uint32_t left : 6 = 0;  // hops behind the first
        std::uint32_t by_rule : 1 = 0;
        std::uint32_t credit : 10 = 0;
    };
    static_assert(sizeof(Flow) == 64);
    struct Received {
        std::uint32_t packets = 0, total = none;
        std::int64_t last = 0;  // ps
    };
    // The flows that leave over one bundle of an endpoint take turns, packet by packet.
    struct Injector {
        std::int64_t clock = 0, paced_until = 0;
        std::uint32_t head = none, tail = none;             // ready, in turn
        std::uint32_t waiting = none, waiting_tail = none;  // by `offered`
        std::uint32_t node = 0, count = 0;
        std::uint32_t port = 0;  // the last one used
        bool active = false;
        Turns turns;
    };

    bool mine(std::uint32_t node) const { return share_.holds(node); }
    std::uint32_t process_of(std::uint32_t node) const { return share_.processes == 1 ? 0 : share_.owner[node]; }
    void admit(Message const& message, std::uint32_t number, bool by_rule);
    void draw(std::uint32_t origin);
    void append(std::uint32_t& head, std::uint32_t& tail, std::uint32_t flow);
    void begin_first(Injector& injector);
    bool take_turn(Injector& injector);
    void inject(std::uint32_t bundle, std::int64_t end);
    std::uint32_t source_port(Heading const& heading, std::uint32_t first, std::uint32_t node,
                              std::uint32_t left) const;
    void sweep();
    void pass(std::uint32_t node, Arrival const* first, Arrival const* last);
    void walk(std::uint32_t port, Arrival const* first, Arrival const* last);
    [[gnu::always_inline]] void send(Packet const& packet, std::uint32_t left, std::uint32_t onward, std::uint32_t port,
                                     Port& state, std::int64_t start, std::int64_t time);
    void deliver(Packet const& packet, std::int64_t when);
    void finish(std::uint32_t slot, std::int64_t when);
    void drop(Packet const& packet, std::uint32_t port);
    OpenBin& open_bin(std::uint32_t port) override { return ports_[port].bin; }
    PortSoFar so_far(std::uint32_t port, std::int64_t at) const override;
    void begin_bin(std::uint32_t port) override { ports_[port].max_wait = 0; }
    std::int64_t max_queue(std::uint32_t port) const;

    PacketFabric const& fabric_;
    DomainMap const& map_;
    PacketSettings settings_;
    PacketShare share_;
    LinkChooser chooser_;
    FairTie tie_;
    MessageRule const* rule_ = nullptr;
    bool by_node_;  // the links are chosen by their load, so when the packet is there

    std::vector<Port> ports_;
    std::vector<Flow> flows_;
    std::uint32_t free_flow_ = none;
    std::vector<std::vector<Received>> received_;  // by process of the sender, by slot
    std::vector<Injector> injectors_;              // by first bundle; idle ones are never touched
    std::vector<std::uint32_t> active_;            // bundles
    std::vector<std::uint32_t> numbers_;           // by rank: messages so far
    PacketCalendar calendar_;
    std::int64_t width_ = 0, begin_ = 0, window_ = 0, ran_until_ = 0;

    ArrivalOrder order_;
    PacketMail mail_;
    Time earliest_sent_ = Time::infinity();
    std::vector<Delivery> deliveries_;
    PacketCounters counters_;
    std::vector<QueueHistogram> queues_;
    std::vector<std::uint16_t> class_of_;  // link class by bundle
    std::vector<std::uint64_t> done_digest_;
    PortMeter meter_;
};

}  // namespace orrery

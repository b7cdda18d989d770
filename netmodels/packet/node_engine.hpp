// SPDX-License-Identifier: Apache-2.0
// The packet engine with queues and feedback: finite buffers, back-pressure, marking, transports.
#pragma once

#include "core/check.hpp"
#include "netmodels/packet/arrival_order.hpp"
#include "netmodels/packet/calendar.hpp"
#include "netmodels/packet/choose.hpp"
#include "netmodels/packet/link_load.hpp"
#include "netmodels/packet/message_cut.hpp"
#include "netmodels/packet/network.hpp"
#include "netmodels/packet/node_state.hpp"
#include "netmodels/packet/packet_mail.hpp"
#include "netmodels/packet/registry.hpp"
#include "netmodels/packet/transport.hpp"
#include "netmodels/packet/turns.hpp"
#include "netmodels/packet/window_lists.hpp"

#include <array>
#include <string>
#include <vector>

namespace orrery {

// Inside a window a node hears nothing new from any other, so nodes are run one after the other. An endpoint is run
// through its own events in time order: arrivals (known when the window opens) and what it asked itself to do (a heap
// of a few entries). The output ports of a switch have nothing to do with each other but through its buffers; so while
// no input is near a pause (a bound on what may arrive in a window tells), each port is run by itself, and needs
// neither a heap nor the order of the others. A switch whose inputs are near a pause, or whose ports depend on each
// other anyway (credits, shared buffers, links chosen by load), is run jointly, like an endpoint.
//
// Tasks of window k:  S(k) run ports and joint switches   E(k) run endpoints
//   S(k) before E(k): a link into an endpoint may be shorter than the window, so what a switch sends to an endpoint may
//   still arrive in k; everything else arrives at least one lookahead later. Pauses and credits travel against a link
//   with its own latency.
template <class Transport>
class NodeEngine final : public PacketNetwork, private MeteredPorts {
  public:
    NodeEngine(PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings, PacketShare share);

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
    std::int64_t pause_threshold() const override {
        return settings_.lossless == Lossless::pfc && settings_.pfc_alpha <= 0 ? settings_.pfc_xoff : 0;
    }
    LinkTraffic& traffic() override { return meter_; }
    std::vector<PacketTraceRow> trace() const override { return trace_.rows(); }
    Digest digest() const override;
    std::int64_t flow_state_bytes() const override;
    std::int64_t memory_bytes() const override;
    std::vector<std::uint64_t> starved() const override;
    std::string diagnosis() const override;
    void state(StateStream& stream) override;

  private:
    static constexpr std::uint32_t none = packet_detail::none;
    static constexpr std::uint32_t reach = 64;  // packets that the receiver can hold beyond a hole

    using Port = packet_detail::Port;
    using Node = packet_detail::Node;
    using Ingress = packet_detail::Ingress;
    using Wake = packet_detail::Wake;
    using WakeKind = packet_detail::WakeKind;
    using Tx = packet_detail::Tx;
    using Sender = typename Transport::Sender;
    using Recovery = packet_detail::Recovery;
    using Recovering = orrery::Recovery;
    using Rx = packet_detail::Rx;
    // Flows that are ready to send over one bundle of an endpoint (over one port of it when paths are hashed).
    struct Ready {
        std::uint32_t head = none, tail = none;
        std::int64_t paced_until = 0;  // the sender prepares no bytes before
        std::int64_t fed_at = 0;       // a wake for then is set, when `waiting`
        std::uint32_t count = 0;       // packets of data so far: they are dealt over the links in turn
        bool waiting = false;
        Turns turns;
    };
    struct Retired {
        std::int64_t since;
        std::uint32_t slot;
    };
    // Slots to be used again, oldest first, for targets of the same process only: a receiver tells a slot's flow from
    // the one before by a bit that turns with each, so it must see each.
    struct RetiredSlots {
        std::vector<Retired> slots;
        std::size_t reused = 0;

        void state(StateStream& stream) { stream(slots, reused); }
    };

    // node_engine_impl.hpp: windows
    bool mine(std::uint32_t node) const { return share_.holds(node); }
    std::uint32_t process_of(std::uint32_t rank) const {
        return share_.processes == 1 ? 0 : share_.owner[fabric_.node_of(RankId{rank})];
    }
    static bool to_upstream(Packet const& p) { return p.kind() >= PacketKind::pause; }  // pause, resume
    std::uint32_t node_of(Packet const& p) const {
        auto const port = static_cast<std::uint32_t>(p.in);
        return to_upstream(p) ? fabric_.from(port) : fabric_.port(port).to;
    }
    void set_thresholds();
    void set_width(std::int64_t width);
    void gather();
    void run_switches();
    void run_endpoints();
    void run_joint(std::uint32_t node, Arrival const* first, Arrival const* last);
    void run_node(std::uint32_t node, PacketCalendar& calendar, Arrival const* first, Arrival const* last);
    void fetch(Packet const& packet) const;
    PacketCalendar& calendar_to(std::uint32_t node) { return calendars_[fabric_.is_endpoint(node) ? 1 : 0]; }
    void handle(std::uint32_t node, Packet& packet, std::int64_t now);
    void handle(std::uint32_t node, Wake const& wake);
    void wake(std::uint32_t node, std::int64_t when, WakeKind kind, std::uint64_t id, std::uint32_t what,
              std::uint32_t spare = 0);
    void enlist(std::uint32_t node);
    void push(std::int64_t when, PacketLoad const& load, PacketLeg const& leg, std::uint32_t node);

    // node_engine_ports.hpp: output ports and links
    void forward(std::uint32_t node, Packet& packet, std::int64_t now);
    void enqueue(std::uint32_t node, std::uint32_t port, Packet& packet, std::int64_t now);
    void run_port(std::uint32_t port, Arrival const* first, Arrival const* last);
    void serve(std::uint32_t port, Port& state, std::int64_t until);
    void join(std::uint32_t port, Port& state, Packet& packet, std::int64_t now);
    void carry(std::uint32_t port, Port& state);
    bool up(std::uint32_t port, Port& state, std::int64_t now);
    bool lost_for_good(std::uint32_t port, Packet const& packet, std::int64_t now);
    void give_up(std::uint32_t port, Port& state, std::int64_t now);
    std::int64_t time_of(std::uint32_t port, std::uint32_t bytes, std::int64_t now) const;
    void wait(Port& state, Packet const& packet, bool control);
    void trim(Port& state, Packet& packet);
    bool lose(std::uint32_t port, Port& state, Packet const& packet);
    void wake_for_more(std::uint32_t port, Port const& state);
    void count_queue(std::uint32_t port, Port const& state);
    bool may_leave(Port const& state, Packet const& packet) const;
    void leave(std::uint32_t port, Packet& packet, std::int64_t now);
    void wake_port(std::uint32_t port);
    void try_start(std::uint32_t port, std::int64_t now);
    bool depart_next(std::uint32_t port, Port& state, std::int64_t now);
    void transmit(std::uint32_t port, Packet& packet, std::int64_t now);
    [[gnu::always_inline]] void depart(std::uint32_t port, Port& state, Packet& packet, std::int64_t now);
    void sent(std::uint32_t port, std::int64_t now);
    void drop(Packet const& packet, std::uint32_t port, std::int64_t now);

    // node_engine_buffers.hpp: room in switches
    bool admit(std::uint32_t node, std::uint32_t port, Packet const& packet, std::int64_t now);
    void mark(std::uint32_t port, Packet& packet);
    void occupy(Ingress& input, std::uint32_t node, std::int64_t bytes);
    void watch(Ingress& input, std::uint32_t node);
    void release(std::uint32_t in, std::uint32_t bytes, std::int64_t now);
    void notify(std::uint32_t in, PacketKind kind, std::uint32_t bytes, std::int64_t now);
    void stall(std::uint32_t port, Port& state, std::int64_t now);
    bool heed(std::uint32_t port, Port& state, Packet const& notice, std::int64_t now);
    void notified(Packet const& packet, std::int64_t now);
    std::int64_t xoff(std::uint32_t node) const;

    // node_engine_flows.hpp: senders
    void admit_message(Message const& message, std::uint32_t number, bool by_rule);
    void draw(std::uint32_t origin);
    std::uint32_t ready_of(Tx const& tx, std::uint32_t node, std::int64_t now) const;
    void list(std::uint32_t slot, std::int64_t now);
    void unlist(Ready& ready);
    void pass_on(Ready& ready);
    bool has_to_send(std::uint32_t slot) const;
    std::uint32_t list_of(std::uint32_t port) const {
        return settings_.load_balancing == LoadBalancing::ecmp ? port : fabric_.port(port).bundle;
    }
    void feed_at(std::uint32_t node, std::uint32_t list, std::int64_t when);
    void feed(std::uint32_t node, std::uint32_t list, std::int64_t now);
    bool open_for_data(std::uint32_t port) const;
    std::uint32_t next_port(Tx const& tx, std::uint32_t node, std::uint32_t list, std::int64_t now) const;
    void send_packet(std::uint32_t slot, std::uint32_t port, std::int64_t now);
    void arm(std::uint32_t slot, std::int64_t now);
    void timed_out(std::uint32_t slot, std::int64_t now);
    bool leads_nowhere(std::uint32_t node, std::uint32_t first, Heading const& heading, std::uint32_t left,
                       std::int64_t now) const;
    bool cut_off(Tx const& tx, std::int64_t now) const;

    // node_engine_receivers.hpp
    void received(std::uint32_t node, Packet& packet, std::int64_t now);
    Rx& receiver_of(std::uint32_t process, Packet const& packet);
    bool take(Rx& rx, Packet const& packet);
    void foresee(Packet const& packet, std::int64_t arrival);
    void complete(std::uint32_t process, Packet const& packet, std::int64_t when);
    // With telemetry half of the sequence number is given up for it.
    static constexpr std::uint32_t most_packets = Transport::telemetry ? 1U << 16 : most_packet_ids;
    static std::uint32_t sequence_of(Packet const& p) {
        return Transport::telemetry ? static_cast<std::uint32_t>(p.seq_low) : p.sequence();
    }
    void received_data(std::uint32_t node, Packet& packet, std::int64_t now);
    void answer(std::uint32_t node, Rx& rx, Packet const& packet, PacketKind kind, std::uint32_t sequence,
                std::int64_t now);
    void reply(std::uint32_t node, Packet& packet, std::int64_t now);
    void acked(Packet const& packet, std::int64_t now);
    void nacked(Packet const& packet, std::int64_t now);
    void pull_next(std::uint32_t node, std::int64_t now);
    void delivered(std::uint32_t slot, std::int64_t when);
    void retire(std::uint32_t slot);

    // node_engine_figures.hpp
    OpenBin& open_bin(std::uint32_t port) override { return ports_[port].bin; }
    PortSoFar so_far(std::uint32_t port, std::int64_t at) const override;
    void begin_bin(std::uint32_t port) override { ports_[port].max_queue = ports_[port].data_bytes; }
    std::int64_t max_queue(std::uint32_t port) const {
        return std::max(meter_.max_queue(port), ports_[port].max_queue);
    }

    PacketFabric const& fabric_;
    DomainMap const& map_;
    PacketSettings settings_;
    PacketShare share_;
    Transport transport_;
    LinkChooser chooser_;
    FairTie tie_;
    MessageRule const* rule_ = nullptr;
    bool counts_ = false;  // no window and nothing lost: acknowledgements are counted, not told apart
    bool can_lose_ = false;
    bool recovers_ = false;      // flows have a Recovery
    bool in_order_ = false;      // packets are taken in order only
    bool foresees_ = false;      // packets are taken when they leave for their target, before they arrive
    bool late_ = false;          // links are chosen by load, so on arrival
    bool shares_ = false;        // buffers are shared, by ports or with thresholds that move
    std::int64_t rule_now_ = 0;  // when the source that draws its next message is done with the one before
    std::int64_t timeout_, round_trip_;
    std::int64_t quarantine_;  // ps before the slot of a finished flow is used again

    std::vector<Port> ports_;
    std::vector<Ingress> ingress_;  // by port, at the node it enters
    std::vector<Node> nodes_;
    std::vector<Ready> ready_;  // by bundle, or by port when paths are hashed
    packet_detail::WaitingPool pool_;
    std::vector<Tx> tx_;
    std::vector<Sender> senders_;                    // by slot, like tx_
    std::vector<Recovery> recovery_;                 // by slot, when recovers_
    std::vector<std::vector<Rx>> rx_;                // by process of the sender, by slot
    std::vector<std::vector<std::int64_t>> latest_;  // like rx_, when foresees_: the last arrival foreseen, ps
    std::vector<RetiredSlots> retired_;              // by process of the target
    std::vector<std::uint32_t> target_in_;           // by slot: that process
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint64_t> done_digest_;

    std::array<PacketCalendar, 2> calendars_;  // what arrives at switches and at endpoints, notices to their ports too
    ArrivalOrder at_ports_, at_endpoints_;     // by port, then by node for joint switches; by node
    std::vector<std::uint8_t> always_joint_;   // by node
    std::vector<std::vector<std::uint32_t>> ports_of_;  // by switch that may be joint or not
    std::vector<std::uint32_t> carried_, carrying_;     // ports of switches not joint that have packets to send
    std::vector<std::uint32_t> tight_, joint_;          // nodes: with a tight input; joint in this window only
    WindowLists woken_;                                 // nodes by window
    std::vector<std::uint32_t> woken_switches_, woken_endpoints_;
    std::int64_t width_ = 0, begin_ = 0, end_ = 0, window_ = 0, ran_until_ = 0;
    PacketMail mail_;
    Time earliest_sent_ = Time::infinity();
    std::vector<Delivery> deliveries_;
    PacketCounters counters_;
    std::vector<QueueHistogram> queues_;
    std::vector<std::uint16_t> class_of_;
    std::vector<LinkLoad> loads_;  // by port, with telemetry
    PortMeter meter_;
    PacketTrace trace_;
};

}  // namespace orrery

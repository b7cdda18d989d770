// SPDX-License-Identifier: Apache-2.0
// The logical process that carries one site's part of the exchanges of its domain, when sharing is delayed.
#pragma once

#include "core/lp.hpp"
#include "core/records.hpp"
#include "netmodels/exchange/domain_lp.hpp"
#include "netmodels/exchange/exchange.hpp"
#include "netmodels/exchange/exchange_rules.hpp"
#include "netmodels/exchange/site_map.hpp"
#include "netmodels/exchange/site_notices.hpp"
#include "netmodels/flow/level_book.hpp"
#include "netmodels/flow/site_flows.hpp"

#include <map>
#include <vector>

namespace orrery {

// The protocol is that of ExchangeDomain. A rank posts to every site that its exchange concerns, one launch ahead, so
// all of them begin its transfers at the same instant, each deriving from the traffic those that cross its bundles.
//
// A transfer is served by every site that owns a bundle of its route that can bind; each serves all of its bytes at the
// share that its own bundles and the last told levels of the others allow, and tells the other sites when it has. The
// transfer is over when all have: so no bundle ever passes more than its capacity, whatever a site believes of the
// others, and a belief that was too high for one notice latency cannot make a transfer end early.
class ExchangeSite final : public LogicalProcess {
  public:
    struct Setup {
        Fabric const* fabric = nullptr;
        SiteMap const* map = nullptr;
        std::vector<GroupLayout> const* layouts = nullptr;
        ExchangeTraffic* traffic = nullptr;
        TimelineSink* sink = nullptr;
        RankId first_rank;  // rank r is the LP r - first_rank
        LpId first_site;    // site s is the LP first_site + s
        CountPairs pairs = CountPairs::no;
        Time epoch, bin_width, lookahead;
        Time finish;  // the least of any operator's
    };

    ExchangeSite(SiteId site, Setup const& setup);

    void start(Outbox&) override {}
    void handle(Event const& event, Outbox& out) override;
    DigestChain digest() const override;
    void state(StateStream& stream) override;

    SiteId site() const { return me_; }
    TransferCounters const& counters() const { return counters_; }
    LinkTraffic& traffic() { return flows_; }
    // Adds the bytes that this site counted over bundles of the whole fabric, by BundleId.
    void add_bundle_bytes(std::vector<std::int64_t>& wire, std::vector<std::int64_t>& payload) const;
    void emit_pairs(TimelineSink& sink) const { pair_table_.emit(*setup_.traffic, sink); }
    // As far as this site knows: members of other sites are never in `waiting`.
    std::vector<StuckExchange> stuck() const;

  private:
    enum OwnEvent : std::uint16_t { begin_event = 32, close_event = 33, tick_event = 48, tell_event = 49 };
    // A member of the group wherever it lives.
    struct Peer {
        Time loop_end;
        std::uint32_t loop = 0;        // link of its loop
        std::uint32_t loop_flows = 0;  // transfers here that cross it
        std::int64_t loop_told = LevelBook::never;
        bool posted = false;
    };
    // A member at this site.
    struct Member {
        Time send_done, arrival;
        std::uint32_t awaited = 0;    // flags (push), and sites that have yet to serve a transfer to it
        std::uint32_t in_flight = 0;  // sites that have yet to serve a transfer of its own
        bool begun = false, told = false;
    };
    struct Instance {
        ExchangeKey key;
        ExchangePlan const* plan = nullptr;
        GroupLayout::Part const* part = nullptr;
        std::uint32_t first = 0;  // members [first, first + own.size()) live here
        std::vector<Peer> peers;
        std::vector<Member> own;
        std::vector<std::int64_t> bundle_bytes;  // per own bundle
        InstanceFacts facts;                     // last_end and payload_bytes: of this site's members only
        std::uint32_t posted = 0, begun = 0, told = 0;
        std::uint32_t own_participants = 0;
        std::uint32_t flows = 0;  // being served here
        bool open = false;

        void state(StateStream& stream) {
            stream(key, first, peers, own, bundle_bytes, facts, posted, begun, told, own_participants, flows, open);
        }
        bool holds(std::uint32_t member) const { return member - first < own.size(); }
        Member& at(std::uint32_t member) { return own[member - first]; }
        std::uint32_t members() const { return static_cast<std::uint32_t>(peers.size()); }
    };
    // At the home of an instance: what its sites have said.
    struct Gathered {
        InstanceFacts facts;
        PortBound ports;
        std::size_t parts = 0;
    };
    struct Served {
        ExchangeKey key;
        std::uint32_t source, target;
        Time when;
    };

    // The protocol (exchange_site.cpp).
    void know(Instance& instance) const;
    void post(Event const& event, Outbox& out);
    void open_loop(Instance& instance, std::uint32_t source, std::uint64_t messages, Time loop);
    void begin(std::uint32_t slot, std::uint32_t member, Outbox& out);
    void send_all(std::uint32_t slot, std::uint32_t source);
    void read_all(std::uint32_t slot, std::uint32_t target);
    void begin_transfer(std::uint32_t slot, std::uint32_t source, std::uint32_t target, std::uint32_t messages,
                        Route const& route);
    void tick(Outbox& out);
    void serve(TransferDone const& done, Outbox& out);
    void note_served(std::uint32_t slot, std::uint32_t source, std::uint32_t target, Time when, Route const& route,
                     Outbox& out);
    void tell_if_over(std::uint32_t slot, std::uint32_t member, Outbox& out);
    void close_if_over(std::uint32_t slot, Outbox& out);
    PortBound charge_ports(Instance& instance);
    std::uint32_t instance_of(ExchangeKey key);
    void want_tick(Outbox& out);
    Route route(ExchangeKey key, std::uint32_t source, std::uint32_t target) const;
    RankId rank_of(ExchangeKey key, std::uint32_t member) const {
        return RankId{setup_.traffic->first_rank(key.group).value() + member};
    }
    Time flag_leaves(Instance const& instance, std::uint32_t source, std::uint32_t target) const {
        return orrery::flag_leaves(*instance.plan, instance.peers[source].loop_end, instance.members(), source, target);
    }

    // What sites tell each other (exchange_site_notices.cpp).
    void announce_all(std::uint32_t slot, Outbox& out);
    void hear_begins(Event const& event, Outbox& out);
    void want_tell(Outbox& out);
    void tell(Outbox& out);
    void tell_levels(std::uint32_t peer, Time arrival, Outbox& out);
    void tell_served(std::uint32_t peer, Time arrival, Outbox& out);
    void tell_loops(Time arrival, Outbox& out);
    void hear_levels(Event const& event, Outbox& out);
    void hear_loop(Event const& event, Outbox& out);
    void hear_served(Event const& event, Outbox& out);
    void send_part(Instance& instance, Outbox& out);
    void hear_part(Event const& event, Outbox& out);
    void hear_instance(Event const& event, Outbox& out);
    void emit_row(ExchangeKey key);
    void send(SiteId site, SiteNotice kind, std::array<std::uint64_t, 5> const& body, Outbox& out);
    LpId lp_of(SiteId site) const { return LpId{setup_.first_site.value() + site.value()}; }
    SiteId sender_of(Event const& event) const { return SiteId{event.source.value() - setup_.first_site.value()}; }

    Setup setup_;
    SiteId me_;
    SiteMap::Site const* site_;
    SiteFlows flows_;
    LevelBook book_;
    Time now_;  // of the event being handled

    std::vector<Instance> instances_;  // slots, reused
    std::map<ExchangeKey, std::uint32_t> open_;
    std::map<ExchangeKey, Gathered> gathered_;  // as the home of an instance
    std::map<ExchangeKey, Gathered> over_;      // as the home of the domain
    std::vector<std::vector<Served>> untold_;   // per peer
    PairTable pair_table_;
    std::vector<std::int64_t> bundle_bytes_, bundle_payload_;  // per own bundle
    struct Carried {
        std::int64_t wire = 0, payload = 0;
    };
    std::map<BundleId, Carried> elsewhere_;  // of bundles whose owner does not serve the transfer
    TransferCounters counters_;
    DigestChain digest_;
    Time tick_at_ = Time::infinity();
    Time next_tell_;  // at most one batch of notices per notice latency
    bool tell_wanted_ = false;
    std::uint32_t collectives_ = 0;
    std::vector<TransferDone> done_;              // scratch
    std::vector<ExchangeTraffic::Share> shares_;  // scratch
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The exchanges of one domain: the protocol of the operators.
#pragma once

#include "core/records.hpp"
#include "netmodels/exchange/domain_lp.hpp"
#include "netmodels/exchange/exchange.hpp"
#include "netmodels/exchange/exchange_rules.hpp"
#include "netmodels/exchange/layout.hpp"

#include <map>
#include <vector>

namespace orrery {

// Push (FusedDispatch, FusedCombine; all-to-all-v): member i posts; its messages leave; after its loop it raises one
// flag per peer, in rounds over its cores, ordered behind its data to that peer. Member j is done when the flags of
// all members have arrived and its own sends are gone.
// Pull (XCCL dispatch and combine, arXiv:2508.02520 sec. 3.2): member i prepares its blocks and announces them to every
// peer; member j reads from everybody once all announcements have reached it.
class ExchangeDomain final : public DomainProtocol {
  public:
    // `layouts` and `traffic` outlive the domain. Rank r is the LP r - first_rank.
    ExchangeDomain(DomainLp& domain, std::vector<GroupLayout> const& layouts, ExchangeTraffic& traffic,
                   RankId first_rank, CountPairs pairs);

    std::vector<std::uint16_t> event_kinds() const override { return {exchange_post, begin_event, close_event}; }
    void handle(Event const& event, Outbox& out) override;
    void transfer_done(TransferDone const& done, Outbox& out) override;
    void state(StateStream& stream) override;

    void emit_pairs(TimelineSink& sink) const { pair_table_.emit(*traffic_, sink); }

    std::vector<StuckExchange> stuck() const;

  private:
    enum OwnEvent : std::uint16_t { begin_event = 32, close_event = 33 };
    struct Member {
        Time loop_end, send_done, arrival;
        std::uint32_t awaited = 0;    // members whose flag (push) or data (pull) has not arrived
        std::uint32_t in_flight = 0;  // own transfers
        std::uint32_t engine = TransferEngine::no_engine;
        bool posted = false, begun = false, told = false;
    };
    struct Instance {
        ExchangeKey key;
        ExchangePlan const* plan = nullptr;
        GroupLayout::Part const* part = nullptr;
        std::vector<Member> members;
        std::vector<std::int64_t> bundle_bytes;  // per local bundle
        InstanceFacts facts;
        std::uint32_t posted = 0, told = 0;
        bool open = false;
        void state(StateStream& stream) { stream(key, members, bundle_bytes, facts, posted, told, open); }
    };

    void know(Instance& instance) const;
    void post(Event const& event, Outbox& out);
    void begin(std::uint32_t slot, std::uint32_t member, Time now, Outbox& out);
    void send_all(std::uint32_t slot, std::uint32_t source, Time now);
    void read_all(std::uint32_t slot, std::uint32_t target, Time now);
    void announce_all(std::uint32_t slot, Time now, Outbox& out);
    void start_transfer(std::uint32_t slot, std::uint32_t source, std::uint32_t target, std::uint32_t messages,
                        Route const& way, Time now);
    void tell_if_over(std::uint32_t slot, std::uint32_t index, Outbox& out);
    void close(Event const& event);
    PortBound charge_ports(Instance& instance);
    std::uint32_t instance_of(ExchangeKey key);
    // When the sender has raised its flag (or announcement) for that peer.
    static Time flag_leaves(Instance const& instance, std::uint32_t source, std::uint32_t target);
    void release_engine(Member& member);
    RankId rank_of(Instance const& instance, std::uint32_t member) const;
    Route route(Instance const& instance, std::uint32_t source, std::uint32_t target) const;

    DomainLp* domain_;
    std::vector<GroupLayout> const* layouts_;
    ExchangeTraffic* traffic_;
    RankId first_rank_;
    CountPairs pairs_;

    std::vector<Instance> instances_;  // slots, reused
    std::map<ExchangeKey, std::uint32_t> open_;
    PairTable pair_table_;
    std::vector<ExchangeTraffic::Share> shares_;  // scratch
};

}  // namespace orrery

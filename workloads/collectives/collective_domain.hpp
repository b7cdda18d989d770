// SPDX-License-Identifier: Apache-2.0
// The collectives of one domain: the steps of their members, and the transfers of those that cross the domain.
#pragma once

#include "core/records.hpp"
#include "netmodels/exchange/bundle_tally.hpp"
#include "netmodels/exchange/collective_events.hpp"
#include "netmodels/exchange/domain_lp.hpp"
#include "netmodels/exchange/message_timing.hpp"
#include "workloads/collectives/collective_book.hpp"

#include <map>
#include <string>
#include <vector>

namespace orrery {

// Ranks only join a collective and are told that it is over; the members' steps are made here, a message being no
// event but an entry in the batch of its instant. Where a group spans several domains, each of them runs the steps of
// all members (they are a function of the same joins and arrivals) and starts the transfers that cross it; it tells the
// others of each arrival one lookahead after it knows of it.
//
// An arrival is known when its last byte has left, one latency ahead. Steps are counted at that moment, so that what
// follows from an arrival is known ahead of it as well; what begins, begins at its time.
class CollectiveDomain final : public DomainProtocol {
  public:
    // The book outlives the domain.
    CollectiveDomain(DomainLp& domain, LpId self, CollectiveBook& book, MessageTiming const& timing)
        : domain_(&domain), self_(self), book_(&book), timing_(timing) {}

    std::vector<std::uint16_t> event_kinds() const override {
        return {collective_join, collective_arrival, begin_event, close_event};
    }
    void handle(Event const& event, Outbox& out) override;
    void transfer_done(TransferDone const& done, Outbox& out) override;
    void state(StateStream& stream) override;

    // Sentences about what is open, for the report of a run that could not finish.
    std::vector<std::string> stuck() const;

  private:
    enum OwnEvent : std::uint16_t { begin_event = 34, close_event = 35 };
    struct Member {
        Time end;  // so far
        std::uint32_t lanes_left = 0;
        std::uint32_t task = 0;
        bool joined = false;
    };
    // Where a member is in a lane.
    struct Lane {
        Time ready;              // the latest of the arrivals of this step that are known, no earlier than its begin
        std::uint32_t step = 0;  // the plan's steps(): the lane is over
        std::uint32_t left = 0;  // sends and receives of the step whose arrival is not known
        enum class Phase : std::uint8_t { idle, held, begun, over } phase{};  // held: for the lane it follows
    };
    // Arrivals for a step that the receiver has not begun.
    struct Early {
        std::uint32_t count = 0;
        Time latest;
    };
    struct Instance {
        std::uint32_t collective = 0;
        bool open = false;
        std::uint32_t joined = 0, told = 0;
        Time first_start = Time::infinity(), last_start, last_end;
        Time least_latency = Time::infinity();  // of its transfers here
        std::int64_t payload_bytes = 0;         // here
        std::vector<Member> members;
        std::vector<Lane> lanes;               // [member][lane]
        std::map<std::uint64_t, Early> early;  // by (member, lane, step)
        std::map<std::uint64_t, Time> passed;  // when a step was over, for the lane that follows
        BundleTally bundles;                   // of the domain
        CollectiveCourse const* course = nullptr;
        void state(StateStream& stream) {
            stream(collective, open, joined, told, first_start, last_start, last_end, least_latency, payload_bytes,
                   members, lanes, early, passed, bundles);
        }
    };
    // A message: from where to where, and for which step.
    struct Hop {
        std::uint32_t slot = 0, source = 0, target = 0, lane = 0, step = 0;
    };
    struct Transfer {
        Hop hop;
        std::int64_t payload = 0;
        Time latency;
    };
    struct Begin {
        std::uint32_t slot = 0, member = 0, lane = 0, step = 0;
        std::uint32_t sends = 0;  // of the batch's, in order
    };
    // What begins at one instant.
    struct Batch {
        std::vector<Begin> begins;
        std::vector<Send> sends;
        void state(StateStream& stream) { stream(begins, sends); }
    };

    void join(Event const& event, Outbox& out);
    void hear(Event const& event, Outbox& out);
    void begin_batch(Time now, Outbox& out);
    void close(Event const& event);
    std::uint32_t instance_of(std::uint32_t collective);
    // The member begins its current step of the lane no earlier than `at`, unless another lane holds it.
    void enter(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time at, Outbox& out);
    bool held(Instance& instance, std::uint32_t member, std::uint32_t lane, Time& at);
    void begin_step(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time at, Outbox& out);
    void send(Begin const& begin, Send const& message, Time now, Outbox& out);
    void know(Hop const& hop, Time arrival, Outbox& out);
    void know_sent(Hop const& hop, Time arrival, Outbox& out);
    void know_received(Hop const& hop, Time arrival, Outbox& out);
    void count(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Time arrival, Outbox& out);
    void pass(std::uint32_t slot, std::uint32_t member, std::uint32_t lane, Outbox& out);
    void tell(std::uint32_t slot, std::uint32_t member, Outbox& out);
    CollectiveRow row_of(Instance& instance);
    Lane& lane_of(Instance& instance, std::uint32_t member, std::uint32_t lane) const {
        return instance.lanes[static_cast<std::size_t>(member) * instance.course->plan().lanes() + lane];
    }
    std::uint64_t key(Instance const& instance, std::uint32_t member, std::uint32_t lane, std::uint32_t step) const {
        return (static_cast<std::uint64_t>(member) * instance.course->plan().lanes() + lane) << 32 | step;
    }
    bool tells(Instance const& instance) const { return instance.course->carriers.front() == self_; }

    DomainLp* domain_;
    LpId self_;
    CollectiveBook* book_;
    MessageTiming timing_;
    std::vector<Instance> instances_;              // slots, reused
    std::map<std::uint32_t, std::uint32_t> open_;  // collective -> slot
    std::vector<Transfer> transfers_;              // slots, reused
    std::vector<std::uint32_t> free_transfers_;
    std::map<Time, Batch> batches_;
    std::vector<Batch> spare_;  // emptied ones
    SendList sends_;            // scratch
};

}  // namespace orrery

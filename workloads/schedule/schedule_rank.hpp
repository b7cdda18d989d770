// SPDX-License-Identifier: Apache-2.0
// The logical process of one simulated rank that runs its tasks of a schedule.
#pragma once

#include "core/lp.hpp"
#include "core/records.hpp"
#include "workloads/schedule/message_ends.hpp"
#include "workloads/schedule/schedule_world.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

class ScheduleRank final : public LogicalProcess {
  public:
    // The world outlives the rank.
    ScheduleRank(std::uint32_t rank, ScheduleWorld const& world, TimelineSink& sink);

    void start(Outbox& out) override;
    void handle(Event const& event, Outbox& out) override;
    DigestChain digest() const override { return digest_; }
    void state(StateStream& stream) override;

    bool finished() const { return over_ == program_.tasks().size(); }
    Time finished_at() const { return finished_at_; }
    std::uint32_t rank() const { return rank_; }
    // "rank 5 is in receive (task 7) from rank 3, tag 0, since 12 us": for a run that could not finish.
    std::string waiting_for() const;

  private:
    enum OwnEvent : std::uint16_t { begin_program = 1, compute_over = 2, wake = 3 };
    enum class Phase : std::uint8_t { waiting, ready, running, over };
    struct Successor {
        std::uint32_t task = 0;
        After after{};
    };
    struct Progress {
        std::uint32_t waits = 0;  // dependencies that do not hold yet
        Phase phase{};
        Time started, computed_at_start;
    };
    // Tasks of one stream that may start: a heap, the lowest index in front.
    struct Stream {
        std::uint16_t number = 0;
        bool busy = false;
        std::vector<std::uint32_t> ready;
        void state(StateStream& stream) { stream(number, busy, ready); }
    };

    void link_tasks();
    void find_streams();
    Stream* stream_of(std::uint32_t task);
    void advance(Time now, Outbox& out);
    void release(std::uint32_t task, Time now, Outbox& out);
    void signal(std::uint32_t task, After after);
    void begin(std::uint32_t task, Time now, Outbox& out);
    void begin_send(std::uint32_t task, Time now, Outbox& out);
    void begin_receive(std::uint32_t task, Time now);
    void begin_collective(std::uint32_t task, Time now, Outbox& out);
    void arrive(std::uint32_t source, std::uint32_t tag, MessageEnds::Arrival const& arrival, Time now);
    // `waited_until`: what the task waited for had not begun before.
    void end(std::uint32_t task, Time now, Time waited_until);
    void record(std::uint32_t task, Time end, Time wait);
    OpKind kind_of_task(std::uint32_t task) const;
    Time computed_until(Time now) const { return computing_ > 0 ? computed_ + (now - computing_since_) : computed_; }
    std::uint32_t tasks() const { return static_cast<std::uint32_t>(program_.tasks().size()); }

    std::uint32_t rank_;
    ScheduleWorld const* world_;
    TimelineSink* sink_;
    RankProgram program_;
    std::vector<std::uint32_t> first_successor_;  // per task, into successors_; one more at the end
    std::vector<Successor> successors_;

    std::vector<Progress> progress_;
    std::vector<Stream> streams_;  // in order of their numbers
    MessageEnds ends_;
    std::uint32_t over_ = 0;
    std::uint32_t computing_ = 0;  // compute tasks that run
    Time computing_since_, computed_;
    Time finished_at_;
    std::uint32_t sequence_ = 0;
    DigestChain digest_;
    std::vector<std::uint32_t> freed_;  // tasks whose last dependency has come to hold; empty between events
};

}  // namespace orrery

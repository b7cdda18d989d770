// SPDX-License-Identifier: Apache-2.0
// A workload as a graph of tasks per rank: computing, messages from rank to rank, and collectives of groups.
#pragma once

#include "core/records.hpp"
#include "core/units.hpp"
#include "workloads/collectives/shape.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

enum class TaskKind : std::uint8_t { compute, send, receive, collective };

// A task starts when everything it depends on is over (or has started), simulated time has come to not_before, and its
// stream is free. It is over: compute, a duration after its start; a send and the receive that it meets, when the last
// byte of the message has arrived; a collective, when this rank's part of it is done.
struct ScheduleTask {
    // Of tasks that hold no stream: they start as soon as they may, any number at once.
    static constexpr std::uint16_t no_stream = 0xffff;

    TaskKind kind{};
    std::uint16_t stream = no_stream;  // one task at a time; of those that may start, the one of lowest index
    std::uint32_t label = 0;           // into Schedule::labels()
    std::uint32_t peer = 0;            // send, receive: a rank of the schedule; collective: its number in the schedule
    std::uint32_t tag = 0;             // send, receive: messages of one source, target and tag meet in order of start
    std::int64_t bytes = 0;            // send; receive: the same, or unknown_bytes
    Time duration;                     // compute
    Time not_before;                   // since the start of the run

    static constexpr std::int64_t unknown_bytes = -1;
};

enum class After : std::uint8_t { end, start };
struct Dependency {
    std::uint32_t task = 0;
    After after = After::end;
    friend auto operator<=>(Dependency const&, Dependency const&) = default;
};

// What one rank does: tasks, and for each of them what it waits for.
class RankProgram {
  public:
    std::span<ScheduleTask const> tasks() const { return tasks_; }
    std::span<Dependency const> dependencies(std::uint32_t task) const {
        auto const first = first_[task];
        return std::span{dependencies_}.subspan(first, first_[task + 1] - first);
    }
    // For those who number ranks, collectives or labels anew.
    template <class Change>
    void change_tasks(Change const& change) {
        for (auto& task : tasks_) change(task);
    }

  private:
    friend class ProgramBuilder;
    std::vector<ScheduleTask> tasks_;
    std::vector<std::uint32_t> first_ = {0};  // per task, into dependencies_; one more at the end
    std::vector<Dependency> dependencies_;
};

// Tasks and dependencies in any order of arrival; a dependency may name a task that is yet to come.
class ProgramBuilder {
  public:
    // The number of the task, counted from 0.
    std::uint32_t add(ScheduleTask const& task) {
        tasks_.push_back(task);
        return static_cast<std::uint32_t>(tasks_.size() - 1);
    }
    void require(std::uint32_t task, std::uint32_t on, After after = After::end) {
        edges_.push_back({task, {on, after}});
    }
    ScheduleTask& task(std::uint32_t number) { return tasks_[number]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(tasks_.size()); }
    // Repeated dependencies become one. Dangling ones are kept for problems_of() to name; those *of* a task that does
    // not exist are an InternalError. Leaves the builder empty.
    RankProgram build();

  private:
    struct Edge {
        std::uint32_t task = 0;
        Dependency on;
        friend auto operator<=>(Edge const&, Edge const&) = default;
    };
    std::vector<ScheduleTask> tasks_;
    std::vector<Edge> edges_;
};

// One collective of a group. Every member has exactly one task that names it.
struct CollectiveSpec {
    std::uint32_t group = 0;
    CollectiveOp op{};
    std::int64_t bytes = 0;                       // as CollectiveShape counts them
    std::uint32_t root = 0;                       // member number
    std::string algorithm;                        // by name; empty: chosen
    std::string protocol;                         // likewise
    std::shared_ptr<PairBytes const> pair_bytes;  // all-to-all-v only, by member numbers
};

// The row of the timeline that an operation becomes: the kinds stand in the order of the operations.
constexpr OpKind kind_of(CollectiveOp op) {
    return static_cast<OpKind>(static_cast<std::uint8_t>(OpKind::all_reduce) + static_cast<std::uint8_t>(op));
}
static_assert(kind_of(CollectiveOp::barrier) == OpKind::barrier);

// A source of programs. Pure: any process asks for any rank, in any order, any number of times, and gets the same; a
// program is held only where its rank lives.
class Schedule {
  public:
    virtual ~Schedule() = default;
    virtual std::uint32_t ranks() const = 0;
    virtual RankProgram program(std::uint32_t rank) const = 0;
    virtual std::uint32_t group_count() const = 0;
    // Ranks of the schedule, in the order in which they are members; any subset.
    virtual std::span<std::uint32_t const> group(std::uint32_t number) const = 0;
    virtual std::uint32_t collective_count() const = 0;
    // By value: a schedule by rule holds no list of them.
    virtual CollectiveSpec collective(std::uint32_t number) const = 0;
    // What tasks are called, for people; label 0 is the empty one.
    virtual std::span<std::string const> labels() const = 0;
};

// A schedule that is held whole: what importers make.
class StoredSchedule final : public Schedule {
  public:
    StoredSchedule() = default;
    explicit StoredSchedule(std::uint32_t ranks) : programs(ranks) {}

    std::uint32_t ranks() const override { return static_cast<std::uint32_t>(programs.size()); }
    RankProgram program(std::uint32_t rank) const override { return programs[rank]; }
    std::uint32_t group_count() const override { return static_cast<std::uint32_t>(groups.size()); }
    std::span<std::uint32_t const> group(std::uint32_t number) const override { return groups[number]; }
    std::uint32_t collective_count() const override { return static_cast<std::uint32_t>(collectives.size()); }
    CollectiveSpec collective(std::uint32_t number) const override { return collectives[number]; }
    std::span<std::string const> labels() const override { return label_names; }

    std::vector<RankProgram> programs;
    std::vector<std::vector<std::uint32_t>> groups;
    std::vector<CollectiveSpec> collectives;
    std::vector<std::string> label_names = {""};
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What waits for what in a whole schedule, over messages and collectives too, and the shortest circle in it.
#pragma once

#include "workloads/schedule/schedule.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// Nodes and what each of them waits for.
class WaitGraph {
  public:
    explicit WaitGraph(std::uint32_t nodes) : first_(nodes + 1, 0) {}
    void wait(std::uint32_t node, std::uint32_t on) { edges_.push_back({node, on}); }
    // To be called once, after the last wait().
    void close();

    std::uint32_t nodes() const { return static_cast<std::uint32_t>(first_.size() - 1); }
    std::span<std::uint32_t const> waits(std::uint32_t node) const {
        return std::span{on_}.subspan(first_[node], first_[node + 1] - first_[node]);
    }

  private:
    struct Edge {
        std::uint32_t node = 0, on = 0;
    };
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> first_, on_;
};

// The shortest circle of nodes, each waiting for the one before it in the list; empty where there is none. Beyond some
// 10^8 steps of search it is a circle, perhaps not the shortest.
std::vector<std::uint32_t> shortest_circle(WaitGraph const& graph);

struct TaskOfRank {
    std::uint32_t rank = 0, task = 0;
    friend auto operator<=>(TaskOfRank const&, TaskOfRank const&) = default;
};

// A receive that needs this send: both ends of one message.
struct MatchedMessage {
    TaskOfRank send, receive;
};

// Tasks that wait for each other in a circle: by dependencies, by messages that are sent only after what they make
// possible, and by collectives whose members come in different orders. Streams are left out: their order is known when
// the schedule runs. Peers, collectives and dependencies must exist.
std::vector<TaskOfRank> deadlock_of(Schedule const& schedule, std::span<RankProgram const> programs,
                                    std::span<MatchedMessage const> messages);

}  // namespace orrery

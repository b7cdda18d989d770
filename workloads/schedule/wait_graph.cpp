// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/wait_graph.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Nodes that can be taken away one after the other because they wait for nothing that is left lie on no circle.
std::vector<std::uint8_t> tangled_nodes(WaitGraph const& graph) {
    auto const count = graph.nodes();
    std::vector<std::uint32_t> open(count, 0), first(count + 1, 0);
    for (std::uint32_t node = 0; node < count; ++node)
        for (auto const on : graph.waits(node)) ++first[on + 1];
    for (std::uint32_t node = 0; node < count; ++node) first[node + 1] += first[node];
    std::vector<std::uint32_t> waiters(first[count]), ready;
    auto next = first;
    for (std::uint32_t node = 0; node < count; ++node) {
        open[node] = static_cast<std::uint32_t>(graph.waits(node).size());
        for (auto const on : graph.waits(node)) waiters[next[on]++] = node;
        if (open[node] == 0) ready.push_back(node);
    }
    std::vector<std::uint8_t> tangled(count, 1);
    while (!ready.empty()) {
        auto const node = ready.back();
        ready.pop_back();
        tangled[node] = 0;
        for (auto i = first[node]; i < first[node + 1]; ++i)
            if (--open[waiters[i]] == 0) ready.push_back(waiters[i]);
    }
    return tangled;
}

}  // namespace

void WaitGraph::close() {
    for (auto const& edge : edges_) ++first_[edge.node + 1];
    for (std::size_t node = 1; node < first_.size(); ++node) first_[node] += first_[node - 1];
    on_.resize(edges_.size());
    auto next = first_;
    for (auto const& edge : edges_) on_[next[edge.node]++] = edge.on;
    edges_ = {};
}

// A breadth-first search from every node that may lie on a circle; each ends where it can only find longer ones.
std::vector<std::uint32_t> shortest_circle(WaitGraph const& graph) {
    auto const tangled = tangled_nodes(graph);
    constexpr std::uint32_t unseen = 0xffffffff;
    std::vector<std::uint32_t> cause(graph.nodes(), unseen), level(graph.nodes(), 0), queue, best;
    std::int64_t steps = 100'000'000;
    for (std::uint32_t root = 0; root < graph.nodes(); ++root) {
        if (tangled[root] == 0 || (steps < 0 && !best.empty())) continue;
        for (auto const node : queue) cause[node] = unseen;
        queue.assign(1, root);
        level[root] = 0;
        bool closed = false;
        for (std::size_t i = 0; i < queue.size() && !closed; ++i) {
            auto const node = queue[i];
            if (!best.empty() && level[node] + 1 >= best.size()) break;
            for (auto const on : graph.waits(node)) {
                --steps;
                if (on == root) {
                    best.clear();
                    for (auto at = node; at != root; at = cause[at]) best.push_back(at);
                    best.push_back(root);
                    closed = true;
                    break;
                }
                if (tangled[on] == 0 || cause[on] != unseen) continue;
                cause[on] = node;
                level[on] = level[node] + 1;
                queue.push_back(on);
            }
        }
        if (best.size() == 1) break;
    }
    std::rotate(best.begin(), std::min_element(best.begin(), best.end()), best.end());
    return best;
}

// Each task is two nodes, its start and its end: others may wait for either.
std::vector<TaskOfRank> deadlock_of(Schedule const& schedule, std::span<RankProgram const> programs,
                                    std::span<MatchedMessage const> messages) {
    std::vector<std::uint32_t> first = {0};
    for (auto const& program : programs)
        first.push_back(first.back() + 2 * static_cast<std::uint32_t>(program.tasks().size()));
    auto const start = [&](TaskOfRank const& at) { return first[at.rank] + 2 * at.task; };
    auto const end = [&](TaskOfRank const& at) { return start(at) + 1; };

    WaitGraph graph(first.back() + schedule.collective_count());
    for (std::uint32_t rank = 0; rank < programs.size(); ++rank) {
        auto const& program = programs[rank];
        for (std::uint32_t task = 0; task < program.tasks().size(); ++task) {
            graph.wait(end({rank, task}), start({rank, task}));
            for (auto const& on : program.dependencies(task))
                graph.wait(start({rank, task}), on.after == After::end ? end({rank, on.task}) : start({rank, on.task}));
            if (program.tasks()[task].kind != TaskKind::collective) continue;
            auto const all = first.back() + program.tasks()[task].peer;
            graph.wait(end({rank, task}), all);
            graph.wait(all, start({rank, task}));
        }
    }
    for (auto const& message : messages) graph.wait(end(message.receive), start(message.send));
    graph.close();

    std::vector<TaskOfRank> circle;
    for (auto const node : shortest_circle(graph)) {
        if (node >= first.back()) continue;
        auto const rank =
            static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), node) - first.begin() - 1);
        TaskOfRank const at{rank, (node - first[rank]) / 2};
        if (circle.empty() || circle.back() != at) circle.push_back(at);
    }
    if (circle.size() > 1 && circle.front() == circle.back()) circle.pop_back();
    return circle;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/schedule.hpp"

#include <algorithm>

namespace orrery {

RankProgram ProgramBuilder::build() {
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    RankProgram program;
    program.tasks_ = std::move(tasks_);
    program.dependencies_.reserve(edges_.size());
    program.first_.assign(program.tasks_.size() + 1, 0);
    for (auto const& edge : edges_) {
        ORRERY_ENSURE(edge.task < program.tasks_.size(), "a dependency of task {} and there are {} tasks", edge.task,
                      program.tasks_.size());
        ++program.first_[edge.task + 1];
        program.dependencies_.push_back(edge.on);
    }
    for (std::size_t task = 1; task < program.first_.size(); ++task) program.first_[task] += program.first_[task - 1];
    tasks_.clear();
    edges_.clear();
    return program;
}

}  // namespace orrery

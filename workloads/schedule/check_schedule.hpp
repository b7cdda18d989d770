// SPDX-License-Identifier: Apache-2.0
// Whether a schedule can run: said before the run, as sentences.
#pragma once

#include "workloads/schedule/schedule.hpp"

namespace orrery {

// How a message calls a task: a reader of a file knows better than "task 7 of rank 3".
class TaskNames {
  public:
    virtual ~TaskNames() = default;
    virtual std::string name(std::uint32_t rank, std::uint32_t task) const;
};

// Dangling ids, peers and groups that do not exist, circles of waiting, over messages and collectives too (the shortest
// one), sends without a receive and the other way round, lengths that differ, members without their task. At most
// `most` problems; empty: it can run. Pairs are matched by count and by order of index, the order in which tasks
// without other reasons start.
std::vector<std::string> problems_of(Schedule const& schedule, TaskNames const& names = {}, std::size_t most = 20);

// Throws one InputError that lists them.
void validate(Schedule const& schedule, TaskNames const& names = {});

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// One process pretends to be N: most tests of several processes need no mpirun.
#pragma once

#include "core/exchange.hpp"
#include "core/window_loop.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace orrery {

// The shared notice board of N exchanges that one thread steps in turn: all post, then all collect.
class DryRun {
  public:
    explicit DryRun(std::uint32_t count);
    ~DryRun();
    std::uint32_t count() const { return count_; }
    Exchange& exchange(std::uint32_t index);

    // Steps the loops (one per exchange, in order) until all are done. Deterministic: no threads.
    template <class Loop>
    std::vector<RunOutcome> run(std::span<std::unique_ptr<Loop> const> loops) {
        for (auto const& loop : loops) loop->begin();
        for (bool more = true; more;) {
            more = false;
            for (auto const& loop : loops) more = loop->advance() || more;
        }
        std::vector<RunOutcome> outcomes;
        for (auto const& loop : loops) outcomes.push_back(loop->outcome());
        return outcomes;
    }

  private:
    class View;
    // Two rounds, because the first process posts round k+1 before the last has collected round k.
    struct Round {
        std::vector<std::vector<Event>> mail;  // by target
        WindowReport all;
        Failure failure;
        std::uint32_t posted = 0;
    };
    std::uint32_t count_;
    std::array<Round, 2> rounds_;
    std::vector<std::unique_ptr<View>> views_;
};

}  // namespace orrery

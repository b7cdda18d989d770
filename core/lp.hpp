// SPDX-License-Identifier: Apache-2.0
// A logical process: the smallest unit that owns state, and all it may do to the outside.
#pragma once

#include "core/digest.hpp"
#include "core/event.hpp"
#include "core/state.hpp"

namespace orrery {

// What an LP may do while it handles an event. The window loop implements it.
class Outbox {
  public:
    virtual ~Outbox() = default;
    // Schedules an event for the sender itself, at `when` >= now.
    virtual void schedule(Time when, std::uint16_t kind, std::array<std::uint64_t, 5> const& body) = 0;
    // Sends an event to another LP. `when` must be at least now + lookahead: checked in release builds too, because
    // it is what makes the answer independent of the number of processes.
    virtual void send(LpId target, Time when, std::uint16_t kind, std::array<std::uint64_t, 5> const& body) = 0;
};

// Events of one LP arrive in the total order of core/event.hpp. State must be a function of those events only.
class LogicalProcess {
  public:
    virtual ~LogicalProcess() = default;
    // Called once at time zero before any event, to schedule the first ones.
    virtual void start(Outbox& out) = 0;
    virtual void handle(Event const& event, Outbox& out) = 0;
    virtual DigestChain digest() const = 0;
    // Saves what handle() may have changed, or restores it into an LP that was built alike and has seen no event.
    virtual void state(StateStream& stream) = 0;
};

}  // namespace orrery

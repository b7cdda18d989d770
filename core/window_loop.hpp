// SPDX-License-Identifier: Apache-2.0
// The main loop of one process: handles the events of its LPs window by window, in step with the other processes.
#pragma once

#include "core/event_queue.hpp"
#include "core/exchange.hpp"
#include "core/lp.hpp"
#include "core/window.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct LocalLp {
    LpId id;
    LogicalProcess* process = nullptr;  // not owned
};

struct WindowOptions {
    Time lookahead;                          // promised by the model; at least 1 ps
    Time width;                              // of a window, at most the lookahead; zero: the lookahead
    Time until = Time::infinity();           // events at or after it are not handled
    std::int64_t stuck_limit = 100'000'000;  // events of one LP at one instant before the run is called stuck
    std::function<std::string(LpId)> name;   // of an LP, for people; may be empty
};

// What the hook sees, once per window on every process.
struct WindowStatus {
    Window window;                  // the one just handled; index -1 before the first
    WindowReport all;               // as combined before it: the same on every process
    std::int64_t windows = 0;       // handled so far
    std::int64_t events = 0;        // handled so far by all processes, this window not yet included
    std::int64_t local_events = 0;  // handled so far by this process
    std::int64_t pending = 0;       // events that this process holds
    double busy_seconds = 0;        // of this process so far, as in RunOutcome
    double sync_seconds = 0;
};

// How far all processes have come together: what a run that goes on continues to count from.
struct LoopProgress {
    std::int64_t windows = 0, events = 0;
    Time last;  // of the events handled
};

// The place for heartbeats, limits and signals.
class WindowHook {
  public:
    struct Request {
        std::uint32_t flags = 0;  // window_flag bits to raise
        std::int64_t load = 0;    // summed over processes into WindowReport::load
    };
    virtual ~WindowHook() = default;
    virtual Request at_window(WindowStatus const& status) = 0;
    // All processes know of these flags and stand at the same window boundary with nothing in flight.
    virtual void agreed(WindowReport const& all) { static_cast<void>(all); }
};

enum class StopReason : std::uint8_t {
    finished,  // no events are left
    until,     // WindowOptions::until was reached
    stop,      // window_flag::stop
    walltime,  // window_flag::walltime
    memory,    // window_flag::memory
};
char const* name_of(StopReason);

struct RunOutcome {
    std::int64_t windows = 0;       // the same on every process, for every number of processes
    std::int64_t events = 0;        // handled by all processes
    std::int64_t local_events = 0;  // handled by this process
    Time last;                      // time of the last event handled by any process
    StopReason reason = StopReason::finished;
    double busy_seconds = 0;  // wall clock of this process inside its LPs and its queue
    double sync_seconds = 0;  // wall clock of this process waiting for the others
};

// Tasks of window k:  H(k) handle local events   X(k) exchange what H(k) sent   M(k) merge arrivals   J(k) jump
//   H(k) before X(k);  X(k) before M(k);  M(k) and J(k) before H(k+1)
// An event sent in H(k) is at least one lookahead later than its cause, so not before the end of window k: when H(k+1)
// starts, every event of window k+1 has been merged. LPs are therefore independent inside a window, and what one of
// them sees is the total order of core/event.hpp restricted to it, whoever owns the others. J(k) moves to the window
// of the earliest event left anywhere; it is computed from reduced values, so every process jumps alike.
// On return every event before `until` is handled on every process and nothing is in flight.
//
// `Order` exists so that a test can remove the tie-break and watch the digests part; everything else uses WindowLoop.
template <class Order>
class BasicWindowLoop final : private Outbox {
  public:
    // owner[lp] is the process of every LP of the whole model; `local` lists exactly those of exchange.index().
    BasicWindowLoop(WindowOptions options, std::vector<LocalLp> local, std::span<std::uint32_t const> owner,
                    Exchange& exchange, WindowHook* hook = nullptr);

    // Runs to the end. When an LP on any process throws, every process leaves after that window and throws the same
    // error here: InputError, IncompleteError, std::bad_alloc or InternalError.
    RunOutcome run();

    // The same in steps, for a driver that holds several loops in one process (partitions/dry_run_exchange.hpp):
    // begin(), then advance() until it returns false, then outcome().
    void begin();
    bool advance();

    // Saves every local LP with its pending events, under its id. Only where nothing is in flight: inside
    // WindowHook::agreed(), or when advance() has returned false.
    void save(StateSaver& saver);
    LoopProgress progress() const { return {outcome_.windows, outcome_.events, outcome_.last}; }
    // Instead of begin(): goes on where save() was called, with the LPs dealt to processes in any other way.
    void begin_from(StateSource& source, LoopProgress const& progress);
    RunOutcome const& outcome() const { return outcome_; }

  private:
    static constexpr std::uint32_t remote = 0xffffffff;
    struct Local {
        LogicalProcess* process = nullptr;
        LpId id;
        std::uint32_t sequence = 0;
    };

    void schedule(Time when, std::uint16_t kind, std::array<std::uint64_t, 5> const& body) override;
    void send(LpId target, Time when, std::uint16_t kind, std::array<std::uint64_t, 5> const& body) override;
    Event stamped(Time when, LpId target, std::uint16_t kind, std::array<std::uint64_t, 5> const& body);
    void handle_window(Window const& window);
    void handle_events(Window const& window);
    void ask_hook(Window const& window);
    void post();
    void lp_state(Local& lp, std::vector<Event>& events, StateStream& stream);
    void note_failure(Time when, LpId lp);  // call inside a catch block
    [[noreturn]] void raise_stuck(Event const& event) const;

    WindowOptions options_;
    std::vector<Local> local_;
    std::vector<std::uint32_t> slot_;  // LP id -> index into local_, or `remote`
    std::vector<std::uint32_t> owner_;
    Exchange& exchange_;
    WindowHook* hook_;
    EventQueue<Order> queue_;
    std::vector<std::vector<Event>> outgoing_;
    std::vector<Event> arrivals_;
    Local* sender_ = nullptr;  // the LP being handled
    Time now_;
    Time earliest_sent_ = Time::infinity();
    WindowReport mine_, all_;
    Failure failure_;
    RunOutcome outcome_;
};

using WindowLoop = BasicWindowLoop<TotalOrder>;
extern template class BasicWindowLoop<TotalOrder>;

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What processes tell each other once per window, and the seam behind which MPI, one process or a dry run stand.
#pragma once

#include "core/event.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace orrery {

// Bits of WindowReport::flags. Raised by any one process, seen by all of them at the end of the same window.
namespace window_flag {
inline constexpr std::uint32_t stop = 1;         // a signal or the user asked for the end
inline constexpr std::uint32_t walltime = 2;     // a wall-clock or event limit was reached
inline constexpr std::uint32_t memory = 4;       // the memory limit was reached
inline constexpr std::uint32_t error = 8;        // an LP or the hook threw; set by the window loop only
inline constexpr std::uint32_t checkpoint = 16;  // the loop goes on; WindowHook::agreed sees it
inline constexpr std::uint32_t status = 32;      // the loop goes on; WindowHook::agreed sees it
inline constexpr std::uint32_t heartbeat = 64;   // the loop goes on; WindowHook::agreed sees it
inline constexpr std::uint32_t leaving = stop | walltime | memory | error;
}  // namespace window_flag

// Plain data, combined by operations that no order of processes can change: min, max, or, integer sums.
struct WindowReport {
    Time next = Time::infinity();  // no event of mine, nor one that I have just sent, is earlier
    Time last;                     // latest event handled so far
    std::int64_t events = 0;       // handled in this window
    std::int64_t sent = 0;         // events handed to other processes in this window
    std::int64_t load = 0;         // whatever the hook wants summed over processes, e.g. resident bytes
    std::uint32_t flags = 0;
    std::uint32_t spare = 0;

    void combine(WindowReport const& other) {
        next = std::min(next, other.next);
        last = std::max(last, other.last);
        events += other.events;
        sent += other.sent;
        load += other.load;
        flags |= other.flags;
    }
};
static_assert(std::is_trivially_copyable_v<WindowReport> && sizeof(WindowReport) == 48);

// Why a process cannot go on. Of several in one window the earliest in (when, lp) is reported, which is the same one
// for every number of processes.
struct Failure {
    enum class Kind : std::uint32_t { none, input, storage, incomplete, memory, internal };
    Kind kind = Kind::none;
    Time when = Time::infinity();
    LpId lp;
    std::string message;

    friend bool earlier(Failure const& a, Failure const& b) {
        if ((a.kind == Kind::none) != (b.kind == Kind::none)) return b.kind == Kind::none;
        return a.when != b.when ? a.when < b.when : a.lp < b.lp;
    }
};

// One process's view of all of them. Calls alternate: post, collect, post, collect, ... the same number of times on
// every process; between the two the caller may work.
class Exchange {
  public:
    virtual ~Exchange() = default;
    virtual std::uint32_t index() const = 0;
    virtual std::uint32_t count() const = 0;

    // Hands over what this process sent. outgoing[p] goes to process p and is empty on return; outgoing[index()] is
    // empty. `failure` is looked at only when mine.flags has window_flag::error.
    virtual void post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing, Failure const& failure) = 0;

    // Returns when every process has posted: appends what came for this process to `arrivals` (in no promised order)
    // and combines the reports. With window_flag::error in all.flags, `failure` becomes the earliest of them.
    virtual void collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) = 0;
};

// One process alone.
class LocalExchange final : public Exchange {
  public:
    std::uint32_t index() const override { return 0; }
    std::uint32_t count() const override { return 1; }
    void post(WindowReport const& mine, std::vector<std::vector<Event>>&, Failure const& failure) override {
        report_ = mine;
        if (mine.flags & window_flag::error) failure_ = failure;
    }
    void collect(WindowReport& all, std::vector<Event>&, Failure& failure) override {
        all = report_;
        if (all.flags & window_flag::error) failure = std::move(failure_);
    }

  private:
    WindowReport report_;
    Failure failure_;
};

}  // namespace orrery

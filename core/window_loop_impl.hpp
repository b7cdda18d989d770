// SPDX-License-Identifier: Apache-2.0
// Definitions of BasicWindowLoop. Only core/window_loop.cpp and the test of the tie-break include it.
#pragma once

#include "core/event_queue_impl.hpp"
#include "core/window_loop.hpp"

#include <chrono>
#include <exception>
#include <new>

namespace orrery {
namespace detail {

// Options with the default width filled in.
WindowOptions checked(WindowOptions options);
// The exception in flight, as plain data; and back.
Failure describe_current_exception(Time when, LpId lp);
[[noreturn]] void raise(Failure const& failure);
StopReason reason_of(std::uint32_t flags);

using WallClock = std::chrono::steady_clock;
inline double seconds_since(WallClock::time_point start) {
    return std::chrono::duration<double>(WallClock::now() - start).count();
}

}  // namespace detail

template <class Order>
BasicWindowLoop<Order>::BasicWindowLoop(WindowOptions options, std::vector<LocalLp> local,
                                        std::span<std::uint32_t const> owner, Exchange& exchange, WindowHook* hook)
    : options_(detail::checked(options)),
      slot_(owner.size(), remote),
      owner_(owner.begin(), owner.end()),
      exchange_(exchange),
      hook_(hook),
      queue_(options_.width),
      outgoing_(exchange.count()) {
    std::sort(local.begin(), local.end(), [](LocalLp const& a, LocalLp const& b) { return a.id < b.id; });
    for (auto const& lp : local) {
        ORRERY_ENSURE(lp.id.index() < owner_.size() && owner_[lp.id.index()] == exchange.index() &&
                          slot_[lp.id.index()] == remote && lp.process,
                      "LP {} is created twice, or on process {} which does not own it", lp.id.value(),
                      exchange.index());
        slot_[lp.id.index()] = static_cast<std::uint32_t>(local_.size());
        local_.push_back({lp.process, lp.id, 0});
    }
    for (std::size_t lp = 0; lp < owner_.size(); ++lp) {
        ORRERY_ENSURE(owner_[lp] < exchange.count(), "LP {} is owned by process {} of {}", lp, owner_[lp],
                      exchange.count());
        ORRERY_ENSURE(owner_[lp] != exchange.index() || slot_[lp] != remote, "LP {} was not created by its owner {}",
                      lp, owner_[lp]);
    }
}

template <class Order>
RunOutcome BasicWindowLoop<Order>::run() {
    begin();
    while (advance()) {
    }
    return outcome_;
}

template <class Order>
void BasicWindowLoop<Order>::begin() {
    auto const started = detail::WallClock::now();
    for (auto& lp : local_) {
        sender_ = &lp;
        try {
            lp.process->start(*this);
        } catch (...) {
            note_failure(Time{}, lp.id);
            break;
        }
    }
    outcome_.busy_seconds += detail::seconds_since(started);
    ask_hook(Window{});
    post();
}

template <class Order>
void BasicWindowLoop<Order>::lp_state(Local& lp, std::vector<Event>& events, StateStream& stream) {
    stream(lp.sequence, events);
    lp.process->state(stream);
}

template <class Order>
void BasicWindowLoop<Order>::save(StateSaver& saver) {
    std::vector<std::vector<Event>> pending(local_.size());
    queue_.for_each([&](Event const& event) { pending[slot_[event.target.index()]].push_back(event); });
    for (std::size_t i = 0; i < local_.size(); ++i)
        saver.save(local_[i].id.value(), [&](StateStream& stream) { lp_state(local_[i], pending[i], stream); });
}

template <class Order>
void BasicWindowLoop<Order>::begin_from(StateSource& source, LoopProgress const& progress) {
    outcome_.windows = progress.windows;
    outcome_.events = progress.events;
    mine_.last = outcome_.last = progress.last;
    try {
        for (auto& lp : local_) {
            std::vector<Event> events;
            source.restore(lp.id.value(), [&](StateStream& stream) { lp_state(lp, events, stream); });
            for (auto const& event : events) {
                ORRERY_ENSURE(event.target == lp.id, "an event of LP {} is saved with LP {}", event.target.value(),
                              lp.id.value());
                queue_.push(event);
            }
        }
    } catch (...) {
        note_failure(progress.last, LpId{});
    }
    ask_hook(Window{});
    post();
}

template <class Order>
bool BasicWindowLoop<Order>::advance() {
    auto const started = detail::WallClock::now();
    exchange_.collect(all_, arrivals_, failure_);
    outcome_.sync_seconds += detail::seconds_since(started);
    outcome_.events += all_.events;
    outcome_.last = all_.last;
    if (all_.flags & window_flag::error) detail::raise(failure_);

    for (auto const& event : arrivals_) queue_.push(event);
    arrivals_.clear();
    if (all_.flags & window_flag::leaving) {
        outcome_.reason = detail::reason_of(all_.flags);
        return false;
    }
    if (all_.next == Time::infinity() || all_.next >= options_.until) {
        outcome_.reason = all_.next == Time::infinity() ? StopReason::finished : StopReason::until;
        return false;
    }
    auto window = Window::containing(all_.next, options_.width);
    window.end = std::min(window.end, options_.until);
    if (hook_ && all_.flags != 0) {
        try {
            hook_->agreed(all_);
        } catch (...) {
            note_failure(window.begin, LpId{});
        }
    }
    handle_window(window);
    ask_hook(window);
    post();
    return true;
}

template <class Order>
void BasicWindowLoop<Order>::handle_window(Window const& window) {
    ++outcome_.windows;
    if (failure_.kind != Failure::Kind::none) return;
    auto const started = detail::WallClock::now();
    try {
        queue_.open(window);
        handle_events(window);
    } catch (...) {
        note_failure(now_, sender_ ? sender_->id : LpId{});
    }
    outcome_.busy_seconds += detail::seconds_since(started);
}

template <class Order>
void BasicWindowLoop<Order>::handle_events(Window const& window) {
    std::int64_t handled = 0, at_one_instant = 0;
    while (Event const* const top = queue_.top()) {
        if (top->when >= window.end) break;
        Event const event = *top;
        queue_.pop();
        auto& lp = local_[slot_[event.target.index()]];
        at_one_instant = event.when == now_ && sender_ == &lp ? at_one_instant + 1 : 0;
        if (at_one_instant > options_.stuck_limit) [[unlikely]]
            raise_stuck(event);
        now_ = event.when;
        sender_ = &lp;
        ++handled;
        lp.process->handle(event, *this);
    }
    mine_.events += handled;
    outcome_.local_events += handled;
    if (handled > 0) mine_.last = now_;
}

template <class Order>
Event BasicWindowLoop<Order>::stamped(Time when, LpId target, std::uint16_t kind,
                                      std::array<std::uint64_t, 5> const& body) {
    Event event;
    event.when = when;
    event.target = target;
    event.source = sender_->id;
    event.sequence = sender_->sequence++;
    event.kind = kind;
    event.body = body;
    ORRERY_ENSURE(sender_->sequence != 0, "LP {} sent more events than its sequence numbers can tell apart",
                  sender_->id.value());
    return event;
}

template <class Order>
void BasicWindowLoop<Order>::schedule(Time when, std::uint16_t kind, std::array<std::uint64_t, 5> const& body) {
    ORRERY_ENSURE(when >= now_, "LP {} schedules an event of kind {} at {} ps, before now ({} ps)", sender_->id.value(),
                  kind, when.ps(), now_.ps());
    queue_.push(stamped(when, sender_->id, kind, body));
}

template <class Order>
void BasicWindowLoop<Order>::send(LpId target, Time when, std::uint16_t kind,
                                  std::array<std::uint64_t, 5> const& body) {
    if (target == sender_->id) return schedule(when, kind, body);
    ORRERY_ENSURE(when >= now_ && when - now_ >= options_.lookahead,
                  "LP {} at {} ps sends an event of kind {} to LP {} for {} ps, closer than the lookahead of {} ps",
                  sender_->id.value(), now_.ps(), kind, target.value(), when.ps(), options_.lookahead.ps());
    ORRERY_ENSURE(target.index() < owner_.size() && when < Time::infinity(),
                  "LP {} sends an event of kind {} to LP {} of {} for {} ps", sender_->id.value(), kind, target.value(),
                  owner_.size(), when.ps());
    auto const event = stamped(when, target, kind, body);
    if (slot_[target.index()] != remote) return queue_.push(event);
    outgoing_[owner_[target.index()]].push_back(event);
    earliest_sent_ = std::min(earliest_sent_, when);
    ++mine_.sent;
}

template <class Order>
void BasicWindowLoop<Order>::ask_hook(Window const& window) {
    if (!hook_ || failure_.kind != Failure::Kind::none) return;
    try {
        auto const request = hook_->at_window({window, all_, outcome_.windows, outcome_.events, outcome_.local_events,
                                               queue_.size(), outcome_.busy_seconds, outcome_.sync_seconds});
        mine_.flags |= request.flags & ~window_flag::error;
        mine_.load = request.load;
    } catch (...) {
        note_failure(window.end, LpId{});
    }
}

template <class Order>
void BasicWindowLoop<Order>::post() {
    mine_.next = std::min(queue_.next(), earliest_sent_);
    if (failure_.kind != Failure::Kind::none) mine_.flags |= window_flag::error;
    auto const started = detail::WallClock::now();
    exchange_.post(mine_, outgoing_, failure_);
    outcome_.sync_seconds += detail::seconds_since(started);
    auto const last = mine_.last;
    mine_ = {};
    mine_.last = last;
    earliest_sent_ = Time::infinity();
}

template <class Order>
void BasicWindowLoop<Order>::note_failure(Time when, LpId lp) {
    auto failure = detail::describe_current_exception(when, lp);
    if (earlier(failure, failure_)) failure_ = std::move(failure);
}

template <class Order>
void BasicWindowLoop<Order>::raise_stuck(Event const& event) const {
    auto const name = [&](LpId lp) { return options_.name ? options_.name(lp) : fmt::format("LP {}", lp.value()); };
    throw IncompleteError(
        fmt::format("simulated time does not advance: {} has handled more than {} events at {} ps (the last of kind {} "
                    "from {}) and waits for time to pass",
                    name(event.target), options_.stuck_limit, event.when.ps(), event.kind, name(event.source)));
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "core/window_loop.hpp"

#include "core/window_loop_impl.hpp"

namespace orrery {

char const* name_of(StopReason reason) {
    switch (reason) {
        case StopReason::finished:
            return "finished";
        case StopReason::until:
            return "end time reached";
        case StopReason::stop:
            return "stopped";
        case StopReason::walltime:
            return "limit reached";
        case StopReason::memory:
            return "out of memory limit";
    }
    return "unknown";
}

namespace detail {

WindowOptions checked(WindowOptions options) {
    if (options.width == Time{}) options.width = options.lookahead;
    ORRERY_ENSURE(options.lookahead > Time{}, "the lookahead is {} ps", options.lookahead.ps());
    ORRERY_ENSURE(options.width > Time{} && options.width <= options.lookahead,
                  "windows of {} ps do not fit a lookahead of {} ps", options.width.ps(), options.lookahead.ps());
    return options;
}

Failure describe_current_exception(Time when, LpId lp) {
    using Kind = Failure::Kind;
    try {
        throw;
    } catch (StorageError const& error) {
        return {Kind::storage, when, lp, error.what()};
    } catch (InputError const& error) {
        return {Kind::input, when, lp, error.what()};
    } catch (IncompleteError const& error) {
        return {Kind::incomplete, when, lp, error.what()};
    } catch (std::bad_alloc const& error) {
        return {Kind::memory, when, lp, error.what()};
    } catch (std::exception const& error) {
        return {Kind::internal, when, lp, error.what()};
    } catch (...) {
        return {Kind::internal, when, lp, "an exception of unknown type"};
    }
}

void raise(Failure const& failure) {
    switch (failure.kind) {
        case Failure::Kind::input:
            throw InputError(failure.message);
        case Failure::Kind::storage:
            throw StorageError(failure.message);
        case Failure::Kind::incomplete:
            throw IncompleteError(failure.message);
        case Failure::Kind::memory:
            throw std::bad_alloc();
        case Failure::Kind::internal:
            throw InternalError(failure.message);
        case Failure::Kind::none:
            break;
    }
    throw InternalError("a process left the run without giving a reason");
}

// The gravest first.
StopReason reason_of(std::uint32_t flags) {
    if (flags & window_flag::memory) return StopReason::memory;
    if (flags & window_flag::walltime) return StopReason::walltime;
    return StopReason::stop;
}

}  // namespace detail

template class BasicWindowLoop<TotalOrder>;

}  // namespace orrery

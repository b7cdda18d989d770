// SPDX-License-Identifier: Apache-2.0
// Contracts in three strengths, and the error types that map to exit codes.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {

// The user's input is wrong (exit code 2). Message grammar: problem (reason) suggestion.
class InputError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A file cannot be read or written (exit code 2 as well). Unlike other bad input it may come halfway through a run, so
// what was written before is kept.
class StorageError : public InputError {
    using InputError::InputError;
};

// The simulated workload cannot finish: deadlock, or a flow on a dead link (exit code 3).
class IncompleteError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An invariant of Orrery itself does not hold (exit code 1).
class InternalError : public std::logic_error {
    using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void raise_internal(char const* file, int line, char const* condition, std::string const& message);
}  // namespace detail

}  // namespace orrery

// An invariant that stays on in release builds. Use where the test costs nothing beside the work around it.
#define ORRERY_ENSURE(condition, ...)                                                                     \
    do {                                                                                                  \
        if (!(condition)) [[unlikely]]                                                                    \
            ::orrery::detail::raise_internal(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
    } while (false)

// A caller's duty on a hot path: checked in debug builds only.
#ifdef NDEBUG
#define ORRERY_EXPECT(condition) static_cast<void>(0)
#else
#define ORRERY_EXPECT(condition) ORRERY_ENSURE(condition, "precondition")
#endif

// The user's duty: always checked, raises InputError with the formatted message.
#define ORRERY_VALIDATE(condition, ...)                                           \
    do {                                                                          \
        if (!(condition)) throw ::orrery::InputError(::fmt::format(__VA_ARGS__)); \
    } while (false)

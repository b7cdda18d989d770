// SPDX-License-Identifier: Apache-2.0
// One description of a state for both directions: a class lists its fields once, and they are saved or restored.
#pragma once

#include "core/check.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace orrery {

// Where saved bytes go. Not called with nothing.
class ByteSink {
  public:
    virtual ~ByteSink() = default;
    virtual void write(std::span<std::byte const> bytes) = 0;
};

class StateStream;
template <class T>
concept HasState = requires(T& value, StateStream& stream) { value.state(stream); };

// A class takes part with `void state(StateStream& stream) { stream(a_, b_, c_); }`. Fields may be plain data without
// pointers, classes with a state() of their own, and vectors, deques, strings, maps, optionals, pairs and arrays of
// those. What follows from the rest is not listed; where restoring needs more than reading, state() asks restoring().
//
// The bytes are those of memory, so a state is read by the program that wrote it: who stores one keeps version and
// checksum beside it. Plain data of a vector is one copy, which is most of what a simulation holds.
class StateStream {
  public:
    // Saves. Call flush() at the end.
    explicit StateStream(ByteSink& sink) : sink_(&sink) { buffer_.reserve(buffer_bytes); }
    // Restores from bytes that outlive the stream. Reading beyond them, or not all of them, is an InternalError.
    explicit StateStream(std::span<std::byte const> bytes) : rest_(bytes) {}
    StateStream(StateStream const&) = delete;
    StateStream& operator=(StateStream const&) = delete;

    bool restoring() const { return sink_ == nullptr; }

    template <class... T>
    void operator()(T&... fields) {
        (field(fields), ...);
    }
    // For what is saved but not kept in a field.
    template <class T>
    T value(T present) {
        field(present);
        return present;
    }

    void flush();
    void expect_end() const {
        ORRERY_ENSURE(rest_.empty(), "a saved state has {} bytes too many for this program", rest_.size());
    }

  private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

    template <class T>
    static constexpr bool is_plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !HasState<T>;

    void bytes(std::span<std::byte> data);
    std::size_t size(std::size_t present, std::size_t least_bytes_each);

    template <class T>
    void field(T& value) {
        if constexpr (HasState<T>) {
            value.state(*this);
        } else {
            static_assert(is_plain<T>, "give it a state() function");
            bytes(std::as_writable_bytes(std::span(&value, 1)));
        }
    }
    template <class T>
    void field(std::vector<T>& values) {
        static_assert(!std::is_same_v<T, bool>);
        values.resize(size(values.size(), is_plain<T> ? sizeof(T) : 0));
        if constexpr (is_plain<T>)
            bytes(std::as_writable_bytes(std::span(values)));
        else
            for (auto& value : values) field(value);
    }
    template <class T>
    void field(std::deque<T>& values) {
        values.resize(size(values.size(), 0));
        for (auto& value : values) field(value);
    }
    template <class T, std::size_t n>
    void field(std::array<T, n>& values) {
        if constexpr (is_plain<T>)
            bytes(std::as_writable_bytes(std::span(values)));
        else
            for (auto& value : values) field(value);
    }
    void field(std::string& text) {
        text.resize(size(text.size(), 1));
        bytes(std::as_writable_bytes(std::span(text)));
    }
    template <class A, class B>
    void field(std::pair<A, B>& pair) {
        field(pair.first);
        field(pair.second);
    }
    template <class T>
    void field(std::optional<T>& maybe) {
        bool const full = value(maybe.has_value());
        if (!full) return maybe.reset();
        if (!maybe) maybe.emplace();
        field(*maybe);
    }
    template <class Key, class T>
    void field(std::map<Key, T>& map) {
        auto const count = size(map.size(), 0);
        if (!restoring()) {
            for (auto& [key, mapped] : map) {
                auto copy = key;
                field(copy);
                field(mapped);
            }
            return;
        }
        map.clear();
        for (std::size_t i = 0; i < count; ++i) {
            Key key{};
            field(key);
            field(map[key]);
        }
    }

    ByteSink* sink_ = nullptr;
    std::vector<std::byte> buffer_;
    std::span<std::byte const> rest_;
};

// States lie under numbers that mean the same to every process, so that any number of processes may restore what any
// other number saved.
class StateSaver {
  public:
    virtual ~StateSaver() = default;
    virtual void save(std::uint64_t key, std::function<void(StateStream&)> const& fill) = 0;
};
class StateSource {
  public:
    virtual ~StateSource() = default;
    virtual void restore(std::uint64_t key, std::function<void(StateStream&)> const& read) = 0;
};

}  // namespace orrery

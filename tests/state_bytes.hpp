// SPDX-License-Identifier: Apache-2.0
// Saved states as bytes in memory.
#pragma once

#include "core/state.hpp"

#include <vector>

namespace orrery::testing {

class StateBytes final : public ByteSink {
  public:
    void write(std::span<std::byte const> bytes) override { all.insert(all.end(), bytes.begin(), bytes.end()); }
    std::vector<std::byte> all;
};

template <class T>
std::vector<std::byte> saved_bytes(T& value) {
    StateBytes sink;
    StateStream stream(sink);
    stream(value);
    stream.flush();
    return std::move(sink.all);
}

template <class T>
void restore_bytes(T& value, std::span<std::byte const> bytes) {
    StateStream stream(bytes);
    stream(value);
    stream.expect_end();
}

}  // namespace orrery::testing

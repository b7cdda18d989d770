// SPDX-License-Identifier: Apache-2.0
// Counter-based randomness: a draw depends on (seed, stream, entity, draw number) and on nothing else.
#pragma once

#include <array>
#include <cstdint>

namespace orrery {

// Named purposes, so that two uses never share a sequence.
enum class RandomStream : std::uint32_t { routing = 1, placement = 2, ecmp = 3, noise = 4, traffic = 5, test = 99 };

// Philox 4x32-10 (Salmon et al., SC'11), from Random123.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, RandomStream stream, std::uint64_t entity, std::uint32_t draw);

// A cursor over one entity's draws. Plain data: copying it copies the position.
class RandomSequence {
  public:
    RandomSequence(std::uint64_t seed, RandomStream stream, std::uint64_t entity)
        : seed_(seed), entity_(entity), stream_(stream) {}

    std::uint32_t next_u32() {
        if (used_ == 4) {
            block_ = philox(seed_, stream_, entity_, draw_++);
            used_ = 0;
        }
        return block_[used_++];
    }
    // Uniform in [0, bound) by multiplication; bias below 2^-32 * bound.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next_u32()) * bound) >> 32);
    }
    // Uniform in [0, 1) with 32 bits.
    double unit() { return static_cast<double>(next_u32()) * 0x1p-32; }

  private:
    std::uint64_t seed_;
    std::uint64_t entity_;
    RandomStream stream_;
    std::uint32_t draw_ = 0;
    std::uint32_t used_ = 4;
    std::array<std::uint32_t, 4> block_{};
};

}  // namespace orrery

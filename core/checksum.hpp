// SPDX-License-Identifier: Apache-2.0
// Tells whether stored bytes came back as they were.
#pragma once

#include "core/digest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace orrery {

// Of all bytes in order, in whatever pieces they come. Not against malice: against torn writes and flipped bits, of
// which every single one is noticed, since each step is a bijection.
class Checksum {
  public:
    void add(std::span<std::byte const> bytes) {
        length_ += bytes.size();
        if (held_ > 0) {
            auto const taken = std::min(bytes.size(), word_bytes - held_);
            hold(bytes.first(taken));
            bytes = bytes.subspan(taken);
            if (held_ < word_bytes) return;
            chain_.add(word_of(word_));
            held_ = 0;
        }
        for (; bytes.size() >= word_bytes; bytes = bytes.subspan(word_bytes)) {
            std::array<std::byte, word_bytes> word;
            std::memcpy(word.data(), bytes.data(), word_bytes);
            chain_.add(word_of(word));
        }
        hold(bytes);
    }
    std::uint64_t value() const {
        auto chain = chain_;
        if (held_ > 0) {
            auto word = word_;
            std::fill(word.begin() + static_cast<std::ptrdiff_t>(held_), word.end(), std::byte{});
            chain.add(word_of(word));
        }
        return chain.low() ^ length_;
    }

  private:
    static constexpr std::size_t word_bytes = 8;
    static std::uint64_t word_of(std::array<std::byte, word_bytes> const& bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), word_bytes);
        return word;
    }
    void hold(std::span<std::byte const> bytes) {
        std::copy(bytes.begin(), bytes.end(), word_.begin() + static_cast<std::ptrdiff_t>(held_));
        held_ += bytes.size();
    }

    DigestChain chain_;
    std::array<std::byte, word_bytes> word_{};
    std::size_t held_ = 0;
    std::uint64_t length_ = 0;
};

inline std::uint64_t checksum_of(std::span<std::byte const> bytes) {
    Checksum sum;
    sum.add(bytes);
    return sum.value();
}

}  // namespace orrery

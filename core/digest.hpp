// SPDX-License-Identifier: Apache-2.0
// The fingerprint that every run prints: equal for every process count, partition and window width.
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

// Folds integers, in order, into 128 bits. One per LP, kept in its state.
class DigestChain {
  public:
    void add(std::uint64_t word) {
        low_ = mix(low_ ^ word);
        high_ = mix(high_ + (word ^ 0x9e3779b97f4a7c15U));
    }
    std::uint64_t low() const { return low_; }
    std::uint64_t high() const { return high_; }

    // SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA'14): a bijection on 64 bits.
    static constexpr std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        return x ^ (x >> 31);
    }

  private:
    std::uint64_t low_ = 0x243f6a8885a308d3U;  // digits of pi
    std::uint64_t high_ = 0x13198a2e03707344U;
};

// Sum over entities of hash(entity, chain): commutative in 2^64 arithmetic, so any process may add its own share
// and the shares may be reduced in any order.
struct Digest {
    std::uint64_t low = 0, high = 0;

    void add(std::uint64_t entity, DigestChain const& chain) {
        low += DigestChain::mix(chain.low() ^ DigestChain::mix(entity + 1));
        high += DigestChain::mix(chain.high() + DigestChain::mix(~entity));
    }
    void add(Digest const& other) {
        low += other.low;
        high += other.high;
    }
    std::string hex() const;  // 32 hex digits
    friend bool operator==(Digest const&, Digest const&) = default;
};

}  // namespace orrery

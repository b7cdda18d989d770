// SPDX-License-Identifier: Apache-2.0
// Bounded error: how long the share of a flow that ended may lie idle, so that many ends are one sharing.
#pragma once

#include "core/units.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// Sharing anew at every finish is exact. Sharing anew a little later leaves the share of a flow that ended unused for
// that long: the run is then the exact one of flows that are longer by what they would have moved in the wait. The wait
// allowed is a third of `error` times the shortest duration among the flows there are. Why a third: waits add up
// while the flows of a link end one after the other, by the logarithm of how many they were, and the shares of a
// network can amplify; a test compares completion times with exact ones on a thousand skewed exchanges, all within
// `error`. Starts never wait.
//
// The shortest duration: of every flow its service at the level it got first, the least since the kernel was last idle;
// or the time since the last start, if that is longer, since every flow has lasted for that.
class Coalescer {
  public:
    // In millionths; zero is exact.
    explicit Coalescer(std::int64_t error_ppm) : error_ppm_(error_ppm) {}

    bool exact() const { return error_ppm_ == 0; }
    void started(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes);
    void finished(Time when);
    // When to share anew, given all that started and finished until `now`; not before `now`.
    Time due(Time now) const;
    // Shares were made anew.
    void settled(Time now, MaxMinKernel const& kernel);
    // The longest wait so far, in millionths of the shortest duration at that moment.
    std::int64_t longest_wait_ppm() const { return longest_wait_ppm_; }
    void state(StateStream& stream) {
        stream(shortest_, last_start_, first_finish_, started_, links_, longest_wait_ppm_);
    }

  private:
    struct Started {
        std::uint32_t link_count;  // of links_, in order
        std::uint32_t weight;
        std::int64_t bytes;
    };
    Time shortest(Time now) const;

    std::int64_t error_ppm_;
    Time shortest_ = Time::infinity();
    Time last_start_;
    Time first_finish_ = Time::infinity();  // since shares were last made anew
    std::vector<Started> started_;          // since then
    std::vector<std::uint32_t> links_;
    std::int64_t longest_wait_ppm_ = 0;
};

}  // namespace orrery

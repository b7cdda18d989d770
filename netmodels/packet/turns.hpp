// SPDX-License-Identifier: Apache-2.0
// Whose packets go next: the flows of one sender in turn, each for as many packets as its weight is worth.
#pragma once

#include <cstdint>

namespace orrery {

// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) with packets as the unit. A flow of mean weight sends one
// packet per turn; a heavier one several in a row, a lighter one every other turn or less. With equal weights flows
// alternate packet by packet. The weights are those of the flows on the list at the moment.
class Turns {
  public:
    void join(std::uint32_t weight) { weights_ += weight, ++flows_; }
    void leave(std::uint32_t weight) { weights_ -= weight, --flows_; }

    // The turn of the flow at the head of the list: is one open, and for this flow?
    bool open(std::uint32_t flow) const { return packets_ > 0 && flow_ == flow; }
    // Opens it. `credit` is what the flow has left from its turns before, in 1/1024 of a packet; returns what it has
    // after this one. When not open() then, the flow goes to the end of the list.
    [[nodiscard]] std::uint32_t take(std::uint32_t flow, std::uint32_t weight, std::uint32_t credit) {
        flow_ = flow;
        packets_ = 1;
        auto const mine = std::uint64_t{weight} * flows_;
        if (mine == weights_) [[likely]]
            return credit;
        auto const share = mine * one / weights_ + credit;
        packets_ = static_cast<std::uint32_t>(share / one);
        return static_cast<std::uint32_t>(share % one);
    }
    // A packet of the flow at the head has left.
    void sent() { --packets_; }
    // It has nothing to send at the moment: the rest is forfeited.
    void end() { packets_ = 0; }

    static constexpr std::uint32_t one = 1024;
    static constexpr std::uint32_t most_weight = 65'535;

  private:
    std::uint64_t weights_ = 0;
    std::uint32_t flows_ = 0;
    std::uint32_t flow_ = 0, packets_ = 0;  // of the open turn
};

}  // namespace orrery

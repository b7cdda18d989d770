// SPDX-License-Identifier: Apache-2.0
// Drives one process's share of a packet network through the exchange of windows: data, null message and barrier in
// one.
#pragma once

#include "core/exchange.hpp"
#include "core/window_loop.hpp"
#include "netmodels/packet/network.hpp"

namespace orrery {

// H(k) run the window   X(k) exchange packets and reports   M(k) merge   J(k) jump to the earliest thing left
// The order is that of core/window_loop.hpp; packets go from calendar to calendar without passing an event queue.
class PacketLoop {
  public:
    PacketLoop(PacketNetwork& network, Exchange& exchange, Time width)
        : network_(network), exchange_(exchange), width_(width) {}

    void begin() { post({}); }
    bool advance();
    RunOutcome const& outcome() const { return outcome_; }
    RunOutcome const& run() {
        begin();
        while (advance()) {
        }
        return outcome_;
    }

  private:
    void post(Window const& window);

    PacketNetwork& network_;
    Exchange& exchange_;
    Time width_;
    WindowReport all_;
    Failure failure_;
    std::vector<Event> arrivals_;
    RunOutcome outcome_;
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The rates of open engines (TransferEngine::open_engine) for models that only look them up.
#pragma once

#include "netmodels/exchange/transfer_engine.hpp"

#include <vector>

namespace orrery {

// Numbers from 1, since 0 is TransferEngine::no_engine; those of closed engines are reused.
class EngineRates {
  public:
    std::uint32_t open(Rate rate) {
        if (free_.empty()) {
            rates_.push_back(rate);
            return static_cast<std::uint32_t>(rates_.size() - 1);
        }
        auto const engine = free_.back();
        free_.pop_back();
        rates_[engine] = rate;
        return engine;
    }
    void close(std::uint32_t engine) { free_.push_back(engine); }
    void state(StateStream& stream) { stream(rates_, free_); }
    Rate operator[](std::uint32_t engine) const { return rates_[engine]; }

  private:
    std::vector<Rate> rates_ = std::vector<Rate>(1);
    std::vector<std::uint32_t> free_;
};

}  // namespace orrery

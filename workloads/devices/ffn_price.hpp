// SPDX-License-Identifier: Apache-2.0
// What gates, experts and dense FFNs cost on one rank: INT8 grouped matmuls whose weights are read once.
#pragma once

#include "workloads/devices/device.hpp"
#include "workloads/models/model_config.hpp"

namespace orrery {

OpPrice price_gate(Device const&, ModelConfig const&, std::uint64_t tokens);
OpPrice price_shared_expert(Device const&, ModelConfig const&, std::uint64_t tokens);
OpPrice price_dense_ffn(Device const&, ModelConfig const&, std::uint64_t tokens);

// The grouped matmul of one rank's expert slots, priced once per rank, layer and micro-batch: constants are computed
// once, a call is a few multiplications and allocates nothing.
class ExpertPricer {
  public:
    ExpertPricer(Device const& device, ModelConfig const& model);

    // `tokens` messages over `active` slots with at least one token. Every active slot's weights are read once. A
    // dedicated copy of a shared expert counts as a slot of the routed experts' width.
    Time experts_time(std::uint64_t tokens, std::uint32_t active) const;

    // The same price with its bound and its formula.
    OpPrice explain(std::uint64_t tokens, std::uint32_t active) const;

  private:
    Device device_;
    std::int64_t weights_ = 0;  // of one expert
    double ops_per_token_ = 0;
    double bytes_per_token_ = 0;
    Time overhead_;
};

}  // namespace orrery

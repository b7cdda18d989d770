// SPDX-License-Identifier: Apache-2.0
// The order of operations that every rank of a MoE step follows, and what each of them costs: shared by all ranks.
#pragma once

#include "core/records.hpp"
#include "core/units.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace orrery {

struct StepOp {
    OpKind kind{};
    std::uint8_t microbatch = 0;
};

// Two in-order streams per rank, as on the device. Within a layer the compute stream runs
//   A0 G0 A1 G1 .. [S0 S1 ..] E0 E1 ..     (dense layer: A0 F0 A1 F1 ..)
// and the communication stream D0 D1 .. C0 C1 .., so that micro-batch 1 computes while micro-batch 0 communicates. All
// ranks issue in the same order: that is what keeps in-order streams free of deadlock.
class StepPlan {
  public:
    struct Layer {
        std::uint16_t model_layer = 0;
        bool moe = false;
        Time attention;  // of one micro-batch
    };
    struct Costs {
        Time gate, shared_expert, dense_ffn;  // of one micro-batch
        Time dispatch_launch, combine_launch;
        // Grouped matmul of the experts of one rank; called once per rank, layer and micro-batch.
        std::function<Time(std::uint32_t messages, std::uint32_t active_experts)> experts;
    };
    enum class SharedExpert : std::uint8_t { none, local };

    StepPlan(std::vector<Layer> layers, std::uint32_t microbatches, SharedExpert shared, Costs costs);

    std::span<Layer const> layers() const { return layers_; }
    std::uint32_t microbatches() const { return microbatches_; }
    Costs const& costs() const { return costs_; }
    std::span<StepOp const> compute(Layer const& layer) const { return layer.moe ? moe_compute_ : dense_compute_; }
    std::span<StepOp const> communication(Layer const& layer) const {
        return layer.moe ? std::span<StepOp const>{moe_communication_} : std::span<StepOp const>{};
    }
    // Of everything but the experts and the exchanges.
    Time duration(OpKind kind, Layer const& layer) const;
    std::int64_t operations_per_rank() const;
    std::uint32_t moe_layers() const;

  private:
    std::vector<Layer> layers_;
    std::uint32_t microbatches_;
    Costs costs_;
    std::vector<StepOp> moe_compute_, dense_compute_, moe_communication_;
};

}  // namespace orrery

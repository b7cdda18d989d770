// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/step_plan.hpp"

#include <algorithm>

namespace orrery {

StepPlan::StepPlan(std::vector<Layer> layers, std::uint32_t microbatches, SharedExpert shared, Costs costs)
    : layers_(std::move(layers)), microbatches_(microbatches), costs_(std::move(costs)) {
    ORRERY_ENSURE(microbatches_ >= 1 && microbatches_ <= 8, "{} micro-batches", microbatches_);
    auto const all = [this](std::vector<StepOp>& ops, std::initializer_list<OpKind> kinds) {
        for (std::uint32_t m = 0; m < microbatches_; ++m)
            for (auto const kind : kinds) ops.push_back({kind, static_cast<std::uint8_t>(m)});
    };
    all(moe_compute_, {OpKind::attention, OpKind::gate});
    if (shared == SharedExpert::local) all(moe_compute_, {OpKind::shared_expert});
    all(moe_compute_, {OpKind::experts});
    all(dense_compute_, {OpKind::attention, OpKind::dense_ffn});
    all(moe_communication_, {OpKind::dispatch});
    all(moe_communication_, {OpKind::combine});
}

Time StepPlan::duration(OpKind kind, Layer const& layer) const {
    switch (kind) {
        case OpKind::attention:
            return layer.attention;
        case OpKind::gate:
            return costs_.gate;
        case OpKind::shared_expert:
            return costs_.shared_expert;
        case OpKind::dense_ffn:
            return costs_.dense_ffn;
        default:
            ORRERY_ENSURE(false, "{} has no fixed duration", name_of(kind));
    }
}

std::int64_t StepPlan::operations_per_rank() const {
    std::int64_t count = 0;
    for (auto const& layer : layers_)
        count += static_cast<std::int64_t>(compute(layer).size() + communication(layer).size());
    return count;
}

std::uint32_t StepPlan::moe_layers() const {
    return static_cast<std::uint32_t>(
        std::count_if(layers_.begin(), layers_.end(), [](Layer const& layer) { return layer.moe; }));
}

}  // namespace orrery

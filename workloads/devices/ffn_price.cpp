// SPDX-License-Identifier: Apache-2.0
#include "workloads/devices/ffn_price.hpp"

#include "workloads/devices/roofline.hpp"

namespace orrery {
namespace {

// Two kernels: gate and up projection with SwiGLU and re-quantisation behind them, then the down projection.
constexpr int ffn_kernels = 2;

// Bytes that a token moves besides weights: INT8 in, INT8 between the two kernels (written and read), BF16 out.
double activation_bytes(double hidden, double width) {
    return hidden + 2 * width + 2 * hidden;
}

Kernel ffn(char const* what, double hidden, double width, double weights, double tokens) {
    return {what, Cube::int8, 6 * hidden * width * tokens, weights + tokens * activation_bytes(hidden, width),
            ffn_kernels};
}

}  // namespace

OpPrice price_gate(Device const& device, ModelConfig const& model, std::uint64_t tokens) {
    double const hidden = model.hidden;
    double const experts = model.routed_experts;
    auto const n = static_cast<double>(tokens);
    // Router weights and logits stay in BF16 beside quantised experts.
    return price(device,
                 {{"router", Cube::bf16, 2 * hidden * experts * n, 2 * (hidden * experts + n * (hidden + experts))}});
}

OpPrice price_shared_expert(Device const& device, ModelConfig const& model, std::uint64_t tokens) {
    return price(device, {ffn("shared expert", model.hidden, model.shared_width,
                              static_cast<double>(shared_expert_weights(model)), static_cast<double>(tokens))});
}

OpPrice price_dense_ffn(Device const& device, ModelConfig const& model, std::uint64_t tokens) {
    return price(device, {ffn("dense FFN", model.hidden, model.dense_width,
                              static_cast<double>(dense_ffn_weights(model)), static_cast<double>(tokens))});
}

ExpertPricer::ExpertPricer(Device const& device, ModelConfig const& model)
    : device_(device),
      weights_(expert_weights(model)),
      ops_per_token_(6.0 * model.expert_hidden * model.moe_width),
      bytes_per_token_(activation_bytes(model.expert_hidden, model.moe_width)),
      overhead_(ffn_kernels * device.kernel_overhead) {}

Time ExpertPricer::experts_time(std::uint64_t tokens, std::uint32_t active) const {
    auto const n = static_cast<double>(tokens);
    double const bytes = static_cast<double>(active) * static_cast<double>(weights_) + n * bytes_per_token_;
    return roofline(device_, {{}, Cube::int8, ops_per_token_ * n, bytes}) + overhead_;
}

OpPrice ExpertPricer::explain(std::uint64_t tokens, std::uint32_t active) const {
    auto const n = static_cast<double>(tokens);
    double const bytes = static_cast<double>(active) * static_cast<double>(weights_) + n * bytes_per_token_;
    std::string const what = fmt::format("{} tokens on {} expert(s) of {} weights", tokens, active, weights_);
    return price(device_, {{what, Cube::int8, ops_per_token_ * n, bytes, ffn_kernels}});
}

}  // namespace orrery

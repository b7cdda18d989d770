// SPDX-License-Identifier: Apache-2.0
#include "workloads/operators/operator.hpp"

#include "proto/scenario.pb.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

std::vector<OperatorVariant>& registry() {
    static std::vector<OperatorVariant> variants;
    return variants;
}

}  // namespace

RegisterOperator::RegisterOperator(OperatorVariant variant) {
    registry().push_back(variant);
}

std::vector<OperatorVariant> operator_variants() {
    auto variants = registry();
    std::sort(variants.begin(), variants.end(),
              [](auto const& a, auto const& b) { return std::string_view{a.name} < std::string_view{b.name}; });
    return variants;
}

ExchangePlan make_plan(scenario::OperatorsSpec const& spec, OpKind kind, OperatorInputs const& inputs) {
    auto const variants = operator_variants();
    auto const variant =
        std::find_if(variants.begin(), variants.end(), [&](auto const& v) { return v.name == spec.variant(); });
    ORRERY_VALIDATE(variant != variants.end(), "workload.operators.variant is {} (no such operator)", spec.variant());
    bool const dispatch = kind == OpKind::dispatch;
    auto const costs = dispatch ? variant->dispatch(inputs) : variant->combine(inputs);
    auto const& user = dispatch ? spec.dispatch() : spec.combine();

    ExchangePlan plan;
    plan.style = costs.style;
    plan.loop = costs.loop;
    plan.shares = costs.shares;
    plan.cores = inputs.vector_cores;
    plan.message_bytes = user.has_message_bytes() ? user.message_bytes() : costs.message_bytes;
    auto const efficiency = user.has_efficiency() ? user.efficiency() : costs.efficiency;
    plan.wire_bytes = static_cast<std::int64_t>(std::ceil(static_cast<double>(plan.message_bytes) / efficiency));
    plan.launch = user.has_launch() ? Time::from_ps(user.launch()) : costs.launch;
    plan.per_message = user.has_per_message() ? Time::from_ps(user.per_message()) : costs.per_message;
    plan.per_peer = user.has_per_peer() ? Time::from_ps(user.per_peer()) : costs.per_peer;
    plan.finish = user.has_finish() ? Time::from_ps(user.finish()) : costs.finish;
    return plan;
}

std::string explain(ExchangePlan const& plan) {
    bool const overlapped = plan.loop == ExchangeLoop::overlapped;
    return fmt::format(
        "{}, {}: launch {}; loop of {} per {} messages, {} the wire ({} B per {} B message); flags {} per {} peers, "
        "ordered behind the data; finish {}",
        plan.style == ExchangeStyle::push ? "push" : "pull",
        plan.shares == ExchangeShares::by_bytes ? "peers share by bytes" : "peers share equally",
        to_string(plan.launch), to_string(plan.per_message), plan.cores, overlapped ? "while on" : "then",
        plan.wire_bytes, plan.message_bytes, to_string(plan.per_peer), plan.cores, to_string(plan.finish));
}

}  // namespace orrery

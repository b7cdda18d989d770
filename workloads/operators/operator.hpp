// SPDX-License-Identifier: Apache-2.0
// Named variants of dispatch and combine: each file says how the operator works and what its calibrated costs are.
#pragma once

#include "netmodels/exchange/exchange.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::scenario {
class OperatorCosts;
class OperatorsSpec;
}  // namespace orrery::scenario

namespace orrery {

struct OperatorInputs {
    std::uint32_t hidden = 0;        // of the model
    std::uint32_t vector_cores = 0;  // AIV cores (or SMs) that drive communication
};

// What a variant costs before the scenario overrides anything. docs/operators.md lists each constant with its source.
struct OperatorCostsDefault {
    ExchangeStyle style{};
    ExchangeLoop loop{};
    ExchangeShares shares{};
    std::int64_t message_bytes = 0;
    double efficiency = 1;  // payload share of the wire rate
    Time launch, per_message, per_peer, finish;
};

struct OperatorVariant {
    char const* name;
    char const* description;
    OperatorCostsDefault (*dispatch)(OperatorInputs const&);
    OperatorCostsDefault (*combine)(OperatorInputs const&);
};

// Self-registration: `static RegisterOperator const registered{{...}};` in the variant's file.
class RegisterOperator {
  public:
    explicit RegisterOperator(OperatorVariant variant);
};
std::vector<OperatorVariant> operator_variants();  // sorted by name

// The plan of one operator kind: the variant's costs with the scenario's overrides.
ExchangePlan make_plan(scenario::OperatorsSpec const& spec, OpKind kind, OperatorInputs const& inputs);

// "push, 9 rounds of 48 cores x 4.3 us, wire 7680 B at 70 %": for screens and files.
std::string explain(ExchangePlan const& plan);

}  // namespace orrery

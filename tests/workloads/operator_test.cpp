// SPDX-License-Identifier: Apache-2.0
// Operator variants: what a scenario selects, overrides and gets; sizes of messages; closed forms of the plan.
#include "workloads/operators/operator.hpp"

#include "core/check.hpp"
#include "proto/options.pb.h"
#include "proto/scenario.pb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace orrery {
namespace {

using namespace literals;

constexpr OperatorInputs deepseek{.hidden = 7168, .vector_cores = 48};

scenario::OperatorsSpec variant(std::string const& name) {
    scenario::OperatorsSpec spec;
    spec.set_variant(name);
    return spec;
}

std::vector<std::string> choices() {
    auto const* field = scenario::OperatorsSpec::descriptor()->FindFieldByName("variant");
    std::istringstream in(field->options().GetExtension(scenario::choices));
    std::vector<std::string> names;
    for (std::string name; std::getline(in, name, '|');) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

TEST(Operators, EveryChoiceOfTheSchemaIsRegisteredAndNothingElse) {
    std::vector<std::string> registered;
    for (auto const& v : operator_variants()) registered.emplace_back(v.name);
    EXPECT_EQ(registered, choices());
    EXPECT_EQ(registered.size(), 5);
}

TEST(Operators, DefaultsOfEveryVariantAreSane) {
    for (auto const& name : choices())
        for (auto const kind : {OpKind::dispatch, OpKind::combine}) {
            auto const plan = make_plan(variant(name), kind, deepseek);
            SCOPED_TRACE(name + (kind == OpKind::dispatch ? " dispatch" : " combine"));
            // The lookahead of a run comes from these two.
            EXPECT_GE(plan.launch, 1_us);
            EXPECT_GE(plan.finish, 1_us);
            EXPECT_GE(plan.per_message, Time{});
            EXPECT_GE(plan.per_peer, Time{});
            EXPECT_EQ(plan.cores, 48);
            // No operator gets more out of a port than a plain read does (166.5 of 196 GB/s, MemFabric).
            EXPECT_GE(static_cast<double>(plan.wire_bytes) * 0.85, static_cast<double>(plan.message_bytes) * 0.9999);
            EXPECT_LE(plan.wire_bytes, 3 * plan.message_bytes);
        }
}

TEST(Operators, MessagesOfDeepSeek) {
    for (auto const name : {"fused", "deepep", "deepep_normal", "pull"}) {
        EXPECT_EQ(make_plan(variant(name), OpKind::dispatch, deepseek).message_bytes, 7'680) << name;  // INT8 + scale
        EXPECT_EQ(make_plan(variant(name), OpKind::combine, deepseek).message_bytes, 14'336) << name;  // BF16
    }
    EXPECT_EQ(make_plan(variant("alltoall"), OpKind::dispatch, deepseek).message_bytes, 14'336);
    EXPECT_EQ(make_plan(variant("alltoall"), OpKind::combine, deepseek).message_bytes, 14'336);
}

TEST(Operators, DispatchMessageIsPaddedTo512Bytes) {
    auto const bytes = [](std::uint32_t hidden) {
        return make_plan(variant("fused"), OpKind::dispatch, {.hidden = hidden, .vector_cores = 48}).message_bytes;
    };
    EXPECT_EQ(bytes(4096), 4096 + 512);
    EXPECT_EQ(bytes(4097), 4608 + 512);
    EXPECT_EQ(bytes(2880), 3072 + 512);
}

TEST(Operators, WireBytesArePayloadOverEfficiencyRoundedUp) {
    auto const push = make_plan(variant("fused"), OpKind::dispatch, deepseek);
    EXPECT_EQ(push.wire_bytes, 10'972);  // 7,680 / 0.70 = 10,971.4
    auto const pull = make_plan(variant("pull"), OpKind::combine, deepseek);
    EXPECT_EQ(pull.wire_bytes, 16'866);  // 14,336 / 0.85 = 16,865.9
}

TEST(Operators, StylesOfTheVariants) {
    EXPECT_EQ(make_plan(variant("fused"), OpKind::dispatch, deepseek).style, ExchangeStyle::push);
    EXPECT_EQ(make_plan(variant("fused"), OpKind::dispatch, deepseek).loop, ExchangeLoop::prepared);
    EXPECT_EQ(make_plan(variant("pull"), OpKind::dispatch, deepseek).style, ExchangeStyle::pull);
    EXPECT_EQ(make_plan(variant("deepep_normal"), OpKind::combine, deepseek).loop, ExchangeLoop::overlapped);
    EXPECT_EQ(make_plan(variant("alltoall"), OpKind::combine, deepseek).shares, ExchangeShares::equal);
}

TEST(Operators, OverridesReplaceOneConstantOfOneOperator) {
    auto spec = variant("fused");
    spec.mutable_dispatch()->set_launch((3_us).ps());
    spec.mutable_dispatch()->set_per_message((7_us).ps());
    spec.mutable_dispatch()->set_per_peer(0);
    spec.mutable_dispatch()->set_finish((2_us).ps());
    spec.mutable_dispatch()->set_efficiency(0.5);
    spec.mutable_dispatch()->set_message_bytes(1'001);
    auto const dispatch = make_plan(spec, OpKind::dispatch, deepseek);
    EXPECT_EQ(dispatch.launch, 3_us);
    EXPECT_EQ(dispatch.per_message, 7_us);
    EXPECT_EQ(dispatch.per_peer, Time{});
    EXPECT_EQ(dispatch.finish, 2_us);
    EXPECT_EQ(dispatch.message_bytes, 1'001);
    EXPECT_EQ(dispatch.wire_bytes, 2'002);

    auto const combine = make_plan(spec, OpKind::combine, deepseek);
    auto const untouched = make_plan(variant("fused"), OpKind::combine, deepseek);
    EXPECT_EQ(combine.launch, untouched.launch);
    EXPECT_EQ(combine.per_message, untouched.per_message);
    EXPECT_EQ(combine.wire_bytes, untouched.wire_bytes);
}

TEST(Operators, UnknownVariantIsRefusedByName) {
    try {
        make_plan(variant("telepathy"), OpKind::dispatch, deepseek);
        FAIL() << "accepted";
    } catch (InputError const& error) {
        EXPECT_NE(std::string{error.what()}.find("telepathy"), std::string::npos);
    }
}

TEST(ExchangePlan, LoopIsDealtOverTheCores) {
    ExchangePlan plan;
    plan.cores = 48;
    plan.per_message = 2_us;
    EXPECT_EQ(plan.loop_time(0), Time{});
    EXPECT_EQ(plan.loop_time(1), 2_us);
    EXPECT_EQ(plan.loop_time(48), 2_us);
    EXPECT_EQ(plan.loop_time(49), 4_us);
    EXPECT_EQ(plan.loop_time(1'024), 44_us);  // 128 tokens, top-8: 22 rounds
}

TEST(ExchangePlan, FlagsLeaveInRoundsByDistance) {
    ExchangePlan plan;
    plan.cores = 48;
    plan.per_peer = 5_us;
    EXPECT_EQ(plan.flag_time(1), 5_us);
    EXPECT_EQ(plan.flag_time(47), 5_us);
    EXPECT_EQ(plan.flag_time(48), 10_us);
    EXPECT_EQ(plan.flag_time(287), 30_us);  // EP288
    EXPECT_EQ(plan.flag_time(319), 35_us);  // EP320
}

TEST(Operators, ExplanationHoldsTheNumbersOfThePlan) {
    auto const text = explain(make_plan(variant("fused"), OpKind::dispatch, deepseek));
    for (auto const part : {"push", "share by bytes", "then the wire", "10972 B", "7680 B", "48 peers"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    EXPECT_NE(explain(make_plan(variant("deepep_normal"), OpKind::dispatch, deepseek)).find("while on"),
              std::string::npos);
}

}  // namespace
}  // namespace orrery

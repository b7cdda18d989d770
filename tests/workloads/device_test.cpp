// SPDX-License-Identifier: Apache-2.0
// Prices of operations on a device: hand-computed rooflines, and published orders of magnitude.
#include "core/check.hpp"
#include "proto/scenario.pb.h"
#include "tests/workloads/shared_data.hpp"
#include "workloads/devices/attention_price.hpp"
#include "workloads/devices/ffn_price.hpp"
#include "workloads/devices/roofline.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using ::testing::HasSubstr;
using namespace literals;

// The default device of the scenario schema.
Device a3_die() {
    return {.name = "A3 die",
            .int8_rate = 752e12,
            .bf16_rate = 376e12,
            .memory_rate = 1.6e12,
            .int8_efficiency = 0.80,
            .bf16_efficiency = 0.654,
            .memory_efficiency = 0.841,
            .kernel_overhead = 5_us,
            .vector_cores = 48};
}

// Round numbers, no losses, no overhead: prices can be computed by hand.
Device ideal() {
    return {.name = "ideal",
            .int8_rate = 2e12,
            .bf16_rate = 1e12,
            .memory_rate = 1e12,
            .int8_efficiency = 1,
            .bf16_efficiency = 1,
            .memory_efficiency = 1,
            .kernel_overhead = Time{},
            .vector_cores = 1};
}

ModelConfig r1() {
    return read_model_config(test::shipped_model("deepseek-r1.json"));
}
ModelConfig qwen() {
    return read_model_config(test::shipped_model("qwen3.5-397b-a17b.json"));
}

TEST(Device, IsMadeFromAResolvedSpecOnly) {
    scenario::DeviceSpec spec;
    spec.set_name("half filled");
    spec.set_int8_rate(1e15);
    EXPECT_THROW(make_device(spec), InternalError);
    spec.set_bf16_rate(5e14);
    spec.set_memory_rate(8'000'000'000'000);
    spec.set_int8_efficiency(0.5);
    spec.set_bf16_efficiency(0.25);
    spec.set_memory_efficiency(0.75);
    spec.set_kernel_overhead(3'000'000);
    spec.set_vector_cores(40);
    Device const device = make_device(spec);
    EXPECT_EQ(device.int8_ops_per_s(), 5e14);
    EXPECT_EQ(device.bf16_ops_per_s(), 1.25e14);
    EXPECT_EQ(device.bytes_per_s(), 7.5e11);
    EXPECT_EQ(device.kernel_overhead, 3_us);
}

TEST(Roofline, TakesTheSlowerSideAndNamesIt) {
    OpPrice const compute = price(ideal(), {{"matmul", Cube::int8, 4e6, 1e6, 1}});
    EXPECT_EQ(compute.duration, 2_us);
    EXPECT_STREQ(compute.bound_by, "INT8 cube");
    OpPrice const memory = price(ideal(), {{"copy", Cube::bf16, 1e6, 3e6, 1}});
    EXPECT_EQ(memory.duration, 3_us);
    EXPECT_STREQ(memory.bound_by, "HBM bandwidth");
    OpPrice const tiny = price(a3_die(), {{"nothing", Cube::bf16, 1, 1, 2}});
    EXPECT_GE(tiny.duration, 10_us);
    EXPECT_STREQ(tiny.bound_by, "kernel overhead");
    EXPECT_THAT(compute.formula, HasSubstr("matmul max(4 Mop / (2 Top/s * 1), 1 MB / (1 TB/s * 1)) = 2 us"));
}

TEST(Attention, MlaDecodeCountsAbsorbedOperations) {
    // One sequence, one token, 1000 tokens of context on the ideal device.
    OpPrice const cost = price_attention(ideal(), r1(), Phase::decode, 1, 1, 1000, LayerAttention::full);
    double const core_ops = 1000.0 * 128 * (2 * 576 + 2 * 512);
    double const weights = 7168 * 1536. + 1536 * 128 * 192. + 7168 * 576. + 512 * 128 * 256. + 128 * 128 * 7168.;
    double const seconds = core_ops / 1e12 + (weights + 7168 * 4) / 1e12;
    EXPECT_NEAR(static_cast<double>(cost.duration.ps()), seconds * 1e12, 2);
}

TEST(Attention, MlaCacheIsReadOncePerSequenceHoweverManyNewTokens) {
    Device slow_memory = ideal();
    slow_memory.memory_rate = 1e9;
    auto const core = [&](std::uint32_t context, std::uint32_t tokens) {
        return price_attention(slow_memory, r1(), Phase::decode, 4, tokens, context, LayerAttention::full).duration;
    };
    Time const cache = transfer_time(4 * 1000 * 1152, 1_GBps);
    for (std::uint32_t const tokens : {1U, 2U})
        EXPECT_NEAR(static_cast<double>((core(2000, tokens) - core(1000, tokens)).ps()),
                    static_cast<double>(cache.ps()), 4);
}

TEST(Attention, DeepSeekDecodeLayerOnAnA3DieIsInThePublishedRange) {
    OpPrice const cost = price_attention(a3_die(), r1(), Phase::decode, 48, 1, 4096, LayerAttention::full);
    EXPECT_GT(cost.duration, 300_us);
    EXPECT_LT(cost.duration, 500_us);
    EXPECT_THAT(cost.formula, HasSubstr("54.76 Gop / (376 Top/s * 0.654)"));
    EXPECT_THAT(cost.formula, HasSubstr("226.5 MB / (1.6 TB/s * 0.841)"));
}

TEST(Attention, LinearLayersDoNotSeeTheContext) {
    auto const at = [](std::uint32_t context, LayerAttention kind) {
        return price_attention(a3_die(), qwen(), Phase::decode, 16, 1, context, kind).duration;
    };
    EXPECT_EQ(at(1024, LayerAttention::linear), at(131072, LayerAttention::linear));
    EXPECT_LT(at(1024, LayerAttention::full), at(131072, LayerAttention::full));
    // State of 64 x 128 x 128 in FP32 and a window of 36,864 in BF16, read and written for each of 16 sequences.
    OpPrice const cost = price_attention(a3_die(), qwen(), Phase::decode, 16, 1, 1024, LayerAttention::linear);
    EXPECT_THAT(cost.formula, HasSubstr("136.6 MB"));
}

TEST(Attention, PrefillIsCausalAndNotAbsorbed) {
    Device free_memory = ideal();
    free_memory.memory_rate = 1e24;
    free_memory.int8_rate = 1e24;  // projections cost nothing
    auto const core = [&](std::uint32_t tokens, std::uint32_t context) {
        return static_cast<double>(
            price_attention(free_memory, r1(), Phase::prefill, 1, tokens, context, LayerAttention::full).duration.ps());
    };
    double const per_pair = 128 * 2.0 * (192 + 128);  // operations per (query, key), heads included; 1 ps each
    EXPECT_NEAR(core(1000, 1000), per_pair * 1000 * 1001 / 2, 2);
    // Two chunks cost as much as the whole prompt.
    EXPECT_NEAR(core(500, 500) + core(500, 1000), core(1000, 1000), 4);
}

TEST(Experts, OneExpertWith432TokensOnAnA3Die) {
    ExpertPricer const pricer(a3_die(), r1());
    EXPECT_GT(pricer.experts_time(432, 1), 40_us);
    EXPECT_LT(pricer.experts_time(432, 1), 100_us);
    EXPECT_STREQ(pricer.explain(432, 1).bound_by, "INT8 cube");
    EXPECT_STREQ(pricer.explain(8, 4).bound_by, "HBM bandwidth");
    EXPECT_THAT(pricer.explain(432, 1).formula, HasSubstr("432 tokens on 1 expert(s) of 44040192 weights"));
}

TEST(Experts, FastPathAndExplanationAgree) {
    ExpertPricer const pricer(a3_die(), qwen());
    for (std::uint64_t const tokens : {0U, 1U, 7U, 432U, 5000U})
        for (std::uint32_t const active : {0U, 1U, 10U})
            EXPECT_EQ(pricer.experts_time(tokens, active), pricer.explain(tokens, active).duration);
}

TEST(Experts, MoreTokensOrExpertsAreNeverFaster) {
    ExpertPricer const pricer(a3_die(), r1());
    for (std::uint64_t tokens = 1; tokens < 3000; tokens += 13) {
        EXPECT_GE(pricer.experts_time(tokens + 13, 2), pricer.experts_time(tokens, 2));
        EXPECT_GE(pricer.experts_time(tokens, 3), pricer.experts_time(tokens, 2));
    }
}

TEST(Ffn, WeightsAreReadOnceAndTokensShareThem) {
    Device slow_memory = ideal();
    slow_memory.memory_rate = 1e9;
    slow_memory.bf16_rate = slow_memory.int8_rate = 1e18;
    auto const bytes = [](Time time) { return static_cast<double>(time.ps()) / 1000; };  // 1 byte per ns
    EXPECT_NEAR(bytes(price_dense_ffn(slow_memory, r1(), 10).duration),
                3. * 7168 * 18432 + 10 * (3. * 7168 + 2. * 18432), 1);
    EXPECT_NEAR(bytes(price_shared_expert(slow_memory, r1(), 1).duration), 3. * 7168 * 2048 + 3. * 7168 + 2. * 2048, 1);
    EXPECT_NEAR(bytes(price_gate(slow_memory, r1(), 2).duration), 2. * (7168 * 256 + 2 * (7168 + 256)), 1);
}

}  // namespace
}  // namespace orrery

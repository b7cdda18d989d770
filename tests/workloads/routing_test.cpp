// SPDX-License-Identifier: Apache-2.0
// Routing sources: distributions against exact expectations, purity, group limits, and files.
#include "core/check.hpp"
#include "proto/scenario.pb.h"
#include "tests/workloads/shared_data.hpp"
#include "workloads/models/model_config.hpp"
#include "workloads/moe/routing_source.hpp"
#include "workloads/moe/trace_file.hpp"
#include "workloads/moe/weighted_sampler.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Loads = std::vector<std::uint64_t>;

RoutingSetup setup_of(char const* source, std::uint32_t experts, std::uint32_t top_k, std::uint32_t layers = 4) {
    RoutingSetup setup;
    setup.source = source;
    setup.experts = experts;
    setup.top_k = top_k;
    setup.moe_layers = layers;
    return setup;
}

std::vector<std::uint16_t> choice(RoutingSource const& source, std::uint32_t layer, std::uint64_t token,
                                  std::uint32_t k) {
    std::vector<std::uint16_t> experts(k);
    source.choose(layer, token, experts);
    return experts;
}

std::vector<double> frequencies(RoutingSource const& source, std::uint32_t layer, std::uint32_t experts,
                                std::uint32_t k, std::uint64_t tokens) {
    std::vector<double> count(experts, 0);
    std::vector<std::uint16_t> chosen(k);
    for (std::uint64_t token = 0; token < tokens; ++token) {
        source.choose(layer, token, chosen);
        for (std::uint16_t const expert : chosen) count[expert] += 1;
    }
    for (double& value : count) value /= static_cast<double>(tokens);
    return count;
}

// Exact inclusion probabilities of successive draws without replacement, by enumeration of all orders.
void enumerate(Loads const& weights, std::vector<bool>& taken, std::uint32_t left, double probability,
               std::vector<double>& inclusion) {
    if (left == 0) {
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (taken[i]) inclusion[i] += probability;
        return;
    }
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (!taken[i]) total += static_cast<double>(weights[i]);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (taken[i] || weights[i] == 0) continue;
        taken[i] = true;
        enumerate(weights, taken, left - 1, probability * static_cast<double>(weights[i]) / total, inclusion);
        taken[i] = false;
    }
}

std::vector<double> exact_inclusion(Loads const& weights, std::uint32_t k) {
    std::vector<double> inclusion(weights.size(), 0);
    std::vector<bool> taken(weights.size(), false);
    enumerate(weights, taken, k, 1, inclusion);
    return inclusion;
}

// Largest deviation of a frequency from its probability, in standard deviations of the frequency.
double worst_deviation(std::vector<double> const& got, std::vector<double> const& exact, double tokens) {
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        worst = std::max(worst, std::abs(got[i] - exact[i]) / std::sqrt(exact[i] * (1 - exact[i]) / tokens + 1e-18));
    return worst;
}

TEST(Sampler, FrequenciesAreThoseOfSuccessiveDraws) {
    constexpr int tokens = 400'000;
    // The second list is so skewed that most draws end in the exact scan.
    for (Loads const& weights :
         {Loads{5, 1, 3, 0, 8, 2, 2, 9}, Loads{1'000'000'000'000, 1'000'000'000, 900, 500, 7, 3}}) {
        WeightedSampler const sampler(weights, {.top_k = 3});
        std::vector<double> count(weights.size(), 0);
        std::vector<std::uint16_t> chosen(3);
        for (int token = 0; token < tokens; ++token) {
            RandomSequence random(7, RandomStream::test, static_cast<std::uint64_t>(token));
            sampler.draw(random, chosen);
            for (std::uint16_t const expert : chosen) count[expert] += 1.0 / tokens;
        }
        EXPECT_LT(worst_deviation(count, exact_inclusion(weights, 3), tokens), 4);
    }
}

TEST(Sampler, FallsBackToWeightlessExpertsOnlyWhenNothingElseIsLeft) {
    WeightedSampler const sampler({0, 4, 0, 0}, {.top_k = 2});
    std::vector<double> count(4, 0);
    std::vector<std::uint16_t> chosen(2);
    for (std::uint64_t token = 0; token < 30'000; ++token) {
        RandomSequence random(7, RandomStream::test, token);
        sampler.draw(random, chosen);
        EXPECT_EQ(chosen[0], 1);
        count[chosen[1]] += 1;
    }
    for (std::size_t const expert : {0U, 2U, 3U}) EXPECT_NEAR(count[expert], 10'000, 4 * std::sqrt(30'000 * 2.0 / 9));
}

TEST(Routing, UniformChoosesEveryExpertAlike) {
    auto const source = make_routing_source(setup_of("uniform", 256, 8));
    auto const got = frequencies(*source, 2, 256, 8, 200'000);
    EXPECT_LT(worst_deviation(got, std::vector<double>(256, 8.0 / 256), 200'000), 4.5);
}

TEST(Routing, UniformTopEightHitsThePublishedNumberOfRemoteNodes) {
    // Distinct remote nodes of a token: 0.997 of 2, 2.711 of 4 nodes (DeepEP, intranode excluded).
    auto const source = make_routing_source(setup_of("uniform", 256, 8));
    for (auto const& [nodes, expected] : {std::pair{2U, 0.997}, std::pair{4U, 2.711}}) {
        constexpr int tokens = 100'000;
        double sum = 0;
        double squares = 0;
        for (std::uint64_t token = 0; token < tokens; ++token) {
            std::set<std::uint32_t> remote;
            for (std::uint16_t const expert : choice(*source, 0, token, 8)) remote.insert(expert / (256 / nodes));
            remote.erase(static_cast<std::uint32_t>(token % nodes));
            sum += static_cast<double>(remote.size());
            squares += static_cast<double>(remote.size() * remote.size());
        }
        double const mean = sum / tokens;
        double const sigma = std::sqrt((squares / tokens - mean * mean) / tokens);
        EXPECT_NEAR(mean, expected, 3 * sigma + 0.0005) << nodes << " nodes";  // the figures have three decimals
    }
}

TEST(Routing, ZipfFollowsItsLaw) {
    RoutingSetup setup = setup_of("zipf", 10, 3);
    setup.zipf_s = 1.2;
    auto const source = make_routing_source(setup);
    auto got = frequencies(*source, 1, 10, 3, 300'000);
    Loads weights;
    for (int k = 1; k <= 10; ++k) weights.push_back(static_cast<std::uint64_t>(std::pow(k, -1.2) * 1e9));
    std::sort(got.rbegin(), got.rend());
    EXPECT_LT(worst_deviation(got, exact_inclusion(weights, 3), 300'000), 4);
}

TEST(Routing, ZipfExpectedLoadIsWhatTokensChoose) {
    RoutingSetup setup = setup_of("zipf", 128, 8);
    setup.zipf_s = 0.8;
    auto const source = make_routing_source(setup);
    auto const got = frequencies(*source, 0, 128, 8, 200'000);
    auto const expected = source->expected_load(0);
    double const total = static_cast<double>(std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}));
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], 8 * static_cast<double>(expected[i]) / total, 0.01 * got[i] + 0.002) << i;
}

TEST(Routing, PopularExpertsDifferByLayerUnlessAskedNotTo) {
    RoutingSetup setup = setup_of("zipf", 64, 4);
    setup.zipf_s = 1;
    auto const hottest = [](RoutingSource const& source, std::uint32_t layer) {
        auto const load = source.expected_load(layer);
        return std::max_element(load.begin(), load.end()) - load.begin();
    };
    auto const varied = make_routing_source(setup);
    EXPECT_FALSE(hottest(*varied, 0) == hottest(*varied, 1) && hottest(*varied, 1) == hottest(*varied, 2));
    setup.same_for_all_layers = true;
    auto const same = make_routing_source(setup);
    EXPECT_EQ(hottest(*same, 0), hottest(*same, 3));
}

TEST(Routing, AChoiceDependsOnSeedLayerAndTokenOnly) {
    RoutingSetup setup = setup_of("zipf", 256, 8);
    setup.zipf_s = 0.5;
    auto const source = make_routing_source(setup);
    auto const again = make_routing_source(setup);
    for (std::uint64_t token = 500; token-- > 0;)  // another order, another object
        EXPECT_EQ(choice(*source, 1, token, 8), choice(*again, 1, token, 8));
    EXPECT_NE(choice(*source, 1, 5, 8), choice(*source, 2, 5, 8));
    EXPECT_NE(choice(*source, 1, 5, 8), choice(*source, 1, 6, 8));
    setup.seed = 2;
    EXPECT_NE(choice(*make_routing_source(setup), 1, 5, 8), choice(*source, 1, 5, 8));
}

TEST(Routing, ChoicesAreDistinctAndStayInTheAllowedGroups) {
    for (char const* name : {"uniform", "zipf"}) {
        RoutingSetup setup = setup_of(name, 256, 8);
        setup.zipf_s = 2;
        setup.n_group = 8;
        setup.topk_group = 4;
        auto const source = make_routing_source(setup);
        std::size_t most_groups = 0;
        for (std::uint64_t token = 0; token < 20'000; ++token) {
            auto const experts = choice(*source, 0, token, 8);
            std::set<int> groups;
            for (std::uint16_t const expert : experts) groups.insert(expert / 32);
            EXPECT_LE(groups.size(), 4U);
            EXPECT_EQ(std::set<std::uint16_t>(experts.begin(), experts.end()).size(), 8U);
            most_groups = std::max(most_groups, groups.size());
        }
        EXPECT_EQ(most_groups, 4U) << name;
        EXPECT_THAT(source->describe(), HasSubstr("at most 4 of 8 groups"));
    }
}

TEST(Routing, UniformStaysUniformUnderAGroupLimit) {
    RoutingSetup setup = setup_of("uniform", 64, 4);
    setup.n_group = 8;
    setup.topk_group = 2;
    auto const got = frequencies(*make_routing_source(setup), 0, 64, 4, 200'000);
    EXPECT_LT(worst_deviation(got, std::vector<double>(64, 4.0 / 64), 200'000), 4.5);
}

TEST(Sampler, GroupsAreDrawnByTheirWeightThenExpertsInsideThem) {
    // 4 groups of 2, two allowed. Exact: over ordered pairs of groups, then successive draws inside the pair.
    Loads const weights = {5, 1, 3, 0, 8, 2, 2, 9};
    std::vector<double> exact(8, 0);
    double const total = 30;
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 4; ++b) {
            if (a == b) continue;
            auto const mass = [&](std::size_t group) {
                return static_cast<double>(weights[2 * group] + weights[2 * group + 1]);
            };
            double const probability = mass(a) / total * mass(b) / (total - mass(a));
            auto const inside =
                exact_inclusion({weights[2 * a], weights[2 * a + 1], weights[2 * b], weights[2 * b + 1]}, 2);
            for (std::size_t i = 0; i < 2; ++i) {
                exact[2 * a + i] += probability * inside[i];
                exact[2 * b + i] += probability * inside[2 + i];
            }
        }
    WeightedSampler const sampler(weights, {.top_k = 2, .n_group = 4, .topk_group = 2});
    constexpr int tokens = 300'000;
    std::vector<double> count(8, 0);
    std::vector<std::uint16_t> chosen(2);
    for (std::uint64_t token = 0; token < tokens; ++token) {
        RandomSequence random(3, RandomStream::test, token);
        sampler.draw(random, chosen);
        for (std::uint16_t const expert : chosen) count[expert] += 1.0 / tokens;
    }
    EXPECT_LT(worst_deviation(count, exact, tokens), 4);
}

TEST(Routing, TooManyGroupsAreRefused) {
    RoutingSetup setup = setup_of("uniform", 64, 4);
    setup.n_group = 16;
    setup.topk_group = 4;
    EXPECT_THAT(test::complaint<InputError>([&] { make_routing_source(setup); }),
                AllOf(HasSubstr("4 of 16 expert groups"), HasSubstr("group_limited=false")));
}

TEST(Routing, ScenarioSectionAndModelMakeASetup) {
    ModelConfig const model = read_model_config(test::shipped_model("deepseek-v3.json"));
    scenario::RoutingSpec spec;
    spec.set_source("zipf");
    spec.set_zipf_s(0.3);
    spec.set_group_limited(true);
    RoutingSetup const limited = make_routing_setup(spec, model, 58, 9);
    EXPECT_EQ(limited.experts, 256U);
    EXPECT_EQ(limited.moe_layers, 58U);
    EXPECT_EQ(limited.seed, 9U);
    EXPECT_TRUE(limited.choice().limited());
    spec.set_group_limited(false);
    EXPECT_FALSE(make_routing_setup(spec, model, 58, 9).choice().limited());
}

TEST(Histogram, TokensReproduceTheLoadsOfTheFile) {
    std::string list;
    Loads loads;
    for (std::uint64_t i = 0; i < 64; ++i) {
        loads.push_back(1000 / (i + 4));
        list += (i == 0 ? "" : ",") + std::to_string(loads.back());
    }
    test::TempFile const file("loads.json", "{\"weight\": [[" + list + "]]}");
    RoutingSetup setup = setup_of("histogram", 64, 4);
    setup.file = file.path();
    auto const source = make_routing_source(setup);
    EXPECT_EQ(source->expected_load(3), loads);
    auto const got = frequencies(*source, 3, 64, 4, 200'000);
    double const total = static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
    for (std::size_t i = 0; i < 64; ++i)
        EXPECT_NEAR(got[i], 4 * static_cast<double>(loads[i]) / total, 0.035 * got[i] + 0.001)
            << i;  // the inverse is asymptotic
}

TEST(Histogram, LoadsAreReproducedUnderAGroupLimitToo) {
    std::string list;
    for (std::uint64_t i = 0; i < 256; ++i)
        list += (i == 0 ? "" : ",") + std::to_string(100'000 / (i * 101 % 256 + 20));
    test::TempFile const file("loads.json", "[[" + list + "]]");
    RoutingSetup setup = setup_of("histogram", 256, 8);
    setup.n_group = 8;
    setup.topk_group = 4;
    setup.file = file.path();
    auto const source = make_routing_source(setup);
    auto const loads = source->expected_load(0);
    auto const got = frequencies(*source, 0, 256, 8, 200'000);
    double const total = static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_NEAR(got[i], 8 * static_cast<double>(loads[i]) / total, 0.04 * got[i] + 0.001) << i;
}

TEST(Histogram, CsvAndJsonAreTheSameLoads) {
    auto const loads = [](char const* name, char const* text) {
        test::TempFile const file(name, text);
        RoutingSetup setup = setup_of("histogram", 3, 2, 2);
        setup.file = file.path();
        auto const source = make_routing_source(setup);
        return std::vector<Loads>{source->expected_load(0), source->expected_load(1)};
    };
    std::vector<Loads> const expected = {{5, 0, 7}, {1, 2, 3}};
    EXPECT_EQ(loads("a.json", "[[5, 0, 7], [1, 2, 3]]"), expected);
    EXPECT_EQ(loads("a.csv", "5,0,7\n1,2,3\n"), expected);
    EXPECT_EQ(loads("b.csv", "# measured\nlayer,expert,load\r\n3,0,5\r\n3,2,7\r\n4,0,1\r\n4,1,2\r\n4,2,3\r\n"),
              expected);
    EXPECT_EQ(loads("c.csv", "tokens,expert,layer\n5,0,0\n0,1,0\n7,2,0\n1,0,1\n2,1,1\n3,2,1\n"), expected);
}

TEST(Histogram, RefusesFilesThatDoNotFitTheModel) {
    auto const refusal = [](char const* name, char const* text) {
        test::TempFile const file(name, text);
        RoutingSetup setup = setup_of("histogram", 3, 2, 4);
        setup.file = file.path();
        return test::complaint<InputError>([&] { make_routing_source(setup); });
    };
    EXPECT_EQ(refusal("a.json", "[[5, 1, 7]]"), "");
    EXPECT_THAT(refusal("a.json", "[[5, 1, 7], [1, 2, 3]]"), AllOf(HasSubstr("2 layers"), HasSubstr("4 MoE layers")));
    EXPECT_THAT(refusal("a.json", "[[5, 1]]"), AllOf(HasSubstr("has 2 loads"), HasSubstr("3 routed experts")));
    EXPECT_THAT(refusal("a.json", "[[5, 0, 0]]"), HasSubstr("1 experts with load"));
    EXPECT_THAT(refusal("a.json", "[[5, -1, 3]]"), HasSubstr("layer 0 expert 1 has load -1"));
    EXPECT_THAT(refusal("a.json", "[[5, \"x\", 3]]"), HasSubstr("weight[0][1] is \"x\""));
    EXPECT_THAT(refusal("a.json", "{\"loads\": []}"), HasSubstr("\"weight\" is missing"));
    EXPECT_THAT(refusal("a.csv", "1,2,3\n1,x,3\n"), HasSubstr("a.csv:2: \"x\" is no load"));
    EXPECT_THAT(refusal("a.csv", "layer,expert,load\n0,3,9\n"), HasSubstr("a.csv:2: expert 3 does not exist"));
    EXPECT_THAT(refusal("a.csv", "layer,expert,load\n0,1,9\n0,1,9\n"), HasSubstr("appears twice"));
    EXPECT_THAT(refusal("a.csv", "layer,rank,load\n0,1,9\n"), HasSubstr("no column expert"));
}

std::string const trace_header =
    R"({"row_type":"header","provenance":{"expert_count":4,"top_k":2,"model_id":"tiny","moe_layer_indices":[1,3]}})"
    "\n";
std::string token_row(char const* a, char const* b) {
    return std::string(R"({"routing":[{"layer_index":3,"expert_ids":)") + b + R"(},{"layer_index":1,"expert_ids":)" +
           a + "}]}\n";
}

TEST(Trace, ReproducesItsRowsThenRepeatsThem) {
    test::TempFile const file("trace.jsonl", trace_header +
                                                 R"({"row_type":"request"})"
                                                 "\n" +
                                                 token_row("[0,1]", "[2,3]") + token_row("[1,2]", "[0,3]") +
                                                 token_row("[3,0]", "[1,0]") +
                                                 R"({"prefill_dispatch_count":1,"decode_dispatch_count":2})"
                                                 "\n");
    RoutingSetup setup = setup_of("trace", 4, 2, 5);
    setup.file = file.path();
    auto const source = make_routing_source(setup);
    using Choice = std::vector<std::uint16_t>;
    EXPECT_EQ(choice(*source, 0, 0, 2), (Choice{0, 1}));
    EXPECT_EQ(choice(*source, 1, 0, 2), (Choice{2, 3}));
    EXPECT_EQ(choice(*source, 0, 2, 2), (Choice{3, 0}));
    EXPECT_EQ(choice(*source, 2, 1, 2), (Choice{1, 2}));  // layers repeat
    EXPECT_EQ(choice(*source, 0, 3, 2), (Choice{1, 2}));  // the second lap starts at token 1
    std::multiset<Choice> lap;
    for (std::uint64_t token = 3; token < 6; ++token) lap.insert(choice(*source, 0, token, 2));
    EXPECT_EQ(lap, (std::multiset<Choice>{{0, 1}, {1, 2}, {3, 0}}));
    EXPECT_EQ(source->expected_load(1), (Loads{2, 1, 1, 2}));
    EXPECT_THAT(source->describe(),
                AllOf(HasSubstr("3 tokens of tiny"), HasSubstr("its 2 layers repeated over the model's 5")));
}

TEST(Trace, RefusesByLineNumber) {
    auto const refusal = [](std::string const& text) {
        test::TempFile const file("bad.jsonl", text);
        return test::complaint<InputError>([&] { read_routing_trace(file.path(), {4, 2}); });
    };
    std::string const good = token_row("[0,1]", "[2,3]");
    EXPECT_EQ(refusal(trace_header + good), "");
    EXPECT_THAT(refusal(""), HasSubstr("is empty"));
    EXPECT_THAT(refusal(trace_header), HasSubstr("holds no tokens"));
    EXPECT_THAT(refusal(good), HasSubstr("bad.jsonl:1: the line is not a header"));
    EXPECT_THAT(refusal(trace_header + good + "{\"routing\":[{\"lay"),
                HasSubstr("bad.jsonl:3: the line is not a JSON"));
    EXPECT_THAT(refusal(trace_header + token_row("[0,4]", "[2,3]")),
                HasSubstr("bad.jsonl:2: the line names expert 4 in layer 1"));
    EXPECT_THAT(refusal(trace_header + token_row("[0,0]", "[2,3]")), HasSubstr("names expert 0 twice"));
    EXPECT_THAT(refusal(trace_header + token_row("[0]", "[2,3]")), HasSubstr("no valid expert_ids in layer 1"));
    EXPECT_THAT(refusal(trace_header + R"({"routing":[{"layer_index":1,"expert_ids":[0,1]}]})"),
                HasSubstr("has 1 layers"));
    EXPECT_THAT(refusal(trace_header + R"({"routing":[{"layer_index":2,"expert_ids":[0,1]}]})"),
                HasSubstr("names layer 2"));
    EXPECT_THAT(refusal(trace_header + good + R"({"prefill_dispatch_count":1,"decode_dispatch_count":2})"),
                AllOf(HasSubstr("counts 3 tokens"), HasSubstr("1 were found")));
}

TEST(Trace, OfAnotherModelIsRefusedWithBothNumbers) {
    test::TempFile const file("trace.jsonl", trace_header + token_row("[0,1]", "[2,3]"));
    RoutingSetup setup = setup_of("trace", 256, 8);
    setup.file = file.path();
    EXPECT_THAT(test::complaint<InputError>([&] { make_routing_source(setup); }),
                AllOf(HasSubstr("4 experts and top-2"), HasSubstr("256 and top-8"), HasSubstr("config.json of tiny"),
                      HasSubstr("histogram")));
}

TEST(Trace, MemoryIsBoundedAndProfilingBatchesAreNoticed) {
    test::TempFile const file("trace.jsonl", trace_header + token_row("[0,1]", "[1,0]") + token_row("[1,2]", "[0,3]"));
    EXPECT_THAT(read_routing_trace(file.path(), {4, 2}).warnings.at(0),
                HasSubstr("1 of 2 tokens choose experts 0 to 1"));
    RoutingTrace const cut = read_routing_trace(file.path(), {4, 2}, 8);
    EXPECT_EQ(cut.tokens, 1U);
    EXPECT_THAT(cut.warnings.at(0), HasSubstr("only the first 1 tokens"));
}

TEST(Trace, ReadsTheReferenceTrace) {
    ORRERY_NEEDS_SHARED_DATA();
    RoutingSetup setup = setup_of("trace", 32, 8, 24);
    setup.file = test::shared_data() / "realfiles/moe_routing/sglang_routing-trace.jsonl";
    auto const source = make_routing_source(setup);
    EXPECT_EQ(choice(*source, 0, 0, 8), (std::vector<std::uint16_t>{13, 14, 29, 28, 12, 18, 1, 23}));
    EXPECT_EQ(choice(*source, 23, 0, 8), (std::vector<std::uint16_t>{21, 12, 23, 4, 20, 10, 30, 26}));
    EXPECT_THAT(source->describe(), HasSubstr("216 tokens of ibm-granite/granite-3.0-1b-a400m-instruct"));
    EXPECT_TRUE(source->warnings().empty());
}

TEST(Routing, NamesAreRegisteredAndOthersRefused) {
    EXPECT_EQ(routing_source_names(), (std::vector<std::string>{"histogram", "trace", "uniform", "zipf"}));
    EXPECT_THAT(test::complaint<InputError>([] { make_routing_source(setup_of("random", 8, 2)); }),
                AllOf(HasSubstr("\"random\""), HasSubstr("histogram, trace, uniform, zipf")));
}

}  // namespace
}  // namespace orrery

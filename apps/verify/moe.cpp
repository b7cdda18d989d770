// SPDX-License-Identifier: Apache-2.0
// Routing and placement of experts: payload, nodes that a token reaches, the published EPLB example.
#include "apps/run/moe_step.hpp"
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "workloads/moe/placement.hpp"
#include "workloads/moe/routing_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace orrery {
namespace {

std::unique_ptr<Job> deepseek(std::uint32_t ep, std::uint32_t tokens) {
    return job_of(fmt::format(R"(
fabric: {{kind: cloudmatrix384}}
workload:
  model: model.json
  batch_per_rank: {}
  ep: {}
  moe_layers: 1
  routing: {{source: uniform, group_limited: false}}
)",
                              tokens, ep));
}

// What rank 3 hands to the operator for 128 tokens, its own experts' share included.
VerifyResult payload(OpKind kind, double message_bytes) {
    auto const job = deepseek(8, 128);
    RoutingMatrix matrix;
    job->moe_step().matrices().build(0, 0, 0, matrix);
    std::int64_t messages = 0;
    for (std::uint32_t target = 0; target < 8; ++target) messages += matrix.messages(3, target);
    return {.expected = 128 * 8 * message_bytes,
            .got = static_cast<double>(messages * job->moe_step().exchange(kind).message_bytes)};
}

// Other nodes among those that hold a token's eight experts, averaged over all tokens of the group. Expected value of
// a hypergeometric draw: (n - 1) times the chance that a node's 256/n experts are hit at all.
double binomial_ratio(int bad, int all, int draws) {
    double ratio = 1;
    for (int i = 0; i < draws; ++i) ratio *= static_cast<double>(bad - i) / (all - i);
    return ratio;
}
VerifyResult remote_nodes(std::uint32_t nodes) {
    constexpr std::uint32_t tokens = 131'072;
    auto const ep = 16 * nodes;
    auto const job = deepseek(ep, tokens / ep);
    auto const& where = job->moe_step().placement().layer(0);
    std::int64_t hits = 0;
    for (std::uint32_t rank = 0; rank < ep; ++rank) {
        for (std::uint32_t t = 0; t < tokens / ep; ++t) {
            std::array<std::uint16_t, 8> chosen{};
            job->moe_step().routing().choose(0, job->moe_step().matrices().token_id(0, rank, 0, t), chosen);
            std::set<std::uint32_t> reached;
            for (auto const expert : chosen)
                reached.insert(where.replicas[where.first_replica[expert]].rank / job->fabric().ranks_per_block());
            reached.erase(rank / 16);
            hits += static_cast<std::int64_t>(reached.size());
        }
    }
    return {.expected = (nodes - 1) * (1 - binomial_ratio(256 - 256 / static_cast<int>(nodes), 256, 8)),
            .got = static_cast<double>(hits) / tokens};
}
// Five standard errors of the mean over 131,072 tokens. Two nodes: sqrt(0.0035 x 0.9965 / n) = 1.6e-4. Four nodes: a
// node is hit or not with variance 0.0965 x 0.9035, three of them, negatively correlated: at most 1.4e-3, of 2.711.
constexpr double two_nodes = 5 * 1.6e-4 / 0.997, four_nodes = 5 * 1.4e-3 / 2.711;

// The example of github.com/deepseek-ai/EPLB: 12 experts in 4 groups, 16 replicas, 2 nodes of 4 GPUs, two layers. Its
// published map puts experts 0 and half of 1 (layer 0), and half of 6 and half of 8 (layer 1), on the fullest GPU.
double eplb_imbalance(std::uint32_t layer) {
    constexpr char const* loads = R"({"weight": [[90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
                                                 [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27]]})";
    auto const job = job_of(R"(
fabric: {kind: leaf_spine, leaf_spine: {hosts: 8, hosts_per_leaf: 4, spines: 4}}
workload:
  model: model.json
  ep: 8
  moe_layers: 2
  experts: {redundant: 4, placement: eplb}
  routing: {source: histogram, file: loads.json}
)",
                            {.experts = 12, .top_k = 2, .groups = 4, .groups_per_token = 4}, loads);
    auto const ranks =
        rank_loads(job->moe_step().placement().layer(layer), job->moe_step().routing().expected_load(layer));
    auto const total = static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0}));
    return static_cast<double>(*std::max_element(ranks.begin(), ranks.end())) * 8 / total;
}
VerifyResult eplb_first() {
    return {.expected = (90 + 132 / 2.0) * 8 / 1033, .got = eplb_imbalance(0)};
}
VerifyResult eplb_second() {
    return {.expected = (187 / 2.0 + 172 / 2.0) * 8 / 1156, .got = eplb_imbalance(1)};
}

}  // namespace

std::vector<VerifyCase> moe_cases() {
    return {{"DeepSeek-R1 dispatch per rank: 128 x 8 x 7,680 B", "B", none,
             [] { return payload(OpKind::dispatch, 7'680); }},
            {"DeepSeek-R1 combine per rank: 128 x 8 x 2 x 7,168 B", "B", none,
             [] { return payload(OpKind::combine, 2 * 7'168); }},
            {"top-8 of 256 on 2 nodes: 1 - C(128,8)/C(256,8)", "nodes", two_nodes, [] { return remote_nodes(2); }},
            {"top-8 of 256 on 4 nodes: 3 (1 - C(192,8)/C(256,8))", "nodes", four_nodes, [] { return remote_nodes(4); }},
            {"EPLB example, layer 0: (90 + 132/2) x 8 / 1,033", "max/mean", rounding, eplb_first},
            {"EPLB example, layer 1: (187 + 172)/2 x 8 / 1,156", "max/mean", rounding, eplb_second}};
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Laws of a whole run: bytes are conserved, results do not depend on the number of processes.
#include "apps/verify/in_memory_run.hpp"
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"

namespace orrery {
namespace {

// Two groups across two leaves, uneven routing, two micro-batches: nothing in it is symmetric.
std::unique_ptr<Job> uneven_job() {
    return job_of(R"(
seed: 7
fabric: {kind: leaf_spine, leaf_spine: {hosts: 16, hosts_per_leaf: 4, spines: 2, oversubscription: 2}}
workload:
  model: model.json
  batch_per_rank: 16
  ep: 8
  ep_groups: 2
  microbatches: 2
  moe_layers: 3
  routing: {source: zipf, zipf_s: 0.8}
)");
}

// Every token goes to all four ranks, three of them remote, and back.
std::unique_ptr<Job> even_job() {
    return job_of(R"(
fabric: {kind: single_switch, single_switch: {hosts: 4}}
workload:
  model: model.json
  batch_per_rank: 32
  ep: 4
  moe_layers: 2
)",
                  {.experts = 4, .top_k = 4, .groups = 1, .groups_per_token = 1});
}

constexpr double payload = 2.0 * 4 * 32 * 3 * (7'680 + 14'336);  // layers, ranks, tokens, peers, there and back

VerifyResult injected() {
    return {.expected = payload, .got = static_cast<double>(run_in_memory(*even_job()).injected_bytes)};
}
VerifyResult delivered() {
    return {.expected = payload, .got = static_cast<double>(run_in_memory(*even_job()).delivered_bytes)};
}
VerifyResult operations() {
    // attention, gate, dispatch, shared expert, experts, combine
    return {.expected = 2 * 4 * 6, .got = static_cast<double>(run_in_memory(*even_job()).operations.size())};
}

VerifyResult same_digest(std::uint32_t processes) {
    auto const job = uneven_job();
    return {.expected = 1, .got = run_in_memory(*job).digest == run_in_memory(*job, processes).digest ? 1.0 : 0.0};
}

}  // namespace

std::vector<VerifyCase> run_cases() {
    return {{"injected: 2 x 4 x 32 x 3 x (7,680 + 14,336) B", "B", none, injected},
            {"delivered: the same", "B", none, delivered},
            {"operations: 2 layers x 4 ranks x 6", "rows", none, operations},
            {"digest on 1 process = digest on 3", "equal", none, [] { return same_digest(3); }},
            {"digest on 1 process = digest on 20, some without work", "equal", none, [] { return same_digest(20); }}};
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/in_memory_run.hpp"

#include "apps/run/no_timeline.hpp"
#include "apps/run/simulation.hpp"
#include "partitions/dry_run_exchange.hpp"

#include <memory>

namespace orrery {
namespace {

class OperationCollector final : public NoTimeline {
  public:
    explicit OperationCollector(std::vector<OperationRow>& rows) : rows_(&rows) {}
    using NoTimeline::add;
    void add(OperationRow const& row) override { rows_->push_back(row); }

  private:
    std::vector<OperationRow>* rows_;
};

}  // namespace

double InMemoryRun::mean_microseconds(OpKind kind) const {
    std::int64_t sum = 0, count = 0;
    for (auto const& row : operations) {
        if (row.kind != kind) continue;
        sum += (row.end - row.start - row.wait).ps();
        ++count;
    }
    ORRERY_ENSURE(count > 0, "the run has no {}", name_of(kind));
    return static_cast<double>(sum) / static_cast<double>(count) * 1e-6;
}

InMemoryRun run_in_memory(Job const& job, std::uint32_t processes) {
    InMemoryRun result;
    OperationCollector collector(result.operations);
    auto const partition =
        make_partition(job.graph(), {.method = "blocks", .processes = processes, .seed = job.scenario().seed()},
                       [&](LpId lp) { return job.lp_name(lp); });
    DryRun all(processes);
    std::vector<std::unique_ptr<Simulation>> shares;
    for (std::uint32_t p = 0; p < processes; ++p)
        shares.push_back(
            std::make_unique<Simulation>(job, partition.owner, all.exchange(p), collector, Simulation::Options{}));
    for (auto const& share : shares) share->loop().begin();
    for (bool more = true; more;) {
        more = false;
        for (auto const& share : shares) more = share->loop().advance() || more;
    }
    for (auto const& simulation : shares) {
        simulation->close();
        auto const share = simulation->share();
        result.digest.add(share.digest);
        result.injected_bytes += share.transfers.injected_bytes;
        result.delivered_bytes += share.transfers.delivered_bytes;
        result.unfinished_ranks += share.unfinished_ranks;
    }
    return result;
}

}  // namespace orrery

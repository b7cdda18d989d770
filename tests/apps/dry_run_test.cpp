// SPDX-License-Identifier: Apache-2.0
// One process pretends to be many: the same digest and the same file for every number, partition and window width.
#include "io/timeline/compare.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_writer.hpp"
#include "partitions/dry_run_exchange.hpp"
#include "tests/apps/apps_testing.hpp"

namespace orrery::testing {
namespace {

struct DryResult {
    std::string digest;
    fs::path file;
    std::int64_t events = 0, unfinished = 0;
};

FabricTables tables_of(Fabric const& fabric, std::vector<std::int64_t> wire, std::vector<std::int64_t> payload,
                       Time span) {
    FabricTables tables;
    for (auto const& link_class : fabric.link_classes()) tables.class_names.push_back(link_class.name);
    for (std::uint32_t d = 0; d < fabric.domain_count(); ++d)
        tables.domain_names.push_back(fabric.domain_name(DomainId{d}));
    for (auto const& bundle : fabric.bundles()) {
        tables.bundles.link_class.push_back(bundle.link_class);
        tables.bundles.domain.push_back(bundle.domain.value());
        tables.bundles.capacity.push_back(bundle.capacity);
        tables.bundles.latency.push_back(bundle.latency);
        tables.bundles.members.push_back(bundle.member_count);
    }
    tables.bundles.wire_bytes = std::move(wire);
    tables.bundles.payload_bytes = std::move(payload);
    tables.bundle_name = [&fabric](std::uint32_t b) { return fabric.bundle_name(BundleId{b}); };
    tables.span = span;
    return tables;
}

DryResult dry_run(Job const& job, std::uint32_t processes, std::string const& method, Time width, fs::path const& out) {
    auto const partition = make_partition(job.graph(), {.method = method, .processes = processes, .seed = 1},
                                          [&](LpId lp) { return job.lp_name(lp); });
    DryRun board(processes);
    std::vector<std::unique_ptr<PartWriter>> parts;
    std::vector<std::unique_ptr<Simulation>> simulations;
    for (std::uint32_t p = 0; p < processes; ++p) {
        parts.push_back(
            std::make_unique<PartWriter>(PartSetup{.directory = out, .process = p, .processes = processes}));
        simulations.push_back(std::make_unique<Simulation>(job, partition.owner, board.exchange(p), *parts[p],
                                                           Simulation::Options{.window_width = width}));
    }
    for (auto const& simulation : simulations) simulation->loop().begin();
    for (bool more = true; more;) {
        more = false;
        for (auto const& simulation : simulations) more = simulation->loop().advance() || more;
    }
    DryResult result{.digest = {}, .file = out / "run.h5"};
    Digest digest;
    std::vector<std::int64_t> wire(job.fabric().bundles().size(), 0), payload(wire);
    std::vector<PartSource> sources;
    Time last;
    for (std::uint32_t p = 0; p < processes; ++p) {
        auto const outcome = simulations[p]->close();
        auto const share = simulations[p]->share();
        digest.add(share.digest);
        result.events = outcome.events;
        result.unfinished += share.unfinished_ranks;
        last = outcome.last;
        for (std::size_t b = 0; b < wire.size(); ++b) {
            wire[b] += share.bundle_bytes[b];
            payload[b] += share.bundle_payload[b];
        }
        sources.push_back({parts[p]->path()});
        parts[p]->close();
    }
    result.digest = digest.hex();
    Manifest manifest;
    manifest.manifest.push_back({"digest", result.digest});
    manifest.summary.push_back({"events", result.events});
    merge_parts(sources, result.file, manifest, tables_of(job.fabric(), wire, payload, last));
    return result;
}

struct Case {
    char const* name;
    std::vector<std::string> sets;
};

void PrintTo(Case const& c, std::ostream* out) {
    *out << c.name;
}

class DryRunOf : public ::testing::TestWithParam<Case> {
  protected:
    TempDirectory directory_;
    int count_ = 0;

    DryResult run(Job const& job, std::uint32_t processes, std::string const& method, Time width) {
        auto const out = directory_.path() / std::to_string(count_++);
        fs::create_directories(out);
        return dry_run(job, processes, method, width, out);
    }
};

TEST_P(DryRunOf, IsTheSameForAllProcessesPartitionsAndWidths) {
    auto const job = make_job(shipped(GetParam().name), GetParam().sets);
    auto const first = run(job, 1, "blocks", {});
    EXPECT_EQ(first.unfinished, 0);
    std::vector<Time> const widths = {job.lookahead(), Time::from_ps(job.lookahead().ps() / 3), 1_us};
    std::size_t turn = 0;
    for (std::uint32_t const processes : {1U, 2U, 3U, 4U, 7U})
        for (auto const& method : partition_methods()) {
            auto const width = widths[turn++ % widths.size()];
            auto const other = run(job, processes, method, width);
            EXPECT_EQ(other.digest, first.digest) << processes << " processes, " << method << ", " << to_string(width);
            EXPECT_EQ(other.events, first.events);
            EXPECT_EQ(other.unfinished, 0);
            EXPECT_EQ(content_difference(first.file, other.file), "")
                << processes << " processes, " << method << ", " << to_string(width);
            fs::remove_all(other.file.parent_path());
        }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, DryRunOf,
    ::testing::Values(Case{"single_switch_ep8", {}}, Case{"leaf_spine_prefill", {"workload.moe_layers=2"}},
                      Case{"cross_supernode", {}},
                      Case{"cloudmatrix384_decode", {"workload.moe_layers=2", "network.flow.error=1%"}}),
    [](auto const& shown) { return std::string(shown.param.name); });

// Sites of one domain on several processes: more events, so each number of processes with one partition and width.
class DryRunOfSites : public DryRunOf {};

TEST_P(DryRunOfSites, IsTheSameForAllProcessesPartitionsAndWidths) {
    auto sets = GetParam().sets;
    sets.emplace_back("network.flow.sharing=delayed");
    auto const job = make_job(shipped(GetParam().name), sets);
    ASSERT_NE(job.sites(), nullptr);
    auto const first = run(job, 1, "blocks", {});
    EXPECT_EQ(first.unfinished, 0);
    auto const methods = partition_methods();
    std::size_t turn = 0;
    for (std::uint32_t const processes : {2U, 3U, 4U, 7U}) {
        auto const& method = methods[turn++ % methods.size()];
        auto const width = turn % 2 == 0 ? job.lookahead() : Time::from_ps(job.lookahead().ps() / 3);
        auto const other = run(job, processes, method, width);
        EXPECT_EQ(other.digest, first.digest) << processes << " processes, " << method << ", " << to_string(width);
        EXPECT_EQ(other.events, first.events);
        EXPECT_EQ(other.unfinished, 0);
        EXPECT_EQ(content_difference(first.file, other.file), "") << processes << " processes, " << method;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, DryRunOfSites,
    ::testing::Values(Case{"single_switch_ep8", {}}, Case{"leaf_spine_prefill", {"workload.moe_layers=1"}},
                      Case{"cross_supernode",
                           {"workload.moe_layers=2", "fabric.cloudmatrix384.rdma.oversubscription=2"}},
                      Case{"cloudmatrix384_decode", {"workload.moe_layers=1", "network.flow.error=1%"}}),
    [](auto const& shown) { return std::string(shown.param.name); });

TEST(DryRun, MoreProcessesThanLps) {
    TempDirectory const directory;
    auto const job = make_job(shipped("single_switch_ep8"), {"workload.ep=2"});
    ASSERT_EQ(job.lp_count(), 3U);
    auto const once = [&](std::uint32_t processes) {
        auto const out = directory.path() / std::to_string(processes);
        fs::create_directories(out);
        return dry_run(job, processes, "blocks", {}, out);
    };
    auto const one = once(1), many = once(13);
    EXPECT_EQ(one.digest, many.digest);
    EXPECT_EQ(content_difference(one.file, many.file), "");
}

TEST(DryRun, EveryVariantAndModelIsTheSameOnThree) {
    TinyDirectory const directory("  ep_groups: 1\n");
    int count = 0;
    for (auto const* variant : {"fused", "pull", "alltoall", "deepep_normal"})
        for (auto const* model :
             {"network.model=flow", "network.model=packet", "network.model=analytic", "network.flow.sharing=delayed"})
            for (auto const* microbatches : {"1", "3"}) {
                auto const job = make_job(directory.scenario,
                                          {std::string("workload.operators.variant=") + variant, std::string(model),
                                           std::string("workload.microbatches=") + microbatches});
                auto const out = [&] {
                    auto const path = directory.path() / std::to_string(count++);
                    fs::create_directories(path);
                    return path;
                };
                auto const one = dry_run(job, 1, "blocks", {}, out());
                auto const three = dry_run(job, 3, "round_robin", std::min(3_us, job.lookahead()), out());
                EXPECT_EQ(one.digest, three.digest) << variant << " " << model << " " << microbatches;
                EXPECT_EQ(content_difference(one.file, three.file), "") << variant << " " << model;
            }
}

TEST(DryRun, ComparesWhatItClaims) {
    TinyDirectory const directory;
    auto const a = directory.path() / "a", b = directory.path() / "b";
    fs::create_directories(a);
    fs::create_directories(b);
    auto const one = dry_run(make_job(directory.scenario), 2, "blocks", {}, a);
    auto const other = dry_run(make_job(directory.scenario, {"seed=2"}), 2, "blocks", {}, b);
    EXPECT_NE(one.digest, other.digest);
    EXPECT_NE(content_difference(one.file, other.file), "");
}

}  // namespace
}  // namespace orrery::testing

// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/collective.hpp"

#include "apps/run/job.hpp"
#include "apps/run/schedule_workload.hpp"
#include "apps/run/simulation.hpp"
#include "workloads/collectives/shape.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Keeps what collectives did, and nothing else.
class CollectiveRows final : public TimelineSink {
  public:
    void add(OperationRow const&) override {}
    void add(CollectiveRow const& row) override { rows.push_back(row); }
    void add(ExpertLoadRow const&) override {}
    void add(LinkBinRow const&) override {}
    void add(PacketBinRow const&) override {}
    void add(PairRow const&) override {}

    std::vector<CollectiveRow> rows;  // one per domain
};

// A scenario of nothing but a fabric, gone with the object.
class FabricOnly {
  public:
    explicit FabricOnly(std::string const& fabric) {
        auto pattern = (fs::temp_directory_path() / "orrery-collective-XXXXXX").string();
        ORRERY_VALIDATE(::mkdtemp(pattern.data()) != nullptr, "{} (no directory can be made there) set TMPDIR",
                        fs::temp_directory_path().string());
        directory_ = pattern;
        auto const text = fabric.starts_with("{") ? fabric : fmt::format("{{kind: {}}}", fabric);
        std::ofstream(path()) << "fabric: " << text << "\nworkload: {kind: collective}\n";
    }
    ~FabricOnly() {
        std::error_code ignored;
        fs::remove_all(directory_, ignored);
    }
    FabricOnly(FabricOnly const&) = delete;
    FabricOnly& operator=(FabricOnly const&) = delete;
    fs::path path() const { return directory_ / "fabric.yaml"; }

  private:
    fs::path directory_;
};

LoadedScenario load(CollectiveArguments const& arguments, std::int64_t bytes) {
    std::vector<std::string> sets = {"workload.kind=collective",
                                     "network.model=" + arguments.model,
                                     "workload.collective.op=" + arguments.op,
                                     fmt::format("workload.collective.bytes={}B", bytes),
                                     fmt::format("workload.collective.ranks={}", arguments.ranks),
                                     fmt::format("workload.collective.root={}", arguments.root),
                                     "workload.collective.algorithm=" + arguments.algorithm,
                                     "workload.collective.protocol=" + arguments.protocol};
    sets.insert(sets.end(), arguments.sets.begin(), arguments.sets.end());
    if (fs::exists(arguments.fabric)) return load_scenario(arguments.fabric, sets);
    FabricOnly const scenario(arguments.fabric);
    return load_scenario(scenario.path(), sets);
}

void fill_bound(CollectiveLine& line, std::vector<CollectiveRow> const& rows, Fabric const& fabric) {
    line.bottleneck = "latency";
    for (auto const& row : rows) {
        if (row.bound < line.bound) continue;
        line.bound = row.bound;
        line.bottleneck =
            row.bound_bundle == no_bundle_binds ? "latency" : fabric.bundle_name(BundleId{row.bound_bundle});
    }
}

CollectiveLine measure(CollectiveArguments const& arguments, std::int64_t bytes) {
    Job const job(load(arguments, bytes));
    auto const& workload = dynamic_cast<ScheduleWorkload const&>(job.workload());
    std::vector<std::uint32_t> const owner(job.lp_count(), 0);
    LocalExchange alone;
    CollectiveRows seen;
    Simulation simulation(job, owner, alone, seen, {});
    simulation.run();
    auto const share = simulation.share();
    if (share.unfinished_ranks > 0) {
        std::string text;
        for (auto const& wait : simulation.waiting()) text += "\n  " + wait;
        throw IncompleteError(fmt::format("the collective cannot finish:{}", text));
    }
    auto const planned = workload.planner().plan(workload.wish(0), workload.placement());
    CollectiveLine line{.bytes = bytes,
                        .count = bytes / arguments.element_bytes,
                        .time = share.last_finish,
                        .algorithm = planned.algorithm,
                        .protocol = planned.protocol.name};
    fill_bound(line, seen.rows, job.fabric());
    ORRERY_ENSURE(line.time >= line.bound, "{} B take {} and no schedule could take less than {}", bytes,
                  to_string(line.time), to_string(line.bound));
    if (line.time > Time{}) line.algorithm_gb_per_s = static_cast<double>(bytes) / line.time.seconds() / 1e9;
    line.bus_gb_per_s = line.algorithm_gb_per_s * bus_factor(arguments.op, job.ranks());
    return line;
}

// What the lines have in common, above the table; and why the algorithm was taken.
void print_head(CollectiveArguments const& arguments, std::int64_t bytes) {
    Job const job(load(arguments, bytes));
    auto const& workload = dynamic_cast<ScheduleWorkload const&>(job.workload());
    auto const planned = workload.planner().plan(workload.wish(0), workload.placement());
    fmt::print("# {} of {} ranks on {}, {} model\n", name_of(collective_op_of(arguments.op)), job.ranks(),
               job.fabric().kind(), job.network_text());
    fmt::print("# {} at {}: {}\n# {}\n", planned.algorithm, bytes_text(bytes), planned.reason,
               planned.plan->closed_form().text);
    for (auto const& ignored : job.loaded().ignored) fmt::print("# {}\n", ignored);
    fmt::print("#{:>13} {:>12} {:>12} {:>9} {:>9} {:>12} {:>6}  {:<26} {}\n", "size", "count", "time", "algbw", "busbw",
               "bound", "of it", "bottleneck", "algorithm");
    fmt::print("#{:>13} {:>12} {:>12} {:>9} {:>9} {:>12}\n", "(B)", "(elements)", "(us)", "(GB/s)", "(GB/s)", "(us)");
}

void print(CollectiveLine const& line) {
    auto const us = [](Time time) { return time.seconds() * 1e6; };
    auto const of_bound = line.time > Time{} ? fmt::format("{:.0f}%", 100 * us(line.bound) / us(line.time)) : "-";
    fmt::print("{:>14} {:>12} {:>12.3f} {:>9.2f} {:>9.2f} {:>12.3f} {:>6}  {:<26} {}{}\n", line.bytes, line.count,
               us(line.time), line.algorithm_gb_per_s, line.bus_gb_per_s, us(line.bound), of_bound, line.bottleneck,
               line.algorithm, line.protocol == "none" ? "" : " " + line.protocol);
}

}  // namespace

double bus_factor(std::string const& op, std::uint32_t members) {
    if (members < 2) return 0;
    double const others = (members - 1.0) / members;
    switch (collective_op_of(op)) {
        case CollectiveOp::all_reduce:
            return 2 * others;
        case CollectiveOp::broadcast:
        case CollectiveOp::reduce:
        case CollectiveOp::send_recv:
            return 1;
        default:
            return others;
    }
}

std::vector<CollectiveLine> measure_collective(CollectiveArguments const& arguments) {
    std::vector<CollectiveLine> lines;
    for (auto const bytes : parse_sizes(arguments.sizes)) lines.push_back(measure(arguments, bytes));
    return lines;
}

ExitCode collective_command(World const& world, CollectiveArguments const& arguments) {
    if (!world.root()) return ExitCode::complete;
    auto const sizes = parse_sizes(arguments.sizes);
    print_head(arguments, sizes.back());
    for (auto const bytes : sizes) print(measure(arguments, bytes));
    return ExitCode::complete;
}

}  // namespace orrery

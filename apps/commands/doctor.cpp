// SPDX-License-Identifier: Apache-2.0
// orrery doctor: does this machine have what a run needs? Takes about a second.
#include "apps/commands/command.hpp"
#include "io/timeline/part_reader.hpp"
#include "io/timeline/part_writer.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;

struct Finding {
    bool fine = false;
    std::string text;
};

Finding check_cores(World const& world) {
    auto const cores = std::max(1U, std::thread::hardware_concurrency());
    return {true, fmt::format("{} cores for {} process{}{}", cores, world.count(), world.count() == 1 ? "" : "es",
                              world.count() > cores ? ": more processes than cores work, but are not faster" : "")};
}

Finding check_mpi(World const& world) {
    auto const sum = world.sum(static_cast<std::int64_t>(world.index()) + 1);
    auto const expected = static_cast<std::int64_t>(world.count()) * (world.count() + 1) / 2;
    return {sum == expected, fmt::format("MPI reduces over {} process{}: got {}, expected {}", world.count(),
                                         world.count() == 1 ? "" : "es", sum, expected)};
}

// mpirun on two processes of this very program, the way scripts/run.sh starts it. A process started without mpirun has
// put variables that say so into its own environment: the new mpirun must not see them.
Finding check_launch() {
    if (std::getenv("OMPI_COMM_WORLD_SIZE")) return {true, "started by mpirun"};
    auto const self = fs::read_symlink("/proc/self/exe").string();
    auto const command = fmt::format(
        "env -u OMPI_MCA_ess -u OMPI_MCA_ess_singleton_isolated -u OMPI_MCA_pmix -u OMPI_MCA_orte_ess_num_procs "
        "-u ORTE_SCHIZO_DETECTION -u OMPI_APP_CTX_NUM_PROCS -u OMPI_ARGV -u OMPI_COMMAND "
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 10 mpirun --oversubscribe -n 2 '{}' "
        "reference > /dev/null 2>&1",
        self);
    auto const code = std::system(command.c_str());
    return {code == 0, code == 0 ? "mpirun starts two processes" : "mpirun -n 2 failed (is openmpi-bin installed?)"};
}

Finding check_scratch(fs::path const& scratch) {
    std::error_code error;
    auto const space = fs::space(scratch, error);
    if (error) return {false, fmt::format("scratch {} ({})", scratch.string(), error.message())};
    auto const gb = static_cast<double>(space.available) * 1e-9;
    return {gb > 1, fmt::format("scratch {} has {:.1f} GB free", scratch.string(), gb)};
}

Finding check_hdf5(fs::path const& scratch) {
    auto const directory = scratch / fmt::format("orrery-doctor-{}", getpid());
    try {
        fs::create_directories(directory);
        PartWriter part({.directory = directory});
        part.add(OperationRow{.start = {}, .end = Time::from_ps(5)});
        part.close();
        auto const rows = PartReader({part.path()}).rows(TableId::operations);
        fs::remove_all(directory);
        return {rows == 1, fmt::format("HDF5 wrote and read {} row in {}", rows, directory.string())};
    } catch (std::exception const& error) {
        std::error_code ignored;
        fs::remove_all(directory, ignored);
        return {false, error.what()};
    }
}

}  // namespace

ExitCode doctor_command(World const& world) {
    auto const scratch = fs::temp_directory_path();
    auto findings = std::vector<Finding>{check_mpi(world)};
    if (world.root()) {
        findings.push_back(check_launch());
        findings.push_back(check_cores(world));
        findings.push_back(check_scratch(scratch));
        findings.push_back(check_hdf5(scratch));
    }
    bool fine = true;
    for (auto const& finding : findings) {
        fine = fine && finding.fine;
        if (world.root()) fmt::print("{}  {}\n", finding.fine ? "ok  " : "FAIL", finding.text);
    }
    return world.min(fine ? 1 : 0) == 1 ? ExitCode::complete : ExitCode::internal_error;
}

}  // namespace orrery

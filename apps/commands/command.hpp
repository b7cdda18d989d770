// SPDX-License-Identifier: Apache-2.0
// The commands of the program, one file each. Each returns an exit code and throws what it cannot handle.
#pragma once

#include "apps/exit_codes.hpp"
#include "apps/run/leg.hpp"
#include "partitions/world.hpp"
#include "workloads/imports/import.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct ScenarioArguments {
    std::filesystem::path scenario;
    std::vector<std::string> sets;
};

struct RunArguments : LaunchArguments {
    ScenarioArguments input;
    std::filesystem::path out;  // empty: NAME.out beside the current directory
    bool force = false;         // replace the result of an earlier run
};
ExitCode run_command(World const& world, RunArguments const& arguments);

struct ResumeArguments : LaunchArguments {
    std::filesystem::path run;  // the directory of a run
};
ExitCode resume_command(World const& world, ResumeArguments const& arguments);

struct RecoverArguments {
    std::filesystem::path directory;
    std::filesystem::path out;  // empty: recovered.h5 in the directory
    bool force = false;         // replace an earlier recovery
};
ExitCode recover_command(World const& world, RecoverArguments const& arguments);

struct CheckArguments {
    ScenarioArguments input;
    std::uint32_t processes = 1;  // to show the partition for
    std::string partition = "blocks";
    bool links = false;  // list link names
};
ExitCode check_command(World const& world, CheckArguments const& arguments);

// Draws or exports the fabric of a scenario on the standard output.
struct TopologyArguments {
    enum class Format : std::uint8_t { dot, svg, json };
    ScenarioArguments input;
    Format format = Format::dot;
};
ExitCode topology_command(World const& world, TopologyArguments const& arguments);

// Runs the scenario with the flow model and with the packet model and shows both.
ExitCode compare_models_command(World const& world, ScenarioArguments const& arguments);

struct ImportArguments {
    std::filesystem::path file;
    bool lenient = false;  // take evident readings of what is wrong, and list them
    ImportOptions options;
    std::string host_rate = "100Gb/s", duration = "10ms";  // of random traffic
};
ExitCode import_command(World const& world, ImportArguments const& arguments);
struct CollectiveArguments {
    std::string fabric;  // a kind, {kind: ...} as YAML, or a scenario file
    // What is not given is as the scenario has it.
    std::optional<std::string> op;
    std::string sizes = "8:1GiB:x2";
    std::optional<std::uint32_t> ranks, root;
    std::optional<std::string> algorithm, protocol, model;
    std::int64_t element_bytes = 2;  // for the column of counts
    std::vector<std::string> sets;
};
// Prints a table in the shape of nccl-tests and hccl_test.
ExitCode collective_command(World const& world, CollectiveArguments const& arguments);

ExitCode verify_command(World const& world);
ExitCode doctor_command(World const& world);
ExitCode reference_command(World const& world);

}  // namespace orrery

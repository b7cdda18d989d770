// SPDX-License-Identifier: Apache-2.0
// The one program: parses the command line and turns every failure into one sentence and an exit code.
#include "apps/commands/command.hpp"
#include "apps/commands/launch_options.hpp"
#include "apps/commands/look_back.hpp"
#include "core/check.hpp"
#include "io/timeline/hdf5.hpp"
#include "orrery_version.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using namespace orrery;

constexpr char const* examples = R"(
Examples:
  orrery run scenarios/cloudmatrix384_decode.yaml
  orrery run SCENARIO --set workload.ep=64 --set network.model=analytic --out results/ep64
  orrery check SCENARIO --processes 8
  orrery compare-models scenarios/single_switch_ep8.yaml
  orrery topology SCENARIO --svg > fabric.svg
  mpirun -n 4 orrery run SCENARIO --out results/four --walltime 3600s
  mpirun -n 6 orrery resume results/four
  orrery recover results/four
  orrery import trace.0.et --lenient
  orrery report results/four
  orrery collective --fabric single_switch --op all-to-all --sizes 8:1GiB:x2
  orrery verify
Exit codes: 0 complete, 1 internal error, 2 bad input, 3 the workload cannot finish,
            4 stopped by a limit or signal, 5 out of the memory limit.
)";

struct Arguments {
    RunArguments run;
    CheckArguments check;
    RecoverArguments recover;
    ScenarioArguments compare;
    TopologyArguments topology;
    ImportArguments import;
    CollectiveArguments collective;
    ResumeArguments resume;
    LaunchOptions run_options, resume_options;
    LookBackCommands look_back;
};

void add_scenario(CLI::App* command, ScenarioArguments& input) {
    command->add_option("SCENARIO", input.scenario, "Scenario file (YAML)")->required();
    command->add_option("--set", input.sets, "Override one value: path=value; may be repeated")
        ->take_all()
        ->expected(1);
}

void add_run(CLI::App& app, Arguments& a) {
    auto* run = app.add_subcommand("run", "Simulate a scenario; writes DIR/run.h5 and DIR/summary.json");
    add_scenario(run, a.run.input);
    run->add_option("--out", a.run.out, "Directory of the results (default: SCENARIO's name with .out)");
    run->add_flag("--force", a.run.force, "Replace the results of an earlier run in --out");
    a.run_options.add_to(*run, a.run);
}

void add_resume(CLI::App& app, Arguments& a) {
    auto* resume =
        app.add_subcommand("resume", "Go on with a run that was stopped or killed, on any number of processes");
    resume->add_option("DIR", a.resume.run, "Directory of the run")->required();
    a.resume_options.add_to(*resume, a.resume);
}

void add_check(CLI::App& app, Arguments& a) {
    auto* check = app.add_subcommand("check", "Lint a scenario and print what it means; simulates nothing");
    add_scenario(check, a.check.input);
    check->add_option("--processes", a.check.processes, "Show the partition for this many processes")
        ->check(CLI::Range(1, 100'000));
    check->add_option("--partition", a.check.partition, "blocks, metis, round_robin or random");
    check->add_flag("--links", a.check.links, "List the names of all links (for fabric.degrade)");
}

void add_topology(CLI::App& app, Arguments& a) {
    using Format = TopologyArguments::Format;
    auto* topology = app.add_subcommand("topology", "Draw or export the fabric of a scenario on the standard output");
    add_scenario(topology, a.topology.input);
    auto* formats = topology->add_option_group("format");
    formats->add_flag_callback("--dot", [&a] { a.topology.format = Format::dot; }, "For Graphviz");
    formats->add_flag_callback("--svg", [&a] { a.topology.format = Format::svg; }, "A drawing");
    formats->add_flag_callback("--json", [&a] { a.topology.format = Format::json; }, "Every node, bundle and link");
    formats->require_option(1);
}

void add_recover(CLI::App& app, Arguments& a) {
    auto* recover =
        app.add_subcommand("recover", "Make one finished file of what a killed run left, or of a run that goes on");
    recover->add_option("DIR", a.recover.directory, "The --out directory of the run; it is only read")->required();
    recover->add_option("--out", a.recover.out, "The file to write (default: DIR/recovered.h5)");
    recover->add_flag("--force", a.recover.force, "Replace that file");
}

void add_import(CLI::App& app, Arguments& a) {
    auto* import =
        app.add_subcommand("import", "Say what a file of another tool is and what of it a schedule can honour");
    auto& o = a.import.options;
    import->add_option("FILE", a.import.file, "GOAL, Chakra .et, SimAI workload, flow list, .cm, ...")->required();
    import->add_flag("--lenient", a.import.lenient, "Take evident readings of what is wrong, and list them");
    import->add_option("--ranks", o.ranks, "Ranks there are, where the file does not say");
    import->add_option("--topology", o.topology, "ns-3 topology whose hosts are the ranks of a flow list");
    import->add_option("--groups", o.groups, "JSON of communicators of a Chakra trace");
    import->add_option("--system", o.system, "System JSON of ASTRA-sim");
    import->add_option("--load", o.load, "Flow-size distribution: share of --host-rate that every rank offers");
    import->add_option("--host-rate", a.import.host_rate, "Of one rank (default: 100Gb/s)");
    import->add_option("--duration", a.import.duration, "While flows start (default: 10ms)");
    import->add_option("--seed", o.seed, "Of random traffic");
    import->add_option("--eager-bytes", o.eager_bytes, "GOAL: a send of at most so many is over when it has started");
    import->add_option("--passes", o.passes, "Layer workloads: training steps")->check(CLI::Range(1, 1'000'000));
    import->add_option("--first-dimension", o.first_dimension, "ASTRA-sim 1: ranks in the first dimension");
}

void add_collective(CLI::App& app, CollectiveArguments& a) {
    auto* command = app.add_subcommand(
        "collective", "Time one collective over a range of sizes; prints size, time, algbw, busbw, bound, bottleneck");
    command
        ->add_option("--fabric", a.fabric,
                     "A kind (single_switch), {kind: ...} as YAML, or a scenario file, whose values hold where no "
                     "option is given")
        ->required();
    command->add_option("--op", a.op, "all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, ...");
    command->add_option("--sizes", a.sizes,
                        "FIRST:LAST:xFACTOR, FIRST:LAST:+STEP or a list; as nccl-tests counts them");
    command->add_option("--ranks", a.ranks, "Members, from rank 0 on (default: all ranks of the fabric)");
    command->add_option("--root", a.root, "Root of a rooted operation");
    command->add_option("--algorithm", a.algorithm, "A name, auto, hccl or nccl:H100 (docs/collectives.md)");
    command->add_option("--protocol", a.protocol, "LL, LL128, Simple, none or auto");
    command->add_option("--model", a.model, "flow, packet or analytic");
    command->add_option("--element-bytes", a.element_bytes, "Bytes of an element, for the column of counts")
        ->check(CLI::Range(1, 16));
    command->add_option("--set", a.sets, "Override one value of the scenario: path=value; may be repeated")
        ->take_all()
        ->expected(1);
}

ExitCode dispatch(World& world, CLI::App const& app, Arguments& a) {
    if (app.got_subcommand("run")) {
        a.run_options.apply(a.run);
        world.set_hang_limit(a.run.hang_limit_s);
        return run_command(world, a.run);
    }
    if (app.got_subcommand("resume")) {
        a.resume_options.apply(a.resume);
        world.set_hang_limit(a.resume.hang_limit_s);
        return resume_command(world, a.resume);
    }
    if (auto const code = a.look_back.run(world, app)) return *code;
    if (app.got_subcommand("recover")) return recover_command(world, a.recover);
    if (app.got_subcommand("check")) return check_command(world, a.check);
    if (app.got_subcommand("topology")) return topology_command(world, a.topology);
    if (app.got_subcommand("compare-models")) return compare_models_command(world, a.compare);
    if (app.got_subcommand("import")) return import_command(world, a.import);
    if (app.got_subcommand("collective")) return collective_command(world, a.collective);
    if (app.got_subcommand("verify")) return verify_command(world);
    if (app.got_subcommand("doctor")) return doctor_command(world);
    return reference_command(world);
}

ExitCode guarded(World& world, CLI::App const& app, Arguments& a) {
    auto const fail = [&](ExitCode code, char const* what) {
        if (world.root()) fmt::print(stderr, "{}\n", what);
        return code;
    };
    try {
        return dispatch(world, app, a);
    } catch (InputError const& error) {
        return fail(ExitCode::bad_input, error.what());
    } catch (IncompleteError const& error) {
        return fail(ExitCode::incomplete, error.what());
    } catch (std::bad_alloc const&) {
        return fail(ExitCode::memory, "out of memory (an allocation failed) use more machines or a smaller scenario");
    } catch (std::exception const& error) {
        return fail(ExitCode::internal_error, error.what());
    }
}

// What was printed must have arrived before the program may end with success.
int with_output_written(int code) {
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    fmt::print(stderr, "cannot write to the standard output ({})\n", std::strerror(errno));
    return code == 0 ? static_cast<int>(ExitCode::bad_input) : code;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Orrery: parallel, distributed simulator of AI super-pods", "orrery"};
    app.footer(examples);
    app.require_subcommand(1);
    app.set_version_flag("--version", fmt::format("orrery {} ({}, {})", version_text, commit_text, build_text));
    Arguments arguments;
    add_run(app, arguments);
    add_resume(app, arguments);
    add_check(app, arguments);
    add_topology(app, arguments);
    add_recover(app, arguments);
    add_import(app, arguments);
    arguments.look_back.add_to(app);
    add_scenario(
        app.add_subcommand("compare-models", "Simulate a scenario with the flow and the packet model; show both"),
        arguments.compare);
    add_collective(app, arguments.collective);
    app.add_subcommand("verify", "Run closed-form cases on this machine: expected, got, error, pass or fail");
    app.add_subcommand("doctor", "Check MPI, HDF5, scratch space and cores");
    app.add_subcommand("reference", "Print the scenario reference (docs/scenario.md)");
    for (int i = 0; i < argc; ++i) arguments.run.command_line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
    arguments.resume.command_line = arguments.run.command_line;
    World world(argc, argv);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        if (world.root()) app.exit(error);
        return with_output_written(error.get_exit_code() == 0 ? 0 : static_cast<int>(ExitCode::bad_input));
    }
    auto const code = with_output_written(static_cast<int>(guarded(world, app, arguments)));
    if (hdf5::closing_failed()) {
        std::fflush(nullptr);
        std::_Exit(code);
    }
    return code;
}

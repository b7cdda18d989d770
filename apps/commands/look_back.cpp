// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/look_back.hpp"

namespace orrery {

void LookBackCommands::add_to(CLI::App& app) {
    auto* report = app.add_subcommand("report", "Write one page (HTML, self-contained) about a finished run");
    report->add_option("RUN.h5", report_.run, "The timeline, or the directory of a run")->required();
    report->add_option("--out", report_.page, "The page to write (default: page.html beside the timeline)");
    auto* out = app.add_subcommand("export", "Write the operations of a run as a trace for other programs");
    out->add_option("RUN.h5", export_.run, "The timeline, or the directory of a run")->required();
    out->add_option("--perfetto", export_.perfetto, "Perfetto trace (Protobuf), for ui.perfetto.dev");
    out->add_option("--chrome", export_.chrome, "Chrome trace events (JSON), for a slice");
    out->add_option("--ranks", export_.ranks, "Only these: 17, or 0-15");
    out->add_option("--from", export_.from, "Only from this simulated time on, such as 2ms");
    out->add_option("--until", export_.until, "Only until this simulated time");
    auto* compare =
        app.add_subcommand("compare", "Say what differs between two runs and why the time did or did not change");
    compare->add_option("BEFORE", compare_.before, "A timeline, or the directory of a run")->required();
    compare->add_option("AFTER", compare_.after, "Another one")->required();
    auto* study = app.add_subcommand("study", "Run all combinations of a study; one table and one page");
    study->add_option("STUDY.yaml", study_.study, "The study (docs/study.md)")->required();
    study->add_option("--out", study_.out, "Directory of the results (default: STUDY's name with .study)");
    study->add_option("--workers", study_.workers, "Members that run at once (default: one per core)");
    study->add_option("--share", study_.share, "Only part INDEX of COUNT, as INDEX/COUNT: for a Slurm array");
}

std::optional<ExitCode> LookBackCommands::run(World const& world, CLI::App const& app) const {
    auto const asked = [&](char const* name) { return app.got_subcommand(name); };
    auto const on_root = [&](auto const& command, auto const& arguments) {
        return world.root() ? command(arguments) : ExitCode::complete;
    };
    if (asked("report")) return on_root(report_command, report_);
    if (asked("export")) return on_root(export_command, export_);
    if (asked("compare")) return on_root(compare_command, compare_);
    if (asked("study")) return on_root(study_command, study_);
    return std::nullopt;
}

}  // namespace orrery

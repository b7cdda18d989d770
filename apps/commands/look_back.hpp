// SPDX-License-Identifier: Apache-2.0
// The commands that look back at runs, and the one that makes many of them: options, and which was asked for.
#pragma once

#include "apps/exit_codes.hpp"
#include "partitions/world.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace orrery {

struct ReportArguments {
    std::filesystem::path run;   // run.h5 or its directory
    std::filesystem::path page;  // empty: page.html beside run.h5
};
// Writes one page about a run.
ExitCode report_command(ReportArguments const& arguments);

struct ExportArguments {
    std::filesystem::path run;
    std::filesystem::path perfetto, chrome;  // files to write; empty: not that format
    std::string ranks, from, until;          // empty: all
};
// Writes traces for other programs.
ExitCode export_command(ExportArguments const& arguments);

struct CompareArguments {
    std::filesystem::path before, after;  // timelines or directories of runs
};
// Says what differs between two runs, and why the time did or did not change.
ExitCode compare_command(CompareArguments const& arguments);

struct StudyArguments {
    std::filesystem::path study;  // the YAML file
    std::filesystem::path out;    // empty: NAME.study beside the current directory
    std::uint32_t workers = 0;    // 0: one per core
    std::string share;            // INDEX/COUNT; empty: all
};
// Runs what is left of a study and writes its table and its page.
ExitCode study_command(StudyArguments const& arguments);

class LookBackCommands {
  public:
    void add_to(CLI::App& app);
    // Nothing: another command was asked for. Process 0 does all the work.
    std::optional<ExitCode> run(World const& world, CLI::App const& app) const;

  private:
    ReportArguments report_;
    ExportArguments export_;
    CompareArguments compare_;
    StudyArguments study_;
};

}  // namespace orrery

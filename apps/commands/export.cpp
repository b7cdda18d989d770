// SPDX-License-Identifier: Apache-2.0
// orrery export: the operations of a run as a trace for other programs.
#include "apps/commands/look_back.hpp"
#include "apps/export/trace_slice.hpp"
#include "core/check.hpp"

#include <fmt/format.h>

namespace orrery {

ExitCode export_command(ExportArguments const& arguments) {
    ORRERY_VALIDATE(!arguments.perfetto.empty() || !arguments.chrome.empty(),
                    "orrery export writes nothing (neither --perfetto nor --chrome was given) give one, and a file");
    auto const slice = TraceSlice::parse(arguments.ranks, arguments.from, arguments.until);
    RunFile const run(arguments.run);
    ORRERY_VALIDATE(run.rows(TableId::operations) > 0,
                    "{} has no operations (output.detail is {}) run it with output.detail=layers", run.path().string(),
                    run.detail());
    require_other_file(arguments.perfetto, run.path(), "--perfetto");
    require_other_file(arguments.chrome, run.path(), "--chrome");
    ORRERY_VALIDATE(arguments.perfetto != arguments.chrome, "--chrome {} (the file of --perfetto) name another one",
                    arguments.chrome.string());
    ORRERY_VALIDATE(slice.first_rank < run.fabric().rank_count(),
                    "--ranks {} (the fabric has {} ranks, from 0) name existing ones", arguments.ranks,
                    run.fabric().rank_count());
    auto const say = [](std::filesystem::path const& path, Exported const& exported) {
        fmt::print("{}: {} operations, {} link samples\n", path.string(), exported.operations, exported.counters);
    };
    if (!arguments.perfetto.empty()) say(arguments.perfetto, export_perfetto(run, slice, arguments.perfetto));
    if (!arguments.chrome.empty()) say(arguments.chrome, export_chrome(run, slice, arguments.chrome));
    return ExitCode::complete;
}

}  // namespace orrery

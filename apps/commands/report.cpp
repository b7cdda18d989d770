// SPDX-License-Identifier: Apache-2.0
// orrery report: one page about a run, with all its data and charts inside.
#include "apps/commands/look_back.hpp"
#include "apps/report/page.hpp"
#include "apps/report/sections.hpp"
#include "core/units.hpp"

#include <fmt/format.h>

namespace orrery {

ExitCode report_command(ReportArguments const& arguments) {
    require_page_bundle();
    RunFile const run(arguments.run);
    require_other_file(arguments.page, run.path(), "--out");
    LinkColumns const links(run);
    LinkPeaks const peaks(run, links);
    Json const data{{"kind", "run"},
                    {"answer", page::answer(run, links, peaks)},
                    {"topology", page::topology(run, links, peaks)},
                    {"heat", page::link_heat(run, links, peaks)},
                    {"traffic", page::traffic(run)},
                    {"flows", page::flows(run)},
                    {"ranks", page::ranks(run)},
                    {"experts", page::experts(run)}};
    auto const page = arguments.page.empty() ? run.path().parent_path() / "page.html" : arguments.page;
    write_page(page, run.scenario().name(), data);
    fmt::print("{}: {}\n", page.string(), bytes_text(static_cast<std::int64_t>(std::filesystem::file_size(page))));
    return ExitCode::complete;
}

}  // namespace orrery

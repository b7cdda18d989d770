// SPDX-License-Identifier: Apache-2.0
// orrery study: all combinations of a study's overrides and seeds, on all cores or as shares of a Slurm array.
#include "apps/commands/look_back.hpp"
#include "apps/report/page.hpp"
#include "apps/report/page_bundle.hpp"
#include "apps/run/signals.hpp"
#include "apps/study/study_files.hpp"
#include "apps/study/study_log.hpp"
#include "apps/study/worker_pool.hpp"
#include "core/check.hpp"
#include "core/exchange.hpp"
#include "io/timeline/atomic_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace orrery {
namespace {

// "2/8": the third of eight.
StudyShare share_of(std::string const& text) {
    StudyShare share;
    if (text.empty()) return share;
    auto const slash = text.find('/');
    auto const number = [&](std::string_view part, std::uint64_t& value) {
        auto const read = std::from_chars(part.data(), part.data() + part.size(), value);
        return read.ec == std::errc{} && read.ptr == part.data() + part.size();
    };
    auto const view = std::string_view{text};
    ORRERY_VALIDATE(slash != std::string::npos && number(view.substr(0, slash), share.index) &&
                        number(view.substr(slash + 1), share.count) && share.index < share.count,
                    "--share {} (not INDEX/COUNT with INDEX from 0) write 0/8 to 7/8", text);
    return share;
}

std::vector<std::uint64_t> still_to_run(StudyPlan const& plan, StudyShare const& share,
                                        std::vector<std::optional<MemberResult>> const& results) {
    std::vector<std::uint64_t> members;
    for (std::uint64_t m = 0; m < plan.members(); ++m)
        if (share.has(m) && (!results[m] || results[m]->failed())) members.push_back(m);
    return members;
}

}  // namespace

ExitCode study_command(StudyArguments const& arguments) {
    watch_signals();
    auto const plan = load_study(arguments.study);
    auto const share = share_of(arguments.share);
    auto const out =
        arguments.out.empty() ? std::filesystem::path{arguments.study.stem().string() + ".study"} : arguments.out;
    make_directory(out);
    auto results = read_results(out, plan);
    auto const members = still_to_run(plan, share, results);
    for (auto const& sentence : plan.ignored) fmt::print(stderr, "ignored: {}\n", sentence);
    fmt::print(stderr, "{}: {} members, {} to run\n", plan.name, plan.members(), members.size());
    {
        StudyLog log(out, share);
        bool const shown = isatty(STDERR_FILENO) != 0;
        std::uint64_t done = 0;
        bool stopping = false;
        auto const cores = std::max(1U, std::thread::hardware_concurrency());
        run_members(plan, members,
                    {.workers = arguments.workers > 0 ? arguments.workers : cores,
                     .stop = [&] { return stopping = stopping || (take_signal_flags() & window_flag::stop) != 0; }},
                    [&](MemberResult const& result, std::string const& line) {
                        log.add(line);
                        results[result.member] = result;
                        if (++done; shown) fmt::print(stderr, "\r{} of {}", done, members.size());
                    });
        if (shown) fmt::print(stderr, "\n");
    }
    auto const summary = summarise(plan, results);
    StudyResult const study{plan, results, summary};
    write_study_csv(out / "study.csv", study);
    write_study_h5(out / "study.h5", study);
    if (!page_bundle().empty()) write_page(out / "study.html", plan.name, study_page(study));
    fmt::print("{}", study_text(study));
    if (summary.failed > 0)
        fmt::print("FAILED: {} of {} members; there are no figures where one failed\n", summary.failed, plan.members());
    if (summary.missing > 0)
        fmt::print("{} members have not run; the same command goes on with them\n", summary.missing);
    fmt::print("{}: study.csv, study.h5{}\n", out.string(), page_bundle().empty() ? "" : ", study.html");
    if (summary.failed > 0) return ExitCode::incomplete;
    return summary.missing > 0 && share.count == 1 ? ExitCode::stopped : ExitCode::complete;
}

}  // namespace orrery

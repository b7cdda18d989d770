// SPDX-License-Identifier: Apache-2.0
// Chrome's trace events (JSON): a process per rank, a thread per stream. For a slice; programs that read it hold all of
// it as objects.
#include "apps/export/trace_slice.hpp"
#include "core/check.hpp"
#include "io/timeline/atomic_file.hpp"

#include <fmt/format.h>

#include <set>
#include <span>

namespace orrery {
namespace {

constexpr std::int64_t most_operations = 1'000'000;

}  // namespace

Exported export_chrome(RunFile const& run, TraceSlice const& slice, std::filesystem::path const& path) {
    auto const exchanges = run.communicating_kinds();
    Exported exported;
    std::set<std::uint32_t> named;
    std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    auto const add = [&](Json const& event) {
        if (text.back() != '[') text += ",\n";
        text += event.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    auto const name = [&](char const* what, std::uint32_t rank, int thread, std::string const& text_of_it) {
        add({{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", {{"name", text_of_it}}}});
    };
    each_operation(run, slice, [&](TraceOperation const& o) {
        ORRERY_VALIDATE(++exported.operations <= most_operations,
                        "the slice has more than {} operations (what reads this format holds no more) choose --ranks, "
                        "--from and --until, or use --perfetto",
                        most_operations);
        if (named.insert(o.rank).second) {
            name("process_name", o.rank, 0, fmt::format("rank {}: {}", o.rank, run.fabric().rank_name(RankId{o.rank})));
            name("thread_name", o.rank, 0, "compute");
            name("thread_name", o.rank, 1, "communication");
        }
        Json arguments{{"layer", o.layer}, {"micro-batch", o.microbatch}};
        if (exchanges[o.kind]) arguments.update({{"wait_ps", o.wait_ps}, {"exposed_ps", o.exposed_ps}});
        add({{"ph", "X"},
             {"name", run.kinds()[o.kind]},
             {"pid", o.rank},
             {"tid", exchanges[o.kind] ? 1 : 0},
             {"ts", static_cast<double>(o.start_ps) * 1e-6},
             {"dur", static_cast<double>(o.end_ps - o.start_ps) * 1e-6},
             {"args", arguments}});
    });
    text += "]}\n";
    replace_file(path, std::as_bytes(std::span(text)));
    return exported;
}

}  // namespace orrery

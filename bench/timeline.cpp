// SPDX-License-Identifier: Apache-2.0
// Writing, closing and recovering timelines: rows per CPU second. ORRERY_BENCH_ROWS changes the number of rows.
#include "bench/rows.hpp"
#include "core/digest.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_writer.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace orrery::bench {
namespace {

constexpr std::uint32_t ranks = 4096;
constexpr std::uint32_t patterns = 16;  // of the ends of one operation over all ranks

// Ranks end each operation within a few microseconds of each other, in another order every time: the parts of a run on
// several processes are interleaved row by row.
class Operations {
  public:
    Operations() {
        for (std::uint32_t pattern = 0; pattern < patterns; ++pattern)
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                auto const noise = DigestChain::mix(std::uint64_t{pattern} << 32 | rank);
                rows_.push_back({.end = Time::from_ps(static_cast<std::int64_t>(noise % 4'000'000)),
                                 .wait = Time::from_ps(static_cast<std::int64_t>((noise >> 24) % 2'000'000)),
                                 .rank = rank,
                                 .sequence = pattern});
            }
        std::ranges::sort(rows_, {}, [](auto const& r) { return std::tuple(r.sequence, r.end, r.rank); });
    }

    // Number i of the run, in canonical order.
    OperationRow operator()(std::int64_t i) const {
        auto row = rows_[static_cast<std::size_t>(i) % rows_.size()];
        auto const n = static_cast<std::uint32_t>(i / ranks);
        auto const base = Time::from_ps(5'000'000LL * n);
        row.start = base - Time::from_ps(row.wait.ps() / 2);
        row.end += base;
        row.sequence = n;
        row.layer = static_cast<std::uint16_t>(n / 6);
        row.kind = static_cast<OpKind>(n % op_kind_count);
        return row;
    }

  private:
    std::vector<OperationRow> rows_;
};

// CPU seconds of the longest way through a merge that as many processes share as there are parts.
double shared_merge(std::vector<PartSource> const& sources, std::filesystem::path const& run_h5) {
    auto const count = static_cast<std::uint32_t>(sources.size());
    for (std::uint32_t index = 0; index < count; ++index)
        if (::fork() == 0) {
            auto const range = merge_range(sources, run_h5, {index, count});
            ::_exit(0);  // leaves the file to the parent
        }
    double longest = 0;
    for (std::uint32_t child = 0; child < count; ++child) {
        rusage usage{};
        ::wait4(-1, nullptr, 0, &usage);
        auto const seconds = [](timeval t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        longest = std::max(longest, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    }
    auto const started = cpu_seconds();
    merge_parts(sources, run_h5, {}, {}, {.ranges = count});
    return longest + cpu_seconds() - started;
}

void measure(Rows& rows, std::int64_t count, std::uint32_t parts) {
    auto const directory = std::filesystem::temp_directory_path() / fmt::format("orrery-bench-{}", ::getpid());
    Operations const operation;
    std::vector<PartSource> sources;
    double written = 0;
    for (std::uint32_t p = 0; p < parts; ++p) {
        PartWriter part({.directory = directory, .process = p, .processes = parts});
        auto const started = cpu_seconds();
        for (std::int64_t i = 0; i < count; ++i)
            if (auto const row = operation(i); row.rank % parts == p) part.add(row);
        part.close();
        written += cpu_seconds() - started;
        sources.push_back({part.path()});
    }
    auto const name = fmt::format("{} rows in {} part{}", count, parts, parts == 1 ? "" : "s");
    auto const million = static_cast<double>(count) * 1e-6;
    rows.add(name, "written, M rows per CPU second", million / written);
    auto const run_h5 = directory / "run.h5";
    auto const started = cpu_seconds();
    merge_parts(sources, run_h5, {}, {}, {.parts = PartsAfterwards::kept});
    rows.add(name, "closed by 1 process, M rows per CPU second", million / (cpu_seconds() - started));
    if (parts > 1)
        rows.add(name, fmt::format("closed by {} processes, M rows per CPU second of the busiest", parts),
                 million / shared_merge(sources, run_h5));
    rows.add(name, "bytes per row of the file",
             static_cast<double>(std::filesystem::file_size(directory / "run.h5")) / static_cast<double>(count));
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
    orrery::bench::Rows rows(argc, argv);
    auto const* const wanted = std::getenv("ORRERY_BENCH_ROWS");
    auto const count = wanted ? std::atoll(wanted) : 4'000'000;
    for (std::uint32_t const parts : {1U, 4U})
        if (!rows.usage_error()) orrery::bench::measure(rows, count, parts);
    return rows.finish();
}

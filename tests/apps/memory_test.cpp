// SPDX-License-Identifier: Apache-2.0
// Memory of a run that streams: ten times the rows take less than a tenth more.
#include "tests/apps/many_rows.hpp"

namespace orrery::testing {
namespace {

struct Measured {
    std::int64_t peak_bytes = 0;
    std::size_t rows = 0;
};

// Two MoE layers after so many dense ones, each 1,024 operations.
Measured run(int dense_layers) {
    ManyRows const directory(2, dense_layers);
    auto const finished = orrery({"run", "many.yaml", "--out", "out", "--quiet"}, directory.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return {summary_of(directory.path() / "out")["peak_rss_bytes"].get<std::int64_t>(),
            column<std::int64_t>(directory.path() / "out/run.h5", "operations", "end").size()};
}

TEST(Memory, TenTimesTheRowsTakeLessThanATenthMore) {
    auto const some = run(300), many = run(3000);
    EXPECT_GT(many.rows, 9 * some.rows);
    EXPECT_LT(many.peak_bytes, some.peak_bytes * 11 / 10);
    fmt::print("    {} rows in {} kB, {} rows in {} kB\n", some.rows, some.peak_bytes / 1000, many.rows,
               many.peak_bytes / 1000);
}

}  // namespace
}  // namespace orrery::testing

// SPDX-License-Identifier: Apache-2.0
// A run in several legs: what parts say of themselves, and which rows of an earlier leg count.
#include "core/check.hpp"
#include "io/timeline/compare.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr auto checkpoint = Time::from_ps(2'500'000'000);
using test::between;
using test::bin_width;

TEST(Legs, APartTellsWhatItWasTold) {
    test::TemporaryDirectory dir;
    PartSetup const setup{.directory = dir.path(),
                          .leg = 2,
                          .process = 3,
                          .processes = 5,
                          .detail = Detail::layers,
                          .link_bin = bin_width,
                          .earlier = {{part_path(dir.path(), 0, 0)},
                                      {part_path(dir.path(), 1, 0), RowCounts{1, 2, 3, 4, 5'000'000'000}}}};
    PartWriter part(setup);
    EXPECT_EQ(part.path().filename(), "l002.p0003.h5");
    PartReader const seen({part.path()});
    EXPECT_EQ(seen.setup().directory, setup.directory);
    EXPECT_EQ(seen.setup().leg, 2U);
    EXPECT_EQ(seen.setup().process, 3U);
    EXPECT_EQ(seen.setup().processes, 5U);
    EXPECT_EQ(seen.setup().detail, Detail::layers);
    EXPECT_EQ(seen.setup().link_bin, bin_width);
    EXPECT_EQ(seen.setup().earlier, setup.earlier);
    EXPECT_EQ(seen.complete_until(), Time{});
}

TEST(Legs, AFlushSaysUntilWhenRowsAreComplete) {
    test::TemporaryDirectory dir;
    auto const run = test::made_up_run();
    PartWriter part({.directory = dir.path(), .link_bin = bin_width});
    auto const early = between(run, {}, checkpoint);
    for (auto const& row : run.operations) part.add(row);
    for (auto const& row : run.collectives) part.add(row);
    for (auto const& row : run.link_bins) part.add(row);
    for (auto const& row : run.pairs) part.add(row);
    auto const before = std::chrono::system_clock::now() - std::chrono::microseconds(1);
    part.flush(checkpoint);
    EXPECT_EQ(part.rows(TableId::operations), run.operations.size());
    PartReader const seen({part.path()});
    EXPECT_EQ(seen.complete_until(), checkpoint);
    EXPECT_GE(seen.flushed_at(), before);
    EXPECT_LE(seen.flushed_at(), std::chrono::system_clock::now());
    EXPECT_EQ(seen.rows_before(TableId::operations, checkpoint), early.operations.size());
    EXPECT_EQ(seen.rows_before(TableId::collectives, checkpoint), early.collectives.size());
    EXPECT_EQ(seen.rows_before(TableId::link_bins, checkpoint), early.link_bins.size());
    EXPECT_EQ(seen.rows_before(TableId::pairs, checkpoint), 0U);
    EXPECT_EQ(seen.rows_before(TableId::pairs, Time::infinity()), run.pairs.size());
    EXPECT_EQ(seen.rows_before(TableId::operations, {}), 0U);
    part.close();
    EXPECT_EQ(part.rows(TableId::operations), run.operations.size());
    EXPECT_EQ(PartReader({part.path()}).complete_until(), Time::infinity());
}

// Three processes run beyond a checkpoint and are killed; two resume from it.
TEST(Legs, RowsBeyondTheCheckpointAreIgnored) {
    auto const run = test::made_up_run();
    test::TemporaryDirectory whole, legs;
    merge_parts(test::write_parts(whole.path(), run, 1), whole.path() / "run.h5", {}, {});

    auto const first = between(run, {}, checkpoint);
    auto const beyond = between(run, {}, 2 * checkpoint);
    auto sources = test::write_parts(legs.path(), beyond, 3);
    for (std::uint32_t p = 0; p < 3; ++p) {
        PartReader const part(sources[p]);
        auto& rows = sources[p].rows.emplace();
        for (std::size_t t = 0; t < rows.size(); ++t) rows[t] = part.rows_before(static_cast<TableId>(t), checkpoint);
    }
    EXPECT_EQ((*sources[0].rows)[0] + (*sources[1].rows)[0] + (*sources[2].rows)[0], first.operations.size());
    for (auto const& second :
         test::write_parts(legs.path(), between(run, checkpoint, Time::infinity()), 2, {.leg = 1, .earlier = sources}))
        sources.push_back(second);

    auto const kept = legs.path() / "kept.h5", narrow = legs.path() / "narrow.h5", last = legs.path() / "last.h5";
    merge_parts(sources, kept, {}, {}, {.parts = PartsAfterwards::kept});
    EXPECT_EQ(content_difference(whole.path() / "run.h5", kept), "");
    merge_parts(sources, narrow, {}, {}, {.fan_in = 2, .parts = PartsAfterwards::kept});
    EXPECT_EQ(content_difference(whole.path() / "run.h5", narrow), "");
    for (auto const& source : sources) EXPECT_TRUE(std::filesystem::exists(tail_path(source.path)));
    merge_parts(sources, last, {}, {});
    EXPECT_EQ(content_difference(whole.path() / "run.h5", last), "");
    EXPECT_FALSE(std::filesystem::exists(legs.path() / "parts"));
}

TEST(Legs, APartThatLacksRowsOfTheCheckpointIsRefused) {
    test::TemporaryDirectory dir;
    auto const source = test::write_part(dir.path(), {}, 0, 1);
    try {
        PartReader const part({source.path, RowCounts{7, 0, 0, 0, 0}});
        FAIL() << "no error";
    } catch (InputError const& error) {
        EXPECT_EQ(error.what(),
                  "cannot use " + source.path.string() + ":/operations (it holds 0 rows and 7 belong to the run)");
    }
}

}  // namespace
}  // namespace orrery

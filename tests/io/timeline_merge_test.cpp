// SPDX-License-Identifier: Apache-2.0
// One finished file, the same for every number of parts.
#include "core/check.hpp"
#include "io/timeline/compare.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <iostream>

namespace orrery {
namespace {

using test::read_column;

std::filesystem::path merged(std::filesystem::path const& dir, test::Rows const& run, std::uint32_t parts,
                             MergeOptions const& options = {}) {
    auto const target = dir / "run.h5";
    merge_parts(test::write_parts(dir, run, parts), target, test::made_up_manifest(static_cast<int>(parts)),
                test::made_up_fabric(), options);
    return target;
}

TEST(Merge, OnePartHoldsTheRowsInTheirOrder) {
    test::TemporaryDirectory dir;
    auto const run = test::made_up_run();
    auto const file = hdf5::File::open(merged(dir.path(), run, 3), hdf5::ReadMode::closed);
    std::vector<std::int64_t> ends, tokens;
    std::vector<std::uint32_t> ranks, bundles, links, domains, targets;
    for (auto const& r : run.operations) {
        ends.push_back(r.end.ps());
        ranks.push_back(r.rank);
    }
    for (auto const& r : run.collectives) domains.push_back(r.domain);
    for (auto const& r : run.link_bins) bundles.push_back(r.bundle);
    for (auto const& r : run.packet_bins) links.push_back(r.link);
    for (auto const& r : run.pairs) targets.push_back(r.target);
    for (auto const& r : run.expert_loads) tokens.push_back(r.tokens);
    EXPECT_EQ(read_column<std::int64_t>(file, "operations", "end"), ends);
    EXPECT_EQ(read_column<std::uint32_t>(file, "operations", "rank"), ranks);
    EXPECT_EQ(read_column<std::uint32_t>(file, "collectives", "domain"), domains);
    EXPECT_EQ(read_column<std::uint32_t>(file, "link_bins", "bundle"), bundles);
    EXPECT_EQ(read_column<std::uint32_t>(file, "packet_bins", "link"), links);
    EXPECT_EQ(read_column<std::uint32_t>(file, "pairs", "target"), targets);
    EXPECT_EQ(read_column<std::int64_t>(file, "expert_loads", "tokens"), tokens);
    EXPECT_EQ(std::get<std::int64_t>(file.open_group("run").attribute("processes")), 3);
    EXPECT_EQ(std::get<std::string>(file.open_group("manifest").attribute("scenario")).size(), 200'000U);
    EXPECT_EQ(std::get<double>(file.open_group("summary").attribute("step_time_s")), 0.0581);
}

TEST(Merge, ContentIsTheSameForEveryNumberOfParts) {
    auto const run = test::made_up_run();
    test::TemporaryDirectory one;
    auto const reference = merged(one.path(), run, 1);
    for (std::uint32_t const parts : {2U, 3U, 7U, 60U}) {
        test::TemporaryDirectory dir;
        EXPECT_EQ(content_difference(reference, merged(dir.path(), run, parts)), "") << parts << " parts";
    }
    test::TemporaryDirectory dir;  // several passes
    EXPECT_EQ(content_difference(reference, merged(dir.path(), run, 7, {.fan_in = 2})), "");
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "parts"));
}

// Every process merges a range; the joined file is what one process writes.
TEST(Merge, RangesGiveTheSameContent) {
    test::Rows run = test::made_up_run();
    run.operations = test::made_up_operations(48, 5000);
    test::TemporaryDirectory one;
    auto const reference = merged(one.path(), run, 1);
    for (std::uint32_t const ranges : {2U, 3U}) {
        test::TemporaryDirectory dir;
        auto const sources = test::write_parts(dir.path(), run, 3);
        auto const target = dir.path() / "run.h5";
        {
            std::vector<ScratchFiles> files;
            for (std::uint32_t r = 0; r < ranges; ++r) files.push_back(merge_range(sources, target, {r, ranges}));
            std::uint64_t first = 0;
            for (std::uint32_t r = 0; r < ranges; ++r) {  // equal shares
                auto const file =
                    hdf5::File::open(fmt::format("{}.range{:04}.tmp", target.string(), r), hdf5::ReadMode::closed);
                auto const rows = file.open_group("operations").open_dataset("end").rows();
                EXPECT_NEAR(static_cast<double>(rows * ranges), static_cast<double>(run.operations.size()),
                            0.25 * static_cast<double>(run.operations.size()))
                    << r << " of " << ranges;
                EXPECT_EQ(first % timeline_chunk_rows, 0U);
                first += rows;
            }
            EXPECT_EQ(first, run.operations.size());
            merge_parts(sources, target, test::made_up_manifest(1), test::made_up_fabric(), {.ranges = ranges});
        }
        EXPECT_EQ(content_difference(reference, target), "") << ranges << " ranges";
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
    }
}

TEST(Merge, ADifferentRunIsDifferent) {
    auto run = test::made_up_run();
    test::TemporaryDirectory one, two;
    auto const a = merged(one.path(), run, 1);
    run.operations[20'000].layer += 1;
    EXPECT_EQ(content_difference(a, merged(two.path(), run, 1)),
              "different: row 20000 of " + a.string() + ":/operations/layer and " + (two.path() / "run.h5").string() +
                  ":/operations/layer");
}

TEST(Merge, OnlyTheOneFileIsLeft) {
    test::TemporaryDirectory dir;
    merged(dir.path(), test::made_up_run(), 2);
    std::vector<std::string> left;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(dir.path()))
        left.push_back(entry.path().filename());
    EXPECT_EQ(left, std::vector<std::string>{"run.h5"});
}

TEST(Merge, NoRowsAtAllStillMakeAFile) {
    test::TemporaryDirectory dir;
    auto const file = hdf5::File::open(merged(dir.path(), {}, 2), hdf5::ReadMode::closed);
    for (auto const& table : timeline_tables()) {
        auto const group = file.open_group(table.name);
        EXPECT_EQ(group.children().size(), table.columns.size());
        for (auto const& column : table.columns) EXPECT_EQ(group.open_dataset(column.name).rows(), 0U);
    }
}

TEST(Merge, ARowInTwoPartsIsRefusedAndThePartsStay) {
    test::TemporaryDirectory dir;
    std::vector<PartSource> parts;
    for (std::uint32_t p = 0; p < 2; ++p) {
        PartWriter part({.directory = dir.path(), .process = p, .processes = 2});
        part.add(PairRow{1, 2, 3, 4});
        part.close();
        parts.push_back({part.path()});
    }
    EXPECT_THROW(merge_parts(parts, dir.path() / "run.h5", {}, {}), InternalError);
    EXPECT_TRUE(std::filesystem::exists(parts[0].path) && std::filesystem::exists(parts[1].path));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "run.h5"));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "run.h5.tmp"));
}

TEST(Merge, PartsOfDifferentDetailAreRefused) {
    test::TemporaryDirectory dir;
    auto const a = test::write_part(dir.path(), {}, 0, 2, {.detail = Detail::full});
    auto const b = test::write_part(dir.path(), {}, 1, 2, {.detail = Detail::layers});
    EXPECT_THROW(merge_parts({a, b}, dir.path() / "run.h5", {}, {}), InternalError);
}

TEST(Merge, BundlesAndLinksAreListed) {
    test::TemporaryDirectory dir;
    auto const file = hdf5::File::open(merged(dir.path(), {}, 1), hdf5::ReadMode::closed);
    auto const name = file.open_group("fabric").open_group("bundles").open_dataset("name");
    EXPECT_EQ(name.rows(), 60U);
    std::string text(name.type().size(), ' ');
    name.read(59, std::as_writable_bytes(std::span(text)));
    EXPECT_EQ(text, "sn0.n59.up");
    // 250 kB over 8 Gb/s for 1 ms: a quarter.
    EXPECT_EQ(read_column<double>(file, "links", "utilisation")[1], 0.25);
    EXPECT_EQ(read_column<double>(file, "links", "utilisation")[2], 0.0);
}

TEST(Merge, LargeFabricsListOnlyBundlesThatCarriedTraffic) {
    test::TemporaryDirectory dir;
    auto const file = hdf5::File::open(merged(dir.path(), {}, 1, {.all_bundles = 59}), hdf5::ReadMode::closed);
    auto const listed = read_column<std::uint32_t>(file, "links", "bundle");
    ASSERT_EQ(listed.size(), 15U);
    for (auto const bundle : listed) EXPECT_EQ(bundle % 4, 1U);
    EXPECT_EQ(std::get<std::int64_t>(file.open_group("fabric").attribute("bundle_count")), 60);
}

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

TEST(Merge, AMillionOperationsTakeAboutASecond) {
    test::TemporaryDirectory dir;
    auto const rows = test::made_up_operations(1000, 1000);
    std::vector<PartSource> parts;
    auto const begin = cpu_seconds();
    for (std::uint32_t p = 0; p < 4; ++p) {
        PartWriter part({.directory = dir.path(), .process = p, .processes = 4, .detail = Detail::layers});
        for (auto const& row : rows)
            if (row.rank / 250 == p) part.add(row);
        part.close();
        parts.push_back({part.path()});
    }
    auto const written = cpu_seconds();
    merge_parts(parts, dir.path() / "run.h5", {}, {});
    auto const done = cpu_seconds();
    auto const count = static_cast<double>(rows.size());
    std::cout << fmt::format(
        "    write {:.2f} M rows/s, merge {:.2f} M rows/s of CPU time, {:.1f} B per row in the file\n",
        count / (written - begin) * 1e-6, count / (done - written) * 1e-6,
        static_cast<double>(std::filesystem::file_size(dir.path() / "run.h5")) / count);
    auto const file = hdf5::File::open(dir.path() / "run.h5", hdf5::ReadMode::closed);
    auto const ends = read_column<std::int64_t>(file, "operations", "end");
    ASSERT_EQ(ends.size(), rows.size());
    EXPECT_TRUE(std::ranges::is_sorted(ends));
    EXPECT_LT(done - written, 30);  // wide: sanitizers and debug builds run it too
}

}  // namespace
}  // namespace orrery

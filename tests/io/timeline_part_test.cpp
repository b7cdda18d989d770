// SPDX-License-Identifier: Apache-2.0
// The part of one process: rows come back, bad order is refused, and a kill loses nothing that was flushed.
#include "core/check.hpp"
#include "io/timeline/part_reader.hpp"
#include "io/timeline/part_writer.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

namespace orrery {
namespace {

using hdf5::ReadMode;

// Number i of a stream of operations of one rank.
OperationRow nth(std::uint32_t i) {
    return {.start = Time::from_ps(i * 100LL),
            .end = Time::from_ps(i * 100LL + 90),
            .wait = Time::from_ps(i % 7),
            .exposed = Time::from_ps(i % 5),
            .rank = 3,
            .sequence = i,
            .layer = static_cast<std::uint16_t>(i % 61),
            .kind = static_cast<OpKind>(i % op_kind_count),
            .microbatch = static_cast<std::uint8_t>(i % 2)};
}

// All operations of a part equal nth(0), nth(1), ...
void expect_stream(PartReader const& part) {
    auto const& table = timeline_table(TableId::operations);
    RowBlock block(table, 1000), expected(table, 1);
    for (std::uint64_t first = 0; first < part.rows(TableId::operations); first += block.rows()) {
        part.read(TableId::operations, first, block);
        ASSERT_GT(block.rows(), 0U);
        for (std::size_t row = 0; row < block.rows(); ++row) {
            expected.resize(0);
            put(expected, nth(static_cast<std::uint32_t>(first + row)));
            for (std::size_t c = 0; c < table.columns.size(); ++c)
                ASSERT_TRUE(
                    std::ranges::equal(std::as_const(expected).column(c),
                                       std::as_const(block).column(c).subspan(row * block.width(c), block.width(c))))
                    << "row " << first + row << " of " << table.columns[c].name;
        }
    }
}

TEST(Part, EveryFieldOfEveryRowComesBack) {
    test::TemporaryDirectory dir;
    {
        PartWriter part({.directory = dir.path()});
        part.add(OperationRow{Time::from_ps(1), Time::from_ps(2), Time::from_ps(3), Time::from_ps(4), 5, 6, 7,
                              OpKind::dense_ffn, 8});
        part.add(CollectiveRow{Time::from_ps(1), Time::from_ps(2), Time::from_ps(3), Time::from_ps(4), 5, 6, 7, 8,
                               0xffffffff, 10, OpKind::dispatch, 11});
        part.add(LinkBinRow{1, 2, 1LL << 40});
        part.add(PairRow{1, 2, 3, 4});
        part.add(ExpertLoadRow{1, 2, 3, 4, -1, 6});
        part.add(PacketBinRow{1, 2, 3, Time::from_ps(4), Time::from_ps(5), 6, 7, 8});
        part.close();
    }
    auto const file = hdf5::File::open(part_path(dir.path(), 0, 0), ReadMode::closed);
    std::vector<std::int64_t> found;
    std::vector<std::string> names;
    for (auto const& table : timeline_tables())
        for (auto const& column : table.columns) {
            auto const group = file.open_group(table.name);
            auto const dataset = group.open_dataset(column.name);
            ASSERT_EQ(dataset.rows(), 1U);
            std::int64_t value = 0;  // little-endian: a narrow value fills the low bytes
            dataset.read(0, std::as_writable_bytes(std::span(&value, 1)).first(dataset.type().size()));
            if (dataset.type().element == hdf5::Element::i32) value = static_cast<std::int32_t>(value);
            found.push_back(value);
            EXPECT_EQ(std::get<std::string>(dataset.attribute("units")), column.unit);
        }
    std::vector<std::int64_t> const expected = {1, 2, 3,         4, 5,  6, 7, 6, 8,                      // operation
                                                1, 2, 3,         4, 5,  6, 7, 8, 0xffffffff, 10, 2, 11,  // collective
                                                1, 2, 1LL << 40,                                         // link bin
                                                1, 2, 3,         4,                                      // pair
                                                1, 2, 3,         4, -1, 6,                               // expert load
                                                1, 2, 3,         4, 5,  6, 7, 8};                        // packet bin
    EXPECT_EQ(found, expected);
    EXPECT_EQ(std::get<std::vector<std::string>>(file.open_group("operations").open_dataset("kind").attribute("names")),
              operation_kind_names());
}

TEST(Part, DetailLeavesOutWhatItSays) {
    auto const rows_of = [](Detail detail) {
        test::TemporaryDirectory dir;
        test::write_part(dir.path(), test::made_up_run(), 0, 1, {.detail = detail});
        PartReader const part({part_path(dir.path(), 0, 0)});
        std::vector<bool> present;
        for (std::size_t t = 0; t < timeline_tables().size(); ++t)
            present.push_back(part.rows(static_cast<TableId>(t)) > 0);
        return present;
    };
    using Present = std::vector<bool>;  // operations, collectives, link_bins, pairs, expert_loads, packet_bins
    EXPECT_EQ(rows_of(Detail::full), (Present{true, true, true, true, true, true}));
    EXPECT_EQ(rows_of(Detail::layers), (Present{true, true, true, false, true, true}));
    EXPECT_EQ(rows_of(Detail::summary), (Present{false, true, true, false, false, true}));
}

TEST(Part, RowsOutOfOrderOrTwiceAreRefused) {
    test::TemporaryDirectory dir;
    PartWriter part({.directory = dir.path()});
    part.add(LinkBinRow{5, 1, 10});
    part.add(LinkBinRow{4, 2, 10});
    EXPECT_THROW(part.add(LinkBinRow{6, 1, 10}), InternalError);
    part.add(nth(1));
    EXPECT_THROW(part.add(nth(1)), InternalError);
}

TEST(Part, AReaderFollowsTheRunningWriter) {
    test::TemporaryDirectory dir;
    PartWriter part({.directory = dir.path()});
    for (std::uint32_t i = 0; i < 20'000; ++i) part.add(nth(i));
    part.flush({});
    {
        PartReader const seen({part.path()});
        EXPECT_EQ(seen.rows(TableId::operations), 20'000U);
        expect_stream(seen);
    }
    for (std::uint32_t i = 20'000; i < 40'000; ++i) part.add(nth(i));
    {
        // The tail is older than the chunk that was completed since: it must not be appended to it.
        PartReader const seen({part.path()});
        EXPECT_GE(seen.rows(TableId::operations), 20'000U);
        expect_stream(seen);
    }
    part.close();
    PartReader const seen({part.path()});
    EXPECT_EQ(seen.rows(TableId::operations), 40'000U);
    expect_stream(seen);
}

// Runs `child` in a process of its own and kills that as soon as it has called the function it is given.
template <class Child>
void run_until_ready_and_kill(Child&& child) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto const pid = ::fork();
    if (pid == 0) {
        child([&] { static_cast<void>(!::write(ends[1], "r", 1)); });
        for (;;) ::pause();
    }
    char ready = 0;
    EXPECT_EQ(::read(ends[0], &ready, 1), 1);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Part, AKillLosesNothingThatWasFlushed) {
    for (std::uint32_t const flushed : {5U, 16'384U, 40'000U}) {
        test::TemporaryDirectory dir;
        run_until_ready_and_kill([&](auto const& ready) {
            PartWriter part({.directory = dir.path()});
            std::uint32_t i = 0;
            for (; i < flushed; ++i) part.add(nth(i));
            part.flush({});
            ready();
            for (;; ++i) part.add(nth(i));  // killed somewhere in here
        });
        PartReader const part({part_path(dir.path(), 0, 0)});
        EXPECT_GE(part.rows(TableId::operations), flushed);
        expect_stream(part);
    }
}

TEST(Part, ADamagedTailIsRefused) {
    test::TemporaryDirectory dir;
    PartWriter part({.directory = dir.path()});
    for (std::uint32_t i = 0; i < 100; ++i) part.add(nth(i));
    part.flush({});
    {
        std::fstream tail(tail_path(part.path()), std::ios::in | std::ios::out | std::ios::binary);
        tail.seekp(200);
        tail.put('\x55');
    }
    EXPECT_THROW(PartReader({part.path()}), InputError);
    std::filesystem::resize_file(tail_path(part.path()), 20);
    EXPECT_THROW(PartReader({part.path()}), InputError);
}

TEST(Part, AnUnwritableDirectoryIsOneSentenceWithPathAndReason) {
    test::TemporaryDirectory dir;
    std::ofstream(dir.path() / "file") << "in the way";
    try {
        PartWriter part({.directory = dir.path() / "file"});
        FAIL() << "no error";
    } catch (InputError const& error) {
        EXPECT_EQ(error.what(),
                  "cannot create directory " + (dir.path() / "file" / "parts").string() + " (Not a directory)");
    }
    std::filesystem::create_directories(part_path(dir.path(), 0, 0));  // a directory where the file should be
    try {
        PartWriter part({.directory = dir.path()});
        FAIL() << "no error";
    } catch (InputError const& error) {
        EXPECT_EQ(error.what(), "cannot create " + part_path(dir.path(), 0, 0).string() + " (Is a directory)");
    }
}

TEST(Part, AFullDiskIsReportedWithPathAndReason) {
    test::TemporaryDirectory dir;
    auto const pid = ::fork();
    if (pid == 0) {  // a limit on the size of files stands for a full disk
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit const limit{64 * 1024, 64 * 1024};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        try {
            PartWriter part({.directory = dir.path()});
            for (std::uint32_t i = 0; i < 1'000'000; ++i) part.add(nth(i));
            std::_Exit(1);
        } catch (InputError const& error) {
            std::string const message = error.what();
            bool const good = message.find(part_path(dir.path(), 0, 0).string()) != std::string::npos &&
                              message.find("(File too large)") != std::string::npos;
            if (!good) fmt::print(stderr, "{}\n", message);
            std::_Exit(good ? 0 : 2);
        }
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Part, BuffersAreBounded) {
    // Twice the open chunks, three times the largest column of one, and 4 MiB of HDF5.
    EXPECT_EQ(PartWriter::memory_bytes(Detail::full), (2 * (44 + 60 + 16 + 24 + 24 + 48) + 3 * 8) * 16'384 + 4'194'304);
    EXPECT_EQ(PartWriter::memory_bytes(Detail::summary), (2 * (60 + 16 + 48) + 3 * 8) * 16'384 + 4'194'304);
}

}  // namespace
}  // namespace orrery

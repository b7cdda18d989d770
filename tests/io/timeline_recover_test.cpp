// SPDX-License-Identifier: Apache-2.0
// What killed processes left becomes one file that is a prefix of the run.
#include "core/check.hpp"
#include "io/timeline/about.hpp"
#include "io/timeline/compare.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"
#include "io/timeline/recover.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using test::between;

constexpr Time at(std::int64_t us) {
    return Time::from_ps(us * 1'000'000);
}

// A leg of three processes, each killed some time after its last flush.
class Killed {
  public:
    Killed() {
        write_about(directory.path(), test::made_up_manifest(3), test::made_up_fabric());
        merge_parts(test::write_parts(whole.path(), run, 1), whole.path() / "run.h5", {}, test::made_up_fabric());
    }

    // Rows of [from, until) in the part, of which what lies before `flushed` is flushed: less than a chunk beyond that.
    std::vector<PartSource> leave(PartSetup const& setup, Time from, std::vector<Time> const& flushed) const {
        std::vector<PartSource> sources;
        for (std::uint32_t p = 0; p < flushed.size(); ++p) {
            auto const n = static_cast<std::uint32_t>(flushed.size());
            auto const source =
                test::write_part(directory.path(), between(run, from, flushed[p] + at(20)), p, n, setup);
            rewind(source, flushed[p]);
            sources.push_back(source);
        }
        return sources;
    }
    std::string recovered_differs() const {
        return prefix_difference(directory.path() / "recovered.h5", whole.path() / "run.h5");
    }

    test::Rows const run = test::made_up_run();
    test::TemporaryDirectory directory, whole;

  private:
    // The part of a killed process has a tail that says `open`, and may hold whole chunks beyond it.
    static void rewind(PartSource const& source, Time flushed) {
        auto tail = *read_tail(tail_path(source.path));
        std::vector<TailTable> tables;
        for (auto const& table : tail.tables) tables.push_back({table.first_row, nullptr});
        tail.note.state = TailNote::State::open;
        tail.note.complete_until = flushed;
        write_tail(tail_path(source.path), tail.note, tables);
    }
};

std::map<fs::path, std::string> contents(fs::path const& directory) {
    std::map<fs::path, std::string> all;
    for (auto const& entry : fs::directory_iterator(directory)) {
        std::ifstream file(entry.path(), std::ios::binary);
        all[entry.path()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return all;
}

template <class Action>
std::string refusal(Action&& action) {
    try {
        action();
    } catch (InputError const& error) {
        return error.what();
    }
    return "no error";
}

TEST(Recover, CutsAtTheProcessThatFlushedFirst) {
    Killed const killed;
    killed.leave({}, {}, {at(2700), at(2500), at(2600)});
    auto const evidence = contents(killed.directory.path() / "parts");
    auto const found = recover_timeline(killed.directory.path(), {}, Overwrite::no);
    EXPECT_EQ(found.complete_until, at(2500));
    EXPECT_EQ(found.processes, 3U);
    auto const expected = between(killed.run, {}, at(2500));
    EXPECT_EQ(found.rows,
              (RowCounts{expected.operations.size(), expected.collectives.size(), expected.link_bins.size(), 0, 0,
                         expected.packet_bins.size()}));
    EXPECT_EQ(killed.recovered_differs(), "");
    EXPECT_EQ(contents(killed.directory.path() / "parts"), evidence);

    auto const file = hdf5::File::open(found.file, hdf5::ReadMode::closed);
    EXPECT_EQ(file.open_group("operations").open_dataset("end").rows(), expected.operations.size());
    EXPECT_EQ(std::get<std::int64_t>(file.open_group("summary").attribute("complete_until_ps")), at(2500).ps());
    EXPECT_EQ(std::get<std::int64_t>(file.open_group("manifest").attribute("seed")), 7);
    EXPECT_EQ(file.open_group("fabric").open_group("bundles").open_dataset("id").rows(), 60U);
}

TEST(Recover, NothingWasFlushedYet) {
    Killed const killed;
    killed.leave({}, {}, {at(2700), {}, at(2600)});
    EXPECT_EQ(recover_timeline(killed.directory.path(), {}, Overwrite::no).rows, RowCounts{});
    EXPECT_EQ(killed.recovered_differs(), "");
}

TEST(Recover, ARunThatWasKilledWhileItMergedLosesNothing) {
    Killed const killed;
    test::write_parts(killed.directory.path(), killed.run, 3);
    auto const found = recover_timeline(killed.directory.path(), {}, Overwrite::no);
    EXPECT_EQ(found.complete_until, Time::infinity());
    EXPECT_EQ(found.rows[static_cast<std::size_t>(TableId::pairs)], killed.run.pairs.size());
    EXPECT_EQ(found.rows[static_cast<std::size_t>(TableId::operations)], killed.run.operations.size());
    EXPECT_EQ(killed.recovered_differs(), "");
}

TEST(Recover, ALaterLegBuildsOnAnEarlierOne) {
    Killed const killed;
    auto first = killed.leave({}, {}, {at(2700), at(2500), at(2600)});
    for (auto& source : first) {  // resumed on two processes from a checkpoint at 2,000 us
        PartReader const part(source);
        auto& rows = source.rows.emplace();
        for (std::size_t t = 0; t < rows.size(); ++t) rows[t] = part.rows_before(static_cast<TableId>(t), at(2000));
    }
    killed.leave({.leg = 1, .earlier = first}, at(2000), {at(3000), at(3100)});
    auto const found = recover_timeline(killed.directory.path(), {}, Overwrite::no);
    EXPECT_EQ(found.complete_until, at(3000));
    EXPECT_EQ(found.leg, 1U);
    EXPECT_EQ(found.processes, 2U);
    EXPECT_EQ(found.note, "");
    EXPECT_EQ(found.rows[0], between(killed.run, {}, at(3000)).operations.size());
    EXPECT_EQ(killed.recovered_differs(), "");
}

TEST(Recover, ALegThatCameLessFarIsLeftOut) {
    Killed const killed;
    killed.leave({}, {}, {at(2700), at(2500), at(2600)});
    killed.leave({.leg = 1}, at(2000), {at(2300)});
    auto const found = recover_timeline(killed.directory.path(), {}, Overwrite::no);
    EXPECT_EQ(found.complete_until, at(2500));
    EXPECT_EQ(found.note, "leg 1 had not come further than leg 0 and is left out");
    EXPECT_EQ(killed.recovered_differs(), "");
    // The same when that leg was killed before all of its processes had begun.
    fs::remove(tail_path(part_path(killed.directory.path(), 1, 0)));
    EXPECT_EQ(recover_timeline(killed.directory.path(), {}, Overwrite::yes).complete_until, at(2500));
}

TEST(Recover, RefusesInOneSentence) {
    Killed const killed;
    auto const& dir = killed.directory.path();
    auto const recover = [&] { recover_timeline(dir, {}, Overwrite::no); };
    auto const name = dir.string();
    EXPECT_EQ(refusal([] { recover_timeline("/nowhere", {}, Overwrite::no); }),
              "cannot recover /nowhere (no such directory)");
    EXPECT_EQ(refusal(recover),
              "nothing to recover in " + name + " (it holds no parts of a run) name the --out directory of a run");
    killed.leave({}, {}, {at(2700), at(2500)});
    fs::remove(tail_path(part_path(dir, 0, 1)));
    EXPECT_EQ(refusal(recover), "nothing to recover in " + name +
                                    " (part of a process is missing, or the run was killed before it began)");
    killed.leave({}, {}, {at(2700), at(2500)});
    fs::rename(part_path(dir, 0, 1), dir / "elsewhere");
    EXPECT_EQ(refusal(recover), "cannot open " + part_path(dir, 0, 1).string() + " (No such file or directory)");
    fs::rename(dir / "elsewhere", part_path(dir, 0, 1));
    recover();
    EXPECT_EQ(refusal(recover),
              (dir / "recovered.h5").string() + " exists (a recovery never overwrites) use --force to replace it");
    fs::remove_all(dir / "parts");
    std::ofstream(dir / "run.h5") << "";
    EXPECT_EQ(refusal(recover), "nothing to recover in " + name + " (its run.h5 is finished) read that");
}

}  // namespace
}  // namespace orrery

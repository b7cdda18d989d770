// SPDX-License-Identifier: Apache-2.0
// kill -9 of one process, or of all, at random moments of a run that streams: what it left is a prefix of the run.
#include "core/digest.hpp"
#include "io/timeline/compare.hpp"
#include "io/timeline/part_reader.hpp"
#include "tests/apps/apps_testing.hpp"
#include "tests/apps/many_rows.hpp"

#include <algorithm>
#include <csignal>
#include <thread>

namespace orrery::testing {
namespace {

using Clock = std::chrono::system_clock;
using namespace std::chrono_literals;

constexpr auto interval = 100ms;
// What a busy machine may add between the moment at which a flush is due and its end.
constexpr auto delay = 1s;

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> all;
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
    for (pid_t child = 0; file >> child;) all.push_back(child);
    return all;
}

void wait_until_gone(pid_t pid) {
    for (;; std::this_thread::sleep_for(5ms)) {
        auto const text = read_text(fmt::format("/proc/{}/stat", pid));
        auto const name_end = text.rfind(')');
        if (name_end == std::string::npos || text[name_end + 2] == 'Z') return;
    }
}

enum class Victims { one, all };

class Survival : public ::testing::Test {
  protected:
    Survival() {
        auto const finished = orrery({"run", "many.yaml", "--out", "whole", "--quiet"}, directory_.path());
        EXPECT_EQ(finished.code, 0) << finished.err;
        ends_ = column<std::int64_t>(whole(), "operations", "end");
    }
    fs::path whole() const { return directory_.path() / "whole/run.h5"; }
    fs::path out() const { return directory_.path() / "out"; }

    // Kills after `when` of streaming; false when the run had ended before.
    bool run_and_kill(Victims victims, Clock::duration when) {
        fs::remove_all(out());
        Program program({"run", "many.yaml", "--out", "out", "--quiet", "--flush-interval", "100ms"}, directory_.path(),
                        {ORRERY_MPIEXEC, "-n", "2"});
        auto const begun = [&](std::uint32_t p) { return fs::exists(tail_path(part_path(out(), 0, p))); };
        while (!begun(0) || !begun(1)) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(when);
        auto const processes = children_of(program.pid());
        killed_at_ = Clock::now();
        if (victims == Victims::one && processes.size() == 2) {
            ::kill(processes[static_cast<std::size_t>(when.count()) % 2], SIGKILL);
        } else {
            for (auto const pid : processes) ::kill(pid, SIGKILL);
            ::kill(program.pid(), SIGKILL);
        }
        auto const finished = program.wait();
        for (auto const pid : processes) wait_until_gone(pid);
        return processes.size() == 2 && !fs::exists(out() / "run.h5");
    }

    void expect_prefix() {
        auto const recovered = orrery({"recover", "out"}, directory_.path());
        ASSERT_EQ(recovered.code, 0) << recovered.err;
        auto const file = out() / "recovered.h5";
        EXPECT_EQ(prefix_difference(file, whole()), "");
        auto const until = std::get<std::int64_t>(
            hdf5::File::open(file, hdf5::ReadMode::closed).open_group("summary").attribute("complete_until_ps"));
        auto const rows = column<std::int64_t>(file, "operations", "end").size();
        EXPECT_EQ(rows, std::ranges::lower_bound(ends_, until) - ends_.begin());
        recovered_rows_ += rows;
        for (std::uint32_t p = 0; p < 2; ++p) {
            auto const age = killed_at_ - PartReader({part_path(out(), 0, p)}).flushed_at();
            EXPECT_LE(age, interval + delay);
            oldest_ = std::max(oldest_, std::chrono::duration_cast<std::chrono::milliseconds>(age));
        }
    }

    void kill_ten_times(Victims victims, std::uint64_t seed) {
        int kills = 0;
        for (std::uint32_t trial = 0; kills < 10; ++trial) {
            ASSERT_LT(trial, 40U) << "the run is over before it can be killed";
            auto const draw = DigestChain::mix(seed << 32 | trial) % 900;
            if (!run_and_kill(victims, std::chrono::milliseconds(draw))) continue;
            expect_prefix();
            ++kills;
        }
        EXPECT_GT(recovered_rows_, 0U);
        fmt::print("    {} kills; {} of {} operations recovered; the oldest flush was {} ms old\n", kills,
                   recovered_rows_, ends_.size() * static_cast<std::size_t>(kills), oldest_.count());
    }

  private:
    ManyRows directory_;
    std::vector<std::int64_t> ends_;
    Clock::time_point killed_at_;
    std::size_t recovered_rows_ = 0;
    std::chrono::milliseconds oldest_{};
};

using SurvivalOfOne = Survival;
using SurvivalOfAll = Survival;

TEST_F(SurvivalOfOne, AtTenRandomMoments) {
    kill_ten_times(Victims::one, 1);
}

TEST_F(SurvivalOfAll, AtTenRandomMoments) {
    kill_ten_times(Victims::all, 2);
}

}  // namespace
}  // namespace orrery::testing

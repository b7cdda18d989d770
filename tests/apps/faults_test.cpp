// SPDX-License-Identifier: Apache-2.0
// Where results cannot be written: one sentence with path and reason, the same end on all processes, nothing corrupted.
#include "io/timeline/compare.hpp"
#include "tests/apps/many_rows.hpp"

#include <gmock/gmock-more-matchers.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace orrery::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

// A file system in memory, of so many bytes.
class SmallDisk {
  public:
    SmallDisk(fs::path const& at, std::int64_t bytes) : at_(at) {
        fs::create_directories(at);
        mounted_ = ::mount("tmpfs", at.c_str(), "tmpfs", 0, fmt::format("size={}", bytes).c_str()) == 0;
        if (!mounted_) why_ = std::strerror(errno);
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
    }
    SmallDisk(SmallDisk const&) = delete;
    SmallDisk& operator=(SmallDisk const&) = delete;
    bool mounted() const { return mounted_; }
    std::string const& why() const { return why_; }
    void become_read_only() const { ::mount("", at_.c_str(), "", MS_REMOUNT | MS_RDONLY, ""); }

  private:
    fs::path at_;
    bool mounted_ = false;
    std::string why_;
};

// The one line that Orrery says; mpirun adds what it thinks of a process that ends with an error, before or behind.
std::string sentence(std::string const& text) {
    std::vector<std::string> found;
    for (auto const& line : lines_of(text))
        if (line.starts_with("cannot ")) found.push_back(line);
    EXPECT_EQ(found.size(), 1U) << text;
    return found.empty() ? std::string() : found.front();
}

class Faults : public ::testing::Test {
  protected:
    explicit Faults(int moe_layers = 100) : directory_(moe_layers) {}
    Program start(std::string const& out, std::vector<std::string> launcher = {}) {
        return Program({"run", "many.yaml", "--out", out, "--quiet", "--flush-interval", "50ms"}, directory_.path(),
                       std::move(launcher));
    }
    Finished run(std::string const& out, std::vector<std::string> launcher = {}) {
        return start(out, std::move(launcher)).wait();
    }
    void wait_for_parts() const {
        while (!fs::exists(directory_.path() / "out/parts/l000.p0001.tail")) std::this_thread::sleep_for(2ms);
        std::this_thread::sleep_for(200ms);
    }

    ManyRows directory_;
    std::vector<std::string> const two_{ORRERY_MPIEXEC, "-n", "2"};
};

// Where the length of the run does not matter.
class FaultsOfAShortRun : public Faults {
  protected:
    FaultsOfAShortRun() : Faults(2) {}
};

TEST_F(Faults, AFullDiskLosesNothingThatWasFlushed) {
    ASSERT_EQ(run("whole").code, 0);
    for (auto const& launcher : {std::vector<std::string>{}, two_})
        for (std::int64_t const kilobytes : {500, 1300, 3000}) {
            SmallDisk const disk(directory_.path() / "small", kilobytes << 10);
            if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small file system (" << disk.why() << ")";
            auto const finished = run("small/out", launcher);
            EXPECT_EQ(finished.code, 2) << finished.err;
            EXPECT_THAT(sentence(finished.err), AllOf(HasSubstr("small/out/parts/l000.p000"),
                                                      HasSubstr("(No space left on device) orrery recover small/out")));
            EXPECT_THAT(finished.err, Not(HasSubstr("internal error")));
            EXPECT_LT(finished.seconds, 20);
            auto const recovered = orrery({"recover", "small/out", "--out", "r.h5", "--force"}, directory_.path());
            EXPECT_EQ(recovered.code, 0) << recovered.err;
            EXPECT_EQ(prefix_difference(directory_.path() / "r.h5", directory_.path() / "whole/run.h5"), "");
        }
}

TEST_F(Faults, ADiskThatIsTooSmallForTheFinishedFileKeepsTheParts) {
    ASSERT_EQ(run("whole").code, 0);
    auto const size = static_cast<std::int64_t>(fs::file_size(directory_.path() / "whole/run.h5"));
    SmallDisk const disk(directory_.path() / "small", size * 3 / 2);
    if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small file system (" << disk.why() << ")";
    auto const finished = run("small/out");
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_THAT(sentence(finished.err), AllOf(HasSubstr("small/out/run.h5.tmp"), HasSubstr("No space left on device")));
    EXPECT_FALSE(fs::exists(directory_.path() / "small/out/run.h5"));
    EXPECT_FALSE(fs::exists(directory_.path() / "small/out/run.h5.tmp"));
    auto const recovered = orrery({"recover", "small/out", "--out", "r.h5"}, directory_.path());
    EXPECT_THAT(recovered.out, HasSubstr("complete to the end of the run"));
    EXPECT_EQ(prefix_difference(directory_.path() / "whole/run.h5", directory_.path() / "r.h5"), "");
}

TEST_F(FaultsOfAShortRun, AnUnwritableDirectoryIsRefused) {
    auto const refused = run("/sys/orrery");  // where not even root may
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(lines_of(refused.err), ElementsAre(StartsWith("cannot create /sys/orrery (")));
    SmallDisk const disk(directory_.path() / "small", 1 << 20);
    if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small file system (" << disk.why() << ")";
    fs::create_directories(directory_.path() / "small/out");
    disk.become_read_only();
    for (auto const& launcher : {std::vector<std::string>{}, two_})
        EXPECT_EQ(sentence(run("small/out", launcher).err),
                  "cannot create directory small/out/parts (Read-only file system)");
}

TEST_F(FaultsOfAShortRun, AMissingParentIsCreatedAndAFileInItsPlaceRefused) {
    directory_.write("file", "in the way");
    auto const refused = run("file/out");
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(lines_of(refused.err), ElementsAre("cannot create file/out (Not a directory) choose another --out"));
    EXPECT_EQ(run("a/b/c").code, 0);
}

TEST_F(Faults, ADirectoryThatVanishesEndsAllProcesses) {
    auto program = start("out", two_);
    wait_for_parts();
    fs::remove_all(directory_.path() / "out");
    auto const finished = program.wait();
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_THAT(sentence(finished.err),
                AllOf(StartsWith("cannot write out/parts/l000.p000"), HasSubstr("(No such file or directory)")));
    EXPECT_LT(finished.seconds, 20);
}

TEST_F(Faults, AFileThatVanishesOnOneProcessEndsAll) {
    auto program = start("out", two_);
    wait_for_parts();
    fs::remove(directory_.path() / "out/parts/l000.p0001.h5");
    auto const finished = program.wait();
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_EQ(sentence(finished.err),
              "cannot write out/parts/l000.p0001.h5 (No such file or directory) orrery recover out shows what was "
              "written");
    EXPECT_TRUE(fs::exists(directory_.path() / "out/parts/l000.p0000.h5"));
}

TEST_F(FaultsOfAShortRun, AFullStandardOutputIsNotSuccess) {
    for (auto const* command : {"run many.yaml", "check many.yaml", "--help"}) {
        auto const finished = orrery({command}, directory_.path(), {"/bin/sh", "-c", "\"$0\" $1 > /dev/full"});
        EXPECT_NE(finished.code, 0) << command;
        EXPECT_THAT(finished.err, HasSubstr("No space left on device")) << command;
    }
}

}  // namespace
}  // namespace orrery::testing

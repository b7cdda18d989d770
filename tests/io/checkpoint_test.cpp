// SPDX-License-Identifier: Apache-2.0
// Files of states: found under their keys whatever file they are in; checksums; the newest two are kept.
#include "io/checkpoint/checkpoint.hpp"

#include "core/checksum.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <unistd.h>

namespace orrery::testing {
namespace {

namespace fs = std::filesystem;

class CheckpointFiles : public ::testing::Test {
  protected:
    fs::path const run_ = fs::temp_directory_path() / fmt::format("orrery-checkpoint-{}", ::getpid());
    CheckpointFiles() { fs::create_directories(run_); }
    ~CheckpointFiles() override { fs::remove_all(run_); }

    static void save(StateFileWriter& file, std::uint64_t key, std::vector<std::uint32_t> numbers) {
        file.save(key, [&](StateStream& stream) { stream(numbers); });
    }
    static std::vector<std::uint32_t> restore(StateFiles& files, std::uint64_t key) {
        std::vector<std::uint32_t> numbers;
        files.restore(key, [&](StateStream& stream) { stream(numbers); });
        return numbers;
    }
};

TEST(Checksum, DoesNotDependOnThePieces) {
    std::vector<std::byte> bytes(1000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
    auto const whole = checksum_of(bytes);
    for (std::size_t const piece : {1U, 3U, 8U, 13U, 999U}) {
        Checksum sum;
        for (std::size_t at = 0; at < bytes.size(); at += piece)
            sum.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
        EXPECT_EQ(sum.value(), whole) << piece;
    }
    for (std::size_t i = 0; i < bytes.size(); i += 37) {
        auto flipped = bytes;
        flipped[i] ^= std::byte{1};
        EXPECT_NE(checksum_of(flipped), whole) << i;
    }
    EXPECT_NE(checksum_of(std::span(bytes).first(999)), whole);
    EXPECT_NE(checksum_of(std::vector<std::byte>(3)), checksum_of(std::vector<std::byte>(4)));
}

TEST_F(CheckpointFiles, FindStatesUnderTheirKeysInAnyFile) {
    std::vector<std::uint32_t> large(300'000);
    std::iota(large.begin(), large.end(), 1U);
    std::vector<fs::path> paths;
    std::vector<FileFacts> facts;
    for (std::uint32_t p = 0; p < 3; ++p) {
        paths.push_back(state_path(run_, p));
        StateFileWriter file(paths.back());
        if (p == 0) save(file, 7, {});
        if (p == 2) save(file, std::uint64_t{1} << 40, {1, 2});
        if (p == 2) save(file, 3, large);
        facts.push_back(file.finish());  // the second one is empty
    }
    for (std::size_t p = 0; p < 3; ++p) {
        EXPECT_EQ(read_facts(paths[p]).checksum, facts[p].checksum);
        EXPECT_EQ(read_facts(paths[p]).bytes, facts[p].bytes);
    }
    StateFiles files(paths);
    EXPECT_EQ(restore(files, 3), large);
    EXPECT_EQ(restore(files, 7), (std::vector<std::uint32_t>{}));
    EXPECT_EQ(restore(files, std::uint64_t{1} << 40), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_FALSE(files.has(4));
    EXPECT_THROW(restore(files, 4), InternalError);
}

TEST_F(CheckpointFiles, AreReadOnlyWithWhatTheyHold) {
    {
        StateFileWriter file(state_path(run_, 0));
        save(file, 1, {1, 2, 3});
        file.finish();
    }
    StateFiles files({state_path(run_, 0)});
    EXPECT_THROW(files.restore(1, [](StateStream& stream) { stream.value(std::uint64_t{0}); }), InternalError);
}

TEST_F(CheckpointFiles, TheNewestTwoAreKept) {
    for (std::uint32_t number = 1; number <= 5; ++number) {
        begin_checkpoint(run_, number);
        CheckpointManifest manifest;
        manifest.number = number;
        manifest.processes = 1;
        manifest.program = program_identity();
        manifest.events = 10 * number;
        manifest.parts = {{.leg = 2, .process = 0, .rows = {1, 2, 3, 4, 5}}};
        StateFileWriter file(state_path(unpublished_checkpoint(run_, number), 0));
        manifest.files = {file.finish()};
        publish_checkpoint(run_, manifest);
    }
    EXPECT_EQ(published_checkpoints(run_), (std::vector<std::uint32_t>{5, 4}));
    auto const read = read_manifest(run_, 5);
    EXPECT_EQ(read.events, 50);
    EXPECT_EQ(read.parts.front().rows, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
    EXPECT_NO_THROW(verify_file(checkpoints_of(run_) / checkpoint_name(5), read.files.front()));
    EXPECT_THROW(read_manifest(run_, 3), InputError);
    // One that was never published does not count and is replaced.
    begin_checkpoint(run_, 6);
    EXPECT_EQ(published_checkpoints(run_).front(), 5U);
    EXPECT_NO_THROW(begin_checkpoint(run_, 6));
}

TEST_F(CheckpointFiles, SayWhatCannotBeWritten) {
    EXPECT_THROW(StateFileWriter(run_ / "missing" / "p0000.state"), StorageError);
    EXPECT_THROW(read_facts(run_ / "missing"), StorageError);
    try {
        read_facts(run_ / "missing");
    } catch (StorageError const& error) {
        EXPECT_EQ(error.what(), fmt::format("cannot read {}/missing (No such file or directory)", run_.string()));
    }
}

}  // namespace
}  // namespace orrery::testing

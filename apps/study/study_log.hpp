// SPDX-License-Identifier: Apache-2.0
// The results of a study as they come: one line per member, so that a study that was killed goes on where it was.
#pragma once

#include "apps/study/member.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace orrery {

// Part `share` of a study that is run in so many shares (as a Slurm array, one file each).
struct StudyShare {
    std::uint64_t index = 0, count = 1;
    bool has(std::uint64_t member) const { return member % count == index; }
};

class StudyLog {
  public:
    // Opens DIR/members.INDEX-COUNT.jsonl to append to.
    StudyLog(std::filesystem::path const& directory, StudyShare const& share);
    ~StudyLog();
    StudyLog(StudyLog const&) = delete;
    StudyLog& operator=(StudyLog const&) = delete;

    // Whole, or not at all, for whoever reads it later. InputError when it cannot be written.
    void add(std::string const& line);

  private:
    std::filesystem::path path_;
    int file_ = -1;
};

// What is known of each member, of all shares, the last line of each. A result is found by what it depends on, wherever
// its member now stands in the study; a line that was not written whole is passed over.
std::vector<std::optional<MemberResult>> read_results(std::filesystem::path const& directory, StudyPlan const& plan);

}  // namespace orrery

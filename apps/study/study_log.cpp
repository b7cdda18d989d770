// SPDX-License-Identifier: Apache-2.0
#include "apps/study/study_log.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <unordered_map>

namespace orrery {

namespace fs = std::filesystem;

StudyLog::StudyLog(fs::path const& directory, StudyShare const& share)
    : path_(directory / fmt::format("members.{}-{}.jsonl", share.index, share.count)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    ORRERY_VALIDATE(file_ >= 0, "cannot write {} ({}) choose another --out", path_.string(), std::strerror(errno));
    // A line that a kill cut off must not run into the next one.
    add("");
}

StudyLog::~StudyLog() {
    ::close(file_);
}

void StudyLog::add(std::string const& line) {
    auto const text = line + '\n';
    auto const written = ::write(file_, text.data(), text.size());  // O_APPEND: in one piece
    ORRERY_VALIDATE(written == static_cast<ssize_t>(text.size()), "cannot write {} ({})", path_.string(),
                    written < 0 ? std::strerror(errno) : "no room is left");
}

std::vector<std::optional<MemberResult>> read_results(fs::path const& directory, StudyPlan const& plan) {
    std::vector<std::optional<MemberResult>> results(plan.members());
    // Cells with the same overrides have the same results.
    std::unordered_multimap<std::uint64_t, std::uint64_t> members_of;
    for (std::uint64_t member = 0; member < results.size(); ++member) members_of.emplace(plan.key_of(member), member);
    std::vector<fs::path> files;
    for (auto const& entry : fs::directory_iterator(directory))
        if (entry.path().filename().string().starts_with("members.") && entry.path().extension() == ".jsonl")
            files.push_back(entry.path());
    std::ranges::sort(files);
    for (auto const& file : files) {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);) {
            try {
                auto result = from_line(line);
                auto const [first, last] = members_of.equal_range(result.key);
                for (auto found = first; found != last; ++found) {
                    result.member = found->second;
                    results[found->second] = result;
                }
            } catch (std::exception const&) {
                continue;  // cut off by a kill
            }
        }
    }
    return results;
}

}  // namespace orrery

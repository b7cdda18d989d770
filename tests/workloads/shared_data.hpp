// SPDX-License-Identifier: Apache-2.0
// Finding optional reference data, and files that a test writes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace orrery::test {

// The directory of reference data, or an empty path: then tests that need it skip.
inline std::filesystem::path shared_data() {
    char const* const set = std::getenv("ORRERY_SHARED_DATA");
    std::filesystem::path const path =
        set != nullptr ? std::filesystem::path(set) : std::filesystem::path(ORRERY_SOURCE_DIR) / "../shared/data";
    return std::filesystem::is_directory(path) ? path : std::filesystem::path{};
}

#define ORRERY_NEEDS_SHARED_DATA()             \
    if (::orrery::test::shared_data().empty()) \
    GTEST_SKIP() << "reference data is absent: set ORRERY_SHARED_DATA to its directory"

inline std::filesystem::path shipped_model(char const* name) {
    return std::filesystem::path(ORRERY_SOURCE_DIR) / "scenarios/models" / name;
}

// A file that lives as long as the object.
class TempFile {
  public:
    TempFile(std::string const& name, std::string const& text)
        : directory_(std::filesystem::temp_directory_path() / ("orrery_test_" + std::to_string(::getpid()))),
          path_(directory_ / name) {
        std::filesystem::create_directories(directory_);
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TempFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TempFile(TempFile const&) = delete;
    TempFile& operator=(TempFile const&) = delete;
    std::filesystem::path const& path() const { return path_; }

  private:
    std::filesystem::path directory_;
    std::filesystem::path path_;
};

// What the action complains about; empty if it does not.
template <class Error, class Action>
std::string complaint(Action&& action) {
    try {
        action();
    } catch (Error const& error) {
        return error.what();
    }
    return {};
}

}  // namespace orrery::test

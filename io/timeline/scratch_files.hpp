// SPDX-License-Identifier: Apache-2.0
// Removes files that are not wanted beyond a scope, whichever way it is left.
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace orrery {

class ScratchFiles {
  public:
    ScratchFiles() = default;
    ~ScratchFiles() {
        std::error_code ignored;
        for (auto const& path : paths_) std::filesystem::remove(path, ignored);
    }
    ScratchFiles(ScratchFiles&& other) noexcept : paths_(std::exchange(other.paths_, {})) {}
    ScratchFiles& operator=(ScratchFiles&& other) noexcept {
        std::swap(paths_, other.paths_);
        return *this;
    }
    ScratchFiles(ScratchFiles const&) = delete;
    ScratchFiles& operator=(ScratchFiles const&) = delete;

    void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }

  private:
    std::vector<std::filesystem::path> paths_;
};

}  // namespace orrery

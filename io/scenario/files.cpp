// SPDX-License-Identifier: Apache-2.0
// File checks without exceptions: a user may name anything, including sockets and names that are too long.
#include "io/scenario/files.hpp"

#include "io/scenario/nearest.hpp"
#include "io/scenario/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace orrery::loader {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_listed = 10'000;  // entries of a directory that are looked at for a suggestion

std::vector<std::string> names_in(fs::path const& directory) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end && names.size() < most_listed;
         it.increment(error))
        names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::optional<quantity::Refusal> file_fault(fs::path const& path) {
    std::error_code error;
    auto const status = fs::status(path, error);
    if (fs::is_regular_file(status)) {
        if (::access(path.c_str(), R_OK) == 0) return std::nullopt;
        return quantity::Refusal{"the file cannot be read", "check its permissions"};
    }
    if (fs::is_directory(status)) return quantity::Refusal{"this is a directory", "name a file in it"};
    if (fs::exists(status)) return quantity::Refusal{"not a regular file", "name a file"};
    fs::path directory = path.parent_path().empty() ? fs::path(".") : path.parent_path();
    fs::path missing = path;
    // Climb to the first directory that exists: the slip is in the part below it.
    while (!fs::is_directory(directory, error) && directory.has_relative_path()) {
        missing = directory;
        directory = directory.parent_path().empty() ? fs::path(".") : directory.parent_path();
        if (missing == directory) break;
    }
    std::string const near = nearest_name(missing.filename().string(), names_in(directory));
    std::string const reason =
        missing == path ? "no such file" : fmt::format("no directory {}", shown(missing.string(), longest_path));
    if (!near.empty()) return quantity::Refusal{reason, fmt::format("did you mean {}?", shown(near))};
    return quantity::Refusal{reason, fmt::format("looked in {}", shown(directory.string(), longest_path))};
}

}  // namespace orrery::loader

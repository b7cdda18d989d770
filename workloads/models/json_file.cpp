// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/json_file.hpp"

#include "core/check.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>

namespace orrery {

std::ifstream open_input(std::filesystem::path const& path, char const* what) {
    std::error_code ignored;
    ORRERY_VALIDATE(!std::filesystem::is_directory(path, ignored),
                    "{}: cannot read the {} file (it is a directory) give the path of a file", path.string(), what);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    ORRERY_VALIDATE(file.good(), "{}: cannot read the {} file ({}) check the path; it is relative to the scenario file",
                    path.string(), what, errno == 0 ? "unreadable" : std::strerror(errno));
    return file;
}

nlohmann::json parse_json_file(std::filesystem::path const& path, char const* what) {
    std::ifstream file = open_input(path, what);
    std::string const text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    try {
        return nlohmann::json::parse(text);
    } catch (nlohmann::json::parse_error const& error) {
        auto const at = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
        auto const line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        auto const line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
        auto const column = line_start == std::string::npos ? at + 1 : at - line_start;
        throw InputError(fmt::format("{}:{}:{}: the {} file is not JSON ({}) correct it or give another file",
                                     path.string(), line, column, what,
                                     text.empty() ? "it is empty" : "unexpected text or end of file here"));
    }
}

}  // namespace orrery

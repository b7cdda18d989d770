// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as people write them: 0-3, 7.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Appends the numbers of "5", "0-7" or "0-3, 7, 12-14", all below `limit`. Why the text is refused, or nothing.
std::string append_numbers(std::string_view text, std::uint64_t limit, std::vector<std::uint32_t>& out);

}  // namespace orrery

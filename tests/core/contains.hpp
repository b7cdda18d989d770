// SPDX-License-Identifier: Apache-2.0
// EXPECT_TRUE(contains(text, part)) that prints both when it fails.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace orrery::test {

inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
    if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

}  // namespace orrery::test

// SPDX-License-Identifier: Apache-2.0
// docs/scenario.md is what `orrery reference` prints for the present schema.
#include "io/scenario/load.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace orrery {
namespace {

TEST(ScenarioReference, DocumentIsGeneratedFromTheSchema) {
    std::ifstream file(std::string{ORRERY_SOURCE_DIR} + "/docs/scenario.md");
    std::string const document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(document, reference_markdown()) << "run: orrery reference > docs/scenario.md";
}

}  // namespace
}  // namespace orrery

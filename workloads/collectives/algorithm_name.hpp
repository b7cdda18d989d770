// SPDX-License-Identifier: Apache-2.0
// How people write the algorithm of a collective.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// "ring" has no levels; "hierarchical:direct,nhr" and HCCL's "level0:mesh;level1:NHR" have two; "ring*8" sends the data
// in eight chunks that follow each other.
struct AlgorithmName {
    std::string name;
    std::vector<std::string> levels;  // from the node up
    std::uint32_t chunks = 0;         // 0: it does not say
};
AlgorithmName split_algorithm_name(std::string_view written);

// Case, '-', '_' and blanks make no difference.
bool same_algorithm_name(std::string_view a, std::string_view b);

}  // namespace orrery

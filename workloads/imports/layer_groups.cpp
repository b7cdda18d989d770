// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/layer_groups.hpp"

namespace orrery {

LayerGroups layer_groups(ParallelSizes const& sizes) {
    ORRERY_ENSURE(sizes.tensor * sizes.pipeline * sizes.data == sizes.ranks && sizes.data % sizes.expert == 0,
                  "{} ranks in groups of TP {}, DP {}, PP {} and EP {}", sizes.ranks, sizes.tensor, sizes.data,
                  sizes.pipeline, sizes.expert);
    auto const tensor_groups = sizes.ranks / sizes.tensor;
    LayerGroups groups;
    auto& [tensor, data, expert, data_of_expert] = groups;
    for (std::uint32_t g = 0; g < tensor_groups; ++g) {
        tensor.open();
        for (std::uint32_t t = 0; t < sizes.tensor; ++t) tensor.add(g * sizes.tensor + t);
    }
    auto const stride = sizes.tensor * sizes.pipeline;
    for (std::uint32_t g = 0; g < stride; ++g) {
        data.open();
        for (std::uint32_t d = 0; d < sizes.data; ++d) data.add(g + d * stride);
    }
    for (std::uint32_t first = 0; first < tensor_groups; first += sizes.expert)
        for (std::uint32_t t = 0; t < sizes.tensor; ++t) {
            expert.open();
            for (std::uint32_t e = 0; e < sizes.expert; ++e) expert.add((first + e) * sizes.tensor + t);
        }
    for (std::uint32_t block = 0; block < tensor_groups; block += sizes.data)
        for (std::uint32_t e = 0; e < sizes.expert; ++e)
            for (std::uint32_t t = 0; t < sizes.tensor; ++t) {
                data_of_expert.open();
                for (std::uint32_t d = e; d < sizes.data; d += sizes.expert)
                    data_of_expert.add((block + d) * sizes.tensor + t);
            }
    return groups;
}

}  // namespace orrery

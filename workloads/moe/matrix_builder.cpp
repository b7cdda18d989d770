// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/matrix_builder.hpp"

#include "core/check.hpp"
#include "core/digest.hpp"
#include "workloads/moe/token_random.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::uint32_t most_top_k = 64;

// Spreads consecutive tokens over an expert's replicas: 32 bits.
std::uint64_t mixed(std::uint64_t token) {
    return DigestChain::mix(token) >> 32;
}

}  // namespace

MatrixBuilder::MatrixBuilder(RoutingSource const& routing, Placement const& placement, MatrixShape shape)
    : routing_(routing), placement_(placement), shape_(shape) {
    ORRERY_ENSURE(shape.top_k >= 1 && shape.top_k <= most_top_k && shape.microbatches >= 1,
                  "top-{} in {} micro-batches", shape.top_k, shape.microbatches);
}

std::uint32_t MatrixBuilder::messages_per_token() const {
    return shape_.top_k + (placement_.dedicated_shared() ? 1 : 0);
}

std::uint64_t MatrixBuilder::token_id(std::uint32_t group, std::uint32_t rank, std::uint32_t microbatch,
                                      std::uint32_t index) const {
    std::uint64_t const batch = (std::uint64_t{group} * placement_.ep() + rank) * shape_.microbatches + microbatch;
    return batch * shape_.tokens_per_rank + index;
}

void MatrixBuilder::add_message(Replica where, std::uint32_t* row, RoutingMatrix& out) const {
    ++row[where.rank];
    ++out.received[where.rank];
    ++out.slot_tokens[where.slot];
}

void MatrixBuilder::build(std::uint32_t group, std::uint32_t moe_layer, std::uint32_t microbatch,
                          RoutingMatrix& out) const {
    std::uint32_t const ep = placement_.ep();
    LayerPlacement const& where = placement_.layer(moe_layer);
    ORRERY_ENSURE(token_id(group, ep, 0, 0) < most_tokens && microbatch < shape_.microbatches,
                  "group {} micro-batch {} has no token numbers", group, microbatch);
    out.ep = ep;
    out.slots_per_rank = where.slots_per_rank;
    out.count.assign(std::size_t{ep} * ep, 0);
    out.received.assign(ep, 0);
    out.active_experts.assign(ep, 0);
    out.slot_tokens.assign(where.slot_expert.size(), 0);

    std::array<std::uint16_t, most_top_k> storage{};
    std::span<std::uint16_t> const experts(storage.data(), shape_.top_k);
    for (std::uint32_t rank = 0; rank < ep; ++rank) {
        std::uint32_t* const row = out.count.data() + std::size_t{rank} * ep;
        std::uint64_t const first = token_id(group, rank, microbatch, 0);
        for (std::uint64_t token = first; token < first + shape_.tokens_per_rank; ++token) {
            routing_.choose(moe_layer, token, experts);
            std::uint64_t const hash = mixed(token);
            for (std::uint16_t const expert : experts) {
                std::uint32_t const begin = where.first_replica[expert];
                std::uint32_t const copies = where.first_replica[expert + 1U] - begin;
                add_message(where.replicas[begin + ((hash * copies) >> 32)], row, out);
            }
            if (!where.shared.empty()) add_message(where.shared[rank % where.shared.size()], row, out);
        }
    }
    for (std::size_t slot = 0; slot < out.slot_tokens.size(); ++slot)
        if (out.slot_tokens[slot] > 0) ++out.active_experts[slot / where.slots_per_rank];
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Answers the network models' questions about dispatch and combine from the routing of every token.
#pragma once

#include "core/records.hpp"
#include "netmodels/exchange/exchange.hpp"
#include "workloads/moe/matrix_builder.hpp"
#include "workloads/moe/routing_matrix.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace orrery {

class Placement;

// One per process, shared by its carriers. A matrix is built when the first carrier opens the dispatch of its (group,
// layer, micro-batch) and dropped when the last one closes the combine, so memory follows what is in flight.
class MoeTraffic final : public ExchangeTraffic {
  public:
    struct Settings {
        std::uint32_t ep = 0, groups = 0;
        RankId first_rank;
        ExchangePlan dispatch, combine;
        std::vector<std::uint16_t> moe_layers;    // model index of every MoE layer simulated, ascending
        std::vector<std::uint32_t> load_counter;  // per group: the carrier that counts its expert loads
    };

    MoeTraffic(Settings settings, MatrixBuilder const& builder, Placement const& placement);

    std::uint32_t members(std::uint32_t) const override { return settings_.ep; }
    RankId first_rank(std::uint32_t group) const override {
        return RankId{settings_.first_rank.value() + group * settings_.ep};
    }
    ExchangePlan const& plan(OpKind kind) const override {
        return kind == OpKind::dispatch ? settings_.dispatch : settings_.combine;
    }
    void open(ExchangeKey key, std::uint32_t carrier) override;
    void close(ExchangeKey key, std::uint32_t carrier) override;
    void state(std::uint32_t carrier, StateStream& stream) override;
    void sent_by(ExchangeKey key, std::uint32_t source, std::vector<Share>& out) const override;
    void received_by(ExchangeKey key, std::uint32_t target, std::vector<Share>& out) const override;
    std::uint32_t messages(ExchangeKey key, std::uint32_t source, std::uint32_t target) const override;
    Received received(ExchangeKey key, std::uint32_t target) const override;

    // In order (group, layer, rank, slot), for the groups this process counts.
    void emit_expert_loads(TimelineSink& sink) const;

    // Largest load over mean load, averaged over groups and layers. Kept in parts per million so that processes can
    // add.
    struct Imbalance {
        std::int64_t ranks_ppm = 0, experts_ppm = 0, samples = 0;
    };
    Imbalance imbalance() const;

  private:
    struct Entry {
        RoutingMatrix matrix;
        std::vector<std::uint32_t> carriers;  // that have opened the dispatch and not closed the combine
    };
    Entry& enter(ExchangeKey key, std::uint32_t carrier);
    void count_loads(ExchangeKey key, RoutingMatrix const& matrix);
    Entry const& entry(ExchangeKey key) const;
    std::uint32_t moe_index(std::uint16_t layer) const;

    Settings settings_;
    MatrixBuilder const* builder_;
    Placement const* placement_;
    std::map<ExchangeKey, Entry> entries_;  // keyed as the dispatch
    std::vector<RoutingMatrix> spare_;      // dropped matrices, to reuse their memory
    // Per group that this process counts: [moe layer][member * slots + slot] tokens.
    std::vector<std::vector<std::vector<std::int64_t>>> loads_;
    std::uint32_t slots_per_rank_ = 0;
};

}  // namespace orrery

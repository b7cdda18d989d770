// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/moe_traffic.hpp"

#include "workloads/moe/placement.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

ExchangeKey dispatch_key(ExchangeKey key) {
    key.kind = OpKind::dispatch;
    return key;
}

// Largest over mean in parts per million; 1,000,000 when there is no load at all.
std::int64_t imbalance_ppm(std::span<std::int64_t const> loads) {
    auto const sum = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
    if (sum == 0) return 1'000'000;
    auto const largest = *std::max_element(loads.begin(), loads.end());
    return static_cast<std::int64_t>(static_cast<Int128>(largest) * static_cast<std::int64_t>(loads.size()) *
                                     1'000'000 / sum);
}

}  // namespace

MoeTraffic::MoeTraffic(Settings settings, MatrixBuilder const& builder, Placement const& placement)
    : settings_(std::move(settings)), builder_(&builder), placement_(&placement), loads_(settings_.groups) {}

std::uint32_t MoeTraffic::moe_index(std::uint16_t layer) const {
    auto const at = std::lower_bound(settings_.moe_layers.begin(), settings_.moe_layers.end(), layer);
    ORRERY_ENSURE(at != settings_.moe_layers.end() && *at == layer, "layer {} is not a simulated MoE layer", layer);
    return static_cast<std::uint32_t>(at - settings_.moe_layers.begin());
}

void MoeTraffic::open(ExchangeKey key, std::uint32_t carrier) {
    auto const& matrix = enter(key, carrier).matrix;
    if (key.kind == OpKind::dispatch && settings_.load_counter[key.group] == carrier) count_loads(key, matrix);
}

MoeTraffic::Entry& MoeTraffic::enter(ExchangeKey key, std::uint32_t carrier) {
    auto const [it, inserted] = entries_.try_emplace(dispatch_key(key));
    auto& [matrix, carriers] = it->second;
    if (std::find(carriers.begin(), carriers.end(), carrier) == carriers.end()) carriers.push_back(carrier);
    if (!inserted) return it->second;
    if (!spare_.empty()) {
        matrix = std::move(spare_.back());
        spare_.pop_back();
    }
    builder_->build(key.group, moe_index(key.layer), key.microbatch, matrix);
    slots_per_rank_ = matrix.slots_per_rank;
    return it->second;
}

void MoeTraffic::count_loads(ExchangeKey key, RoutingMatrix const& matrix) {
    auto& group_loads = loads_[key.group];
    group_loads.resize(settings_.moe_layers.size());
    auto& loads = group_loads[moe_index(key.layer)];
    loads.resize(matrix.slot_tokens.size(), 0);
    for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += matrix.slot_tokens[i];
}

void MoeTraffic::close(ExchangeKey key, std::uint32_t carrier) {
    if (key.kind != OpKind::combine) return;
    auto const it = entries_.find(dispatch_key(key));
    ORRERY_ENSURE(it != entries_.end(), "combine of group {} closed without traffic", key.group);
    auto& carriers = it->second.carriers;
    carriers.erase(std::remove(carriers.begin(), carriers.end(), carrier), carriers.end());
    if (!carriers.empty()) return;
    spare_.push_back(std::move(it->second.matrix));
    entries_.erase(it);
}

// Matrices are built anew: they are a function of the scenario.
void MoeTraffic::state(std::uint32_t carrier, StateStream& stream) {
    std::vector<std::uint64_t> inside;
    for (auto const& [key, entry] : entries_)
        if (std::find(entry.carriers.begin(), entry.carriers.end(), carrier) != entry.carriers.end())
            inside.push_back(key.pack());
    auto const slots = stream.value(slots_per_rank_);
    slots_per_rank_ = std::max(slots_per_rank_, slots);
    stream(inside);
    if (stream.restoring())
        for (auto const word : inside) enter(ExchangeKey::unpack(word), carrier);
    for (std::uint32_t group = 0; group < settings_.groups; ++group)
        if (settings_.load_counter[group] == carrier) stream(loads_[group]);
}

MoeTraffic::Entry const& MoeTraffic::entry(ExchangeKey key) const {
    auto const it = entries_.find(dispatch_key(key));
    ORRERY_ENSURE(it != entries_.end(), "exchange of group {} is not open", key.group);
    return it->second;
}

// A combine returns what the dispatch brought: its matrix is the transpose.
std::uint32_t MoeTraffic::messages(ExchangeKey key, std::uint32_t source, std::uint32_t target) const {
    auto const& matrix = entry(key).matrix;
    return key.kind == OpKind::dispatch ? matrix.messages(source, target) : matrix.messages(target, source);
}

void MoeTraffic::sent_by(ExchangeKey key, std::uint32_t source, std::vector<Share>& out) const {
    auto const& matrix = entry(key).matrix;
    out.clear();
    for (std::uint32_t peer = 0; peer < settings_.ep; ++peer) {
        auto const count = key.kind == OpKind::dispatch ? matrix.messages(source, peer) : matrix.messages(peer, source);
        if (count > 0) out.push_back({peer, count});
    }
}

void MoeTraffic::received_by(ExchangeKey key, std::uint32_t target, std::vector<Share>& out) const {
    key.kind = key.kind == OpKind::dispatch ? OpKind::combine : OpKind::dispatch;
    sent_by(key, target, out);
}

MoeTraffic::Received MoeTraffic::received(ExchangeKey key, std::uint32_t target) const {
    auto const& matrix = entry(key).matrix;
    if (key.kind == OpKind::dispatch) return {matrix.received[target], matrix.active_experts[target]};
    std::uint32_t messages = 0;
    for (std::uint32_t peer = 0; peer < settings_.ep; ++peer) messages += matrix.messages(target, peer);
    return {messages, 0};
}

void MoeTraffic::emit_expert_loads(TimelineSink& sink) const {
    for (std::uint32_t group = 0; group < loads_.size(); ++group)
        for (std::size_t layer = 0; layer < loads_[group].size(); ++layer) {
            auto const& loads = loads_[group][layer];
            auto const& slots = placement_->layer(static_cast<std::uint32_t>(layer)).slot_expert;
            for (std::size_t i = 0; i < loads.size(); ++i)
                sink.add(
                    ExpertLoadRow{.group = group,
                                  .rank = first_rank(group).value() + static_cast<std::uint32_t>(i / slots_per_rank_),
                                  .layer = settings_.moe_layers[layer],
                                  .slot = static_cast<std::uint16_t>(i % slots_per_rank_),
                                  .expert = slots[i],
                                  .tokens = loads[i]});
        }
}

MoeTraffic::Imbalance MoeTraffic::imbalance() const {
    Imbalance sum;
    std::vector<std::int64_t> ranks, experts;
    for (auto const& group_loads : loads_)
        for (std::size_t layer = 0; layer < group_loads.size(); ++layer) {
            auto const& loads = group_loads[layer];
            if (loads.empty()) continue;
            auto const& slots = placement_->layer(static_cast<std::uint32_t>(layer)).slot_expert;
            ranks.assign(settings_.ep, 0);
            experts.assign(static_cast<std::size_t>(*std::max_element(slots.begin(), slots.end())) + 1, 0);
            for (std::size_t i = 0; i < loads.size(); ++i) {
                ranks[i / slots_per_rank_] += loads[i];
                if (slots[i] >= 0) experts[static_cast<std::size_t>(slots[i])] += loads[i];
            }
            sum.ranks_ppm += imbalance_ppm(ranks);
            sum.experts_ppm += imbalance_ppm(experts);
            ++sum.samples;
        }
    return sum;
}

}  // namespace orrery

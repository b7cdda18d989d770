// SPDX-License-Identifier: Apache-2.0
// What a MoE step says about itself: prices, formulas, settings without effect.
#include "apps/run/moe_step.hpp"
#include "io/timeline/table.hpp"
#include "workloads/moe/placement.hpp"
#include "workloads/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::string MoeStep::description() const {
    auto text = fmt::format(
        "{}: {} layers simulated, {} of them MoE; {} groups of {} ranks; {} tokens per rank and"
        " micro-batch\n",
        model_.name, plan_->layers().size(), plan_->moe_layers(), groups(), ep(), tokens_per_microbatch_);
    text += fmt::format("routing: {}\nplacement: {}\n", routing_->describe(), placement_->describe());
    auto const line = [&text](char const* name, OpPrice const& price) {
        if (!price.formula.empty())
            text += fmt::format("  {:<14} {:>10}  bound by {}: {}\n", name, to_string(price.duration), price.bound_by,
                                price.formula);
    };
    line("attention", prices_.attention);
    line("linear attn.", prices_.linear_attention);
    line("gate", prices_.gate);
    line("shared expert", prices_.shared_expert);
    line("dense FFN", prices_.dense_ffn);
    text += fmt::format("  {:<14} {}\n  {:<14} {}\n", "dispatch", explain(dispatch_), "combine", explain(combine_));
    return text;
}

std::string MoeStep::end_rows_text(Detail detail) const {
    std::string text;
    auto const loads = static_cast<std::int64_t>(ranks()) * placement_->slots_per_rank() * plan_->moe_layers();
    if (detail >= timeline_table(TableId::expert_loads).least_detail)
        text += fmt::format("at the end only: {} rows of expert loads; {} of counters in all processes\n", loads,
                            bytes_text(loads * static_cast<std::int64_t>(sizeof(ExpertLoadRow::tokens))));
    if (detail < timeline_table(TableId::pairs).least_detail) return text;
    auto counters = static_cast<std::int64_t>(ranks()) * ep();  // once more when they are put in order
    for (auto const& layout : layouts_) counters += static_cast<std::int64_t>(layout.parts().size()) * ep() * ep();
    return text + fmt::format("at the end only: up to {} rows of pairs; up to {} of counters in all processes\n",
                              static_cast<std::int64_t>(ranks()) * (ep() - 1),
                              bytes_text(counters * static_cast<std::int64_t>(sizeof(PairRow))));
}

std::vector<ManifestEntry> MoeStep::manifest() const {
    return {{"routing", routing_->describe()}, {"placement", placement_->describe()}};
}

// A hybrid model has two kinds of attention layers: both formulas, and the bound of the kind that takes more time.
OpPrice MoeStep::attention_price() const {
    auto const& full = prices_.attention;
    auto const& linear = prices_.linear_attention;
    if (linear.formula.empty()) return full;
    auto const layers = plan_->layers();
    auto const total = [&](LayerAttention kind, OpPrice const& price) {
        return price.duration * std::count_if(layers.begin(), layers.end(), [&](auto const& layer) {
                   return model_.attention_of[layer.model_layer] == kind;
               });
    };
    bool const mostly_full = total(LayerAttention::full, full) >= total(LayerAttention::linear, linear);
    return {full.duration, mostly_full ? full.bound_by : linear.bound_by,
            fmt::format("full attention: {}; linear attention: {}", full.formula, linear.formula)};
}

std::optional<OpPrice> MoeStep::price(OpKind kind) const {
    switch (kind) {
        case OpKind::dispatch:
        case OpKind::combine:
            return std::nullopt;
        case OpKind::attention:
            return attention_price();
        case OpKind::gate:
            return prices_.gate;
        case OpKind::shared_expert:
            return prices_.shared_expert;
        case OpKind::dense_ffn:
            return prices_.dense_ffn;
        default: {
            // A rank with the mean number of messages, all of its slots in use.
            auto const messages = static_cast<std::uint64_t>(tokens_per_microbatch_) * matrices_->messages_per_token();
            return expert_pricer_->explain(
                messages, std::min<std::uint32_t>(placement_->slots_per_rank(), static_cast<std::uint32_t>(messages)));
        }
    }
}

std::string MoeStep::formula(OpKind communication) const {
    return explain(exchange(communication));
}

std::vector<std::string> MoeStep::ignored() const {
    if (loaded_->origin.contains("workload.routing.group_limited") && model_.n_group <= 1)
        return {"workload.routing.group_limited has no effect (the model has no expert groups)"};
    return {};
}

}  // namespace orrery

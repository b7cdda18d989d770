// SPDX-License-Identifier: Apache-2.0
// Expert load before placement (experts in their order, no replicas) and after (as placed), per layer and on average.
#include "apps/report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery::page {
namespace {

constexpr std::size_t curve_points = 64;
using Loads = std::vector<std::int64_t>;

// Sorted loads over their mean at equal distances, heaviest first; and the largest.
struct Curve {
    std::vector<double> points = std::vector<double>(curve_points);
    double largest = 0;
    int samples = 0;

    void add(Loads loads) {
        std::int64_t sum = 0;
        for (auto const load : loads) sum += load;
        if (sum == 0) return;
        std::ranges::sort(loads, std::greater{});
        auto const mean = static_cast<double>(sum) / static_cast<double>(loads.size());
        for (std::size_t p = 0; p < curve_points; ++p)
            points[p] += static_cast<double>(loads[p * (loads.size() - 1) / (curve_points - 1)]) / mean;
        largest += static_cast<double>(loads.front()) / mean;
        ++samples;
    }
    void add(Curve const& other) {
        for (std::size_t p = 0; p < curve_points; ++p) points[p] += other.points[p];
        largest += other.largest;
        samples += other.samples;
    }
    Json json() const {
        auto list = Json::array();
        auto const n = std::max(1, samples);
        for (auto const point : points) list.push_back(std::round(point / n * 1000) / 1000);
        return {{"points", list}, {"largest", largest / n}};
    }
};

struct Layer {
    Curve experts, before, slots, after;
};

// The slots of one layer of one group.
struct Cell {
    std::map<std::int32_t, std::int64_t> experts;
    std::map<std::uint32_t, std::int64_t> ranks;
    Loads slots;

    void add_to(Layer& layer) const {
        auto const of = [](auto const& map) {
            Loads loads;
            for (auto const& [key, tokens] : map) loads.push_back(tokens);
            return loads;
        };
        auto const logical = of(experts);
        if (logical.empty()) return;
        layer.experts.add(logical);
        layer.slots.add(slots);
        layer.after.add(of(ranks));
        auto const per_rank = (logical.size() + ranks.size() - 1) / ranks.size();
        Loads contiguous((logical.size() + per_rank - 1) / per_rank);
        for (std::size_t e = 0; e < logical.size(); ++e) contiguous[e / per_rank] += logical[e];
        layer.before.add(contiguous);
    }
};

Json json_of(Layer const& layer) {
    return {{"experts", layer.experts.json()},
            {"before", layer.before.json()},
            {"slots", layer.slots.json()},
            {"after", layer.after.json()}};
}

}  // namespace

Json experts(RunFile const& run) {
    if (run.rows(TableId::expert_loads) == 0)
        return missing(run.detail() == "summary" ? "Expert loads were not recorded: output.detail is summary."
                                                 : "The workload has no experts.");
    std::map<std::uint16_t, Layer> layers;
    Cell cell;
    std::pair<std::uint32_t, std::uint16_t> at{};
    run.each_row(TableId::expert_loads, [&](RowBlock const& block, std::size_t row) {
        std::pair const here{block.at<std::uint32_t>(0, row), block.at<std::uint16_t>(2, row)};
        if (here != at) {
            cell.add_to(layers[at.second]);
            cell = {};
            at = here;
        }
        auto const expert = block.at<std::int32_t>(4, row);
        auto const tokens = block.at<std::int64_t>(5, row);
        cell.ranks[block.at<std::uint32_t>(1, row)] += tokens;
        if (expert >= 0) cell.experts[expert] += tokens;
        cell.slots.push_back(tokens);
    });
    cell.add_to(layers[at.second]);
    Layer mean;
    auto by_layer = Json::array();
    for (auto const& [number, layer] : layers) {
        if (layer.after.samples == 0) continue;
        mean.experts.add(layer.experts);
        mean.before.add(layer.before);
        mean.slots.add(layer.slots);
        mean.after.add(layer.after);
        auto json = json_of(layer);
        json["layer"] = number;
        by_layer.push_back(json);
    }
    return {{"mean", json_of(mean)}, {"layers", by_layer}, {"placement", run.text("manifest", "placement")}};
}

}  // namespace orrery::page

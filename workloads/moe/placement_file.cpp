// SPDX-License-Identifier: Apache-2.0
// Placement `file`: the physical-to-logical map of an expert balancer.
#include "core/check.hpp"
#include "workloads/models/json_file.hpp"
#include "workloads/moe/placement.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace orrery {
namespace {

class LayerChecker {
  public:
    LayerChecker(PlacementSetup const& setup, std::size_t layer) : setup_(setup), layer_(layer) {}

    std::vector<std::int32_t> check(nlohmann::json const& list) const {
        ORRERY_VALIDATE(list.is_array(), "{} is no list (one expert per slot is needed) correct it", where());
        bool const with_shared = setup_.shared_copies > 0 && list.size() == setup_.slots();
        ORRERY_VALIDATE(with_shared || list.size() == setup_.routed_slots(),
                        "{} has {} slots ({} routed + {} redundant experts need {}) {}", where(), list.size(),
                        setup_.experts, setup_.redundant, setup_.routed_slots(), suggestion(list.size()));
        std::vector<std::int32_t> slots;
        std::vector<std::uint32_t> copies(setup_.experts, 0);
        std::uint32_t shared = 0;
        for (auto const& value : list) {
            std::int64_t const lowest = with_shared ? -1 : 0;
            ORRERY_VALIDATE(value.is_number_integer() && value >= lowest && value < setup_.experts,
                            "{} slot {} is {} (must be an expert from 0 to {}{}) correct it", where(), slots.size(),
                            value.dump().substr(0, 40), setup_.experts - 1,
                            with_shared ? ", or -1 for a shared copy" : "");
            slots.push_back(value.get<std::int32_t>());
            if (slots.back() < 0)
                ++shared;
            else
                ++copies[static_cast<std::size_t>(slots.back())];
        }
        ORRERY_VALIDATE(!with_shared || shared == setup_.shared_copies,
                        "{} has {} shared copies (workload.experts.shared_copies is {}) make them equal", where(),
                        shared, setup_.shared_copies);
        auto const missing = std::find(copies.begin(), copies.end(), 0U);
        ORRERY_VALIDATE(missing == copies.end(), "{} has no slot for expert {} (every expert needs one) add it",
                        where(), missing - copies.begin());
        return with_shared ? slots : spread(slots);
    }

  private:
    std::string where() const { return fmt::format("{}: phy2log[{}]", setup_.file.string(), layer_); }

    std::string suggestion(std::size_t size) const {
        if (size < setup_.experts) return "give the map of this model";
        return fmt::format("set workload.experts.redundant={}", size - setup_.experts);
    }

    std::vector<std::int32_t> spread(std::vector<std::int32_t> const& routed) const {
        std::vector<std::int32_t> slots;
        auto next = routed.begin();
        for (std::uint32_t const shared : shared_slots_per_rank(setup_)) {
            slots.insert(slots.end(), shared, shared_slot);
            for (std::uint32_t i = shared; i < setup_.slots_per_rank(); ++i) slots.push_back(*next++);
        }
        return slots;
    }

    PlacementSetup const& setup_;
    std::size_t layer_;
};

}  // namespace

std::vector<std::vector<std::int32_t>> read_placement(PlacementSetup const& setup) {
    nlohmann::json const root = parse_json_file(setup.file, "expert placement");
    ORRERY_VALIDATE(root.is_object() && root.contains("phy2log") && root["phy2log"].is_array(),
                    "{}: key \"phy2log\" is missing (it holds one list of experts per MoE layer) write "
                    "{{\"phy2log\": [[...], ...]}}",
                    setup.file.string());
    auto const& lists = root["phy2log"];
    ORRERY_VALIDATE(
        lists.size() == 1 || lists.size() >= setup.moe_layers,
        "{}: phy2log has {} lists (the simulated model has {} MoE layers) give one list per MoE layer, exactly "
        "one for all, or set workload.moe_layers",
        setup.file.string(), lists.size(), setup.moe_layers);
    std::vector<std::vector<std::int32_t>> layers;
    for (auto const& list : lists) layers.push_back(LayerChecker(setup, layers.size()).check(list));
    return layers;
}

}  // namespace orrery

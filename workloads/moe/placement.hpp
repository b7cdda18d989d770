// SPDX-License-Identifier: Apache-2.0
// Which rank of an expert-parallel group holds which expert, in every MoE layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace orrery {

class RoutingSource;
struct ModelConfig;
namespace scenario {
class ExpertsSpec;
}

inline constexpr std::int32_t shared_slot = -1;

// Where one copy of an expert lives.
struct Replica {
    std::uint32_t slot = 0;  // rank * slots_per_rank + slot on the rank
    std::uint32_t rank = 0;
    friend bool operator==(Replica const&, Replica const&) = default;
};

struct LayerPlacement {
    LayerPlacement(std::vector<std::int32_t> slots, std::uint32_t slots_per_rank, std::uint32_t experts);

    std::uint32_t slots_per_rank = 0;
    std::vector<std::int32_t> slot_expert;     // [slot]: routed expert, or shared_slot
    std::vector<std::uint32_t> first_replica;  // [expert] .. [expert + 1]: its range in replicas
    std::vector<Replica> replicas;
    std::vector<Replica> shared;  // dedicated copies of the shared expert, by slot
};

struct PlacementSetup {
    std::string kind = "contiguous";
    std::filesystem::path file;
    std::uint32_t experts = 0;  // routed
    std::uint32_t redundant = 0;
    std::uint32_t shared_copies = 0;  // dedicated slots; 0: every rank computes the shared expert itself
    std::uint32_t ep = 1;
    std::uint32_t moe_layers = 0;
    std::uint32_t n_group = 1;
    std::uint32_t ranks_per_node = 0;  // 0: unknown; then eplb does not work by node

    std::uint32_t routed_slots() const { return experts + redundant; }
    std::uint32_t slots() const { return experts + redundant + shared_copies; }
    std::uint32_t slots_per_rank() const { return slots() / ep; }
};

PlacementSetup make_placement_setup(scenario::ExpertsSpec const&, ModelConfig const&, std::uint32_t ep,
                                    std::uint32_t moe_layers, std::uint32_t ranks_per_node);

// Throws InputError with the nearest valid values unless the slots divide evenly over the ranks.
void validate_slots(PlacementSetup const&);

class Placement {
  public:
    // One slot list per MoE layer, or one for all.
    Placement(PlacementSetup const& setup, std::vector<std::vector<std::int32_t>> slots_of_layer,
              std::string description);

    LayerPlacement const& layer(std::uint32_t moe_layer) const { return distinct_[index_[moe_layer]]; }
    std::uint32_t ep() const { return setup_.ep; }
    std::uint32_t slots_per_rank() const { return setup_.slots_per_rank(); }
    std::uint32_t experts() const { return setup_.experts; }
    bool dedicated_shared() const { return setup_.shared_copies > 0; }
    std::size_t distinct_layers() const { return distinct_.size(); }  // equal layers share one placement
    std::string const& describe() const { return description_; }
    // Slots that waste memory: replicas of one expert on one rank.
    std::vector<std::string> const& warnings() const { return warnings_; }

  private:
    void find_duplicates();

    PlacementSetup setup_;
    std::vector<LayerPlacement> distinct_;
    std::vector<std::uint32_t> index_;  // [moe_layer]
    std::string description_;
    std::vector<std::string> warnings_;
};

// Validates and builds. eplb asks the source for the loads of every layer.
Placement make_placement(PlacementSetup const&, RoutingSource const&);

// Expected load of every rank, in units of 2^-20 of a load unit: replicas of an expert share its load evenly.
std::vector<std::uint64_t> rank_loads(LayerPlacement const&, std::vector<std::uint64_t> const& expert_load);

// Slots of the shared copies, spread evenly over the ranks: CloudMatrix384 decode has 32 on 320 ranks, every tenth.
std::vector<std::uint32_t> shared_slots_per_rank(PlacementSetup const&);

// Slot lists (see LayerPlacement) from a file: {"phy2log": [[...], ...]}, one list per MoE layer or one for all. A list
// names the expert of every routed slot, or of every slot with -1 for shared copies.
std::vector<std::vector<std::int32_t>> read_placement(PlacementSetup const&);

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Folding: flows that cannot be told apart become one flow of the solver.
#pragma once

#include "core/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace orrery {

// Flows and the links they cross, to be folded. A node may stand for many flows or links that are alike by
// construction: the ports of a leaf, the flows from one leaf to another.
class FlowGraph {
  public:
    struct Crossing {
        std::uint32_t link;
        std::uint32_t weight;  // what one flow of the node takes there per unit of level
        std::uint32_t total;   // what all flows of the node together take of one link of the link's node
    };
    // What tells flows apart beside their links. `mark` may name anything else that must not be mixed.
    struct Kind {
        std::int64_t bytes = 0;
        std::uint32_t weight = 1;
        Rate cap = Rate::unlimited();
        std::uint64_t mark = 0;
        friend bool operator==(Kind const&, Kind const&) = default;
    };

    std::uint32_t add_link(std::int64_t capacity);  // any number that says which links are alike to begin with
    void add_flow(Kind kind, std::span<Crossing const> crossings);
    void clear();
    std::uint32_t links() const { return static_cast<std::uint32_t>(capacity_.size()); }
    std::uint32_t flows() const { return static_cast<std::uint32_t>(kinds_.size()); }
    std::int64_t capacity(std::uint32_t link) const { return capacity_[link]; }
    Kind const& kind(std::uint32_t flow) const { return kinds_[flow]; }
    std::span<Crossing const> crossings(std::uint32_t flow) const {
        return std::span{crossings_}.subspan(first_[flow], first_[flow + 1] - first_[flow]);
    }
    std::size_t memory_bytes() const {
        return capacity_.capacity() * 8 + kinds_.capacity() * sizeof(Kind) + first_.capacity() * 4 +
               crossings_.capacity() * sizeof(Crossing);
    }

  private:
    std::vector<std::int64_t> capacity_;
    std::vector<Kind> kinds_;
    std::vector<std::uint32_t> first_ = {0};
    std::vector<Crossing> crossings_;
};

// An equitable partition: every flow of a class crosses equally many links of each link class with equal weights, and
// every link of a class is crossed by the flows of each flow class with equal weight. Levels are a function of the
// graph alone (max_min_kernel.hpp), so an automorphism cannot change them, and neither can this weaker likeness: the
// levels of the classes, each taken once, satisfy every link of the whole. That is why a folded run is the unfolded one
// to the bit.
struct Folding {
    struct Class {
        std::uint32_t representative;  // a flow
        std::uint32_t first_crossing, crossing_count;
    };
    struct Crossing {
        std::uint32_t link_class;
        std::uint32_t weight;  // of all flows of the class on one link of that class
    };
    std::vector<std::uint32_t> class_of_flow;
    std::vector<std::uint32_t> class_of_link;
    std::vector<std::uint32_t> link_representative;
    std::vector<Class> classes;
    std::vector<Crossing> crossings;

    std::span<Crossing const> crossings_of(Class const& c) const {
        return std::span{crossings}.subspan(c.first_crossing, c.crossing_count);
    }
};

// The coarsest such partition, by colour refinement (Paige & Tarjan 1987 for the problem; here by hashing, then checked
// in full). Nothing when it has more than `most` flow classes. Cost: a few visits per flow and link.
std::optional<Folding> fold(FlowGraph const& graph, std::uint32_t most);

}  // namespace orrery

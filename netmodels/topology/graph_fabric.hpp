// SPDX-License-Identifier: Apache-2.0
// A fabric as a graph: nodes, edges of parallel links, routes by a family's rule or over shortest ways.
//
// A family adds ranks first, then switches, then bundles of links, and calls finish(). Its rule names the way of a pair
// edge by edge; which bundle an edge lies in decides what is shared: links sprayed over several switches are in one
// bundle, so any of these ways stands for all of them. Where the rule has no answer, or a link of its way is down, the
// way is a shortest one over the links that are up: hop by hop over the distances to the switches at the target, which
// are kept per switch, never per pair. Only switches pass traffic on.
#pragma once

#include "netmodels/topology/built_fabric.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

// How a transfer uses ways that are equally good.
enum class Balancing : std::uint8_t { spray, ecmp };
// "spray" or "ecmp"; `field` is where it is written, for the message.
Balancing balancing_of(std::string const& name, std::string_view field);

// What the ranks below a switch, or all of them, can send and take.
struct PortSums {
    Rate up, down;

    void add(Rate sends, Rate takes);
    // The most that links between those below and all others are ever offered.
    Rate offered_up(PortSums const& all) const;
    Rate offered_down(PortSums const& all) const;
};

class GraphFabric : public BuiltFabric {
  public:
    // The parallel links from one node to another: `lanes` from `first` on.
    struct Edge {
        std::uint32_t to, first, lanes;
    };
    // The edges of a way, in order of travel. Only those in use are ever written.
    class Trail {
      public:
        Trail() {}  // NOLINT(modernize-use-equals-default)
        void add(Edge const& edge);
        void clear() { count_ = 0; }
        std::span<Edge const> edges() const { return {edges_, count_}; }

      private:
        std::uint32_t count_ = 0;
        Edge edges_[RouteHops::size()];
    };

    Route route(RankId source, RankId target) const final;
    std::string link_name(LinkId) const override;
    std::string bundle_name(BundleId) const override;

    // Where an edge leads from a node, one per neighbour, in the order of their numbers.
    std::span<Edge const> edges_of(NodeId node) const;
    // Links that a way takes from one node to another, which must be joined.
    Edge edge(NodeId from, NodeId to) const;

  protected:
    GraphFabric(std::uint64_t seed, Balancing balancing) : seed_(seed), balancing_(balancing) {}

    struct Cable {
        std::uint32_t lanes = 1;
        Rate rate;                                // of one lane
        Time up, down;                            // latency from the first node to the second, and back
        std::uint16_t link_class = 0;             // up; the one behind it is down
        std::optional<Balancing> balancing = {};  // other than the fabric's
    };
    struct Ends {
        NodeId low, high;
    };
    // Links both ways between the nodes of each pair: in one bundle each way when sprayed, else in one for each link.
    void connect(std::span<Ends const> pairs, Cable const& cable, DomainId domain);
    void connect(NodeId low, NodeId high, Cable const& cable, DomainId domain);
    void connect_all(NodeId low, std::span<NodeId const> high, Cable const& cable, DomainId domain);
    // Indexes the edges and refreshes. Links from one node to another must have been added in one run.
    void finish();

    // The way of a pair on the fabric as built; false: none is given, take a shortest one.
    virtual bool rule(RankId, RankId, Trail&) const { return false; }
    // What one transfer gets of a way with links that are down or slow; at most what each bundle carries.
    virtual Rate sprayed(Trail const&, Rate narrowest) const { return narrowest; }
    // Sets `offered` of bundles that can be left out; the others stay as they are.
    virtual void offer() {}
    void refresh() override;

    // A number in [0, below) for a pair at a place; another seed gives another.
    std::uint32_t hashed(RankId source, RankId target, std::uint32_t place, std::uint32_t below) const;
    bool alive(Edge const& edge) const;
    Balancing balancing() const { return balancing_; }
    std::uint64_t seed() const { return seed_; }
    // Counts of ranks, switches, links and classes: what figures() of every family begins with.
    FabricFigures counted() const;

  private:
    bool usable(Trail const& trail) const;
    void shortest(RankId source, RankId target, Trail& trail) const;
    std::vector<std::uint8_t> const& distances_to(std::uint32_t node) const;
    [[noreturn]] void refuse(RankId source, RankId target) const;
    std::uint32_t lane_of(Edge const& edge, RankId source, RankId target) const;

    std::uint64_t seed_;
    Balancing balancing_;
    std::vector<std::uint32_t> first_edge_;  // by node, and one more
    std::vector<Edge> edges_;                // by node they leave, then by the one they reach
    std::vector<Rate> nominal_;              // of each link class, as built
    bool damaged_ = false;                   // a link is down
    std::vector<bool> hurt_;                 // by bundle: a link of it is slower than its kind, or down
    // Hops from every node to a switch over the links that are up, filled for the switches that are asked for. What is
    // in it depends on the fabric alone, so that routes are pure.
    mutable std::vector<std::unique_ptr<std::vector<std::uint8_t>>> distances_;
};

}  // namespace orrery

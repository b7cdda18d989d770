// SPDX-License-Identifier: Apache-2.0
// A fabric: nodes, physical directed links, and the bundles and routes that the network models use.
//
// A *link* is one physical directed link. A *bundle* is a set of parallel links that a striped or sprayed transfer
// loads evenly (the seven links of a die to its L1 chips; the 16 x 7 links of a node to the L2 chips): the flow model
// shares bundles, the packet model shares links. A *plane* is a set of links that never meet another plane, and a
// *domain* one connected component of a plane: what one max-min solver must see whole.
#pragma once

#include "core/ids.hpp"
#include "core/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

enum class NodeKind : std::uint8_t { endpoint, cpu, nic, switch_chip };

struct Node {
    NodeKind kind{};
    std::uint8_t tier = 0;  // 0: endpoint; 1: first switch level; ...
    RankId rank;            // valid for endpoints only
};

struct Link {
    NodeId from, to;
    BundleId bundle;
    Rate rate;     // after degradation; zero: down
    Time latency;  // wire + the pipeline of the switch it enters; after degradation
};

struct Bundle {
    std::uint32_t first_member = 0, member_count = 0;  // into Fabric::members()
    Rate capacity;  // what a striped transfer can use of it (see docs/fabrics.md, striping)
    Time latency;   // one-way latency of the slowest member in use
    DomainId domain;
    std::uint16_t link_class = 0;  // index into Fabric::link_classes()
    // The most that can ever be offered to it: min(sum of what feeds it, sum of what it feeds), both counted at
    // endpoint bundles, which are unlimited and so never left out themselves. When that is at most
    // the capacity the bundle can never be a bottleneck and the solver leaves it out.
    Rate offered;
};

struct LinkClass {
    std::string name;   // "ub.die-l1.up"
    std::string plane;  // "ub", "rdma", "vpc", "sio"
};

// The bundles of a route. Nothing is written before it is used, so that the room for long routes (26 in a torus of 16 x
// 16 x 16) costs the short ones nothing.
class RouteHops {
  public:
    // User-provided, so that even Route{} leaves them alone.
    RouteHops() {}  // NOLINT(modernize-use-equals-default)
    static constexpr std::uint32_t size() { return 64; }
    BundleId& operator[](std::size_t i) { return ids_[i]; }
    BundleId operator[](std::size_t i) const { return ids_[i]; }
    BundleId const* data() const { return ids_; }

  private:
    union {
        BundleId ids_[64];
    };
};

// One way from a rank to another for a striped transfer, in order of travel.
struct Route {
    RouteHops hops;  // the first hop_count are set
    std::uint32_t hop_count = 0;
    Time latency;  // zero-load one-way latency of a small message, endpoint shares included
    DomainId domain;
    Rate cap;  // the most one transfer can reach on it, e.g. sum over sub-planes of the slowest hop
    std::span<BundleId const> bundles() const& { return {hops.data(), hop_count}; }
    std::span<BundleId const> bundles() const&& = delete;  // would look into a route that is gone
};

// What `orrery check` prints. Counts are of physical links; each direction counts as one link.
struct FabricFigures {
    struct ClassCount {
        std::string link_class;
        std::int64_t links = 0;
        Rate rate;
    };
    struct PathCount {
        std::string between;  // "dies of one node"
        std::int64_t shortest_paths = 0;
        std::int64_t hops = 0;
        Time latency;
    };
    struct Tier {
        std::string name;  // "node to L2"
        Rate down, up;     // sums over one switch or node
        double oversubscription = 1;
    };
    std::int64_t ranks = 0, switches = 0, other_nodes = 0, links = 0;
    std::int64_t diameter_hops = 0;
    Rate bisection;  // one direction
    std::vector<ClassCount> classes;
    std::vector<PathCount> paths;
    std::vector<Tier> tiers;
};

// One degradation as the scenario asks for it, applied before the run.
struct Degradation {
    std::string pattern;     // shell pattern over link names, e.g. "sn0.n03.*.up"
    double rate_factor = 1;  // 0 < f <= 1
    Time extra_latency;
    bool down = false;
    std::string where;                      // file:line, for messages
    Time from{}, until = Time::infinity();  // simulated time in which it holds

    bool always() const { return from == Time{} && until == Time::infinity(); }
};

// A bundle that carries `capacity` from `at` on.
struct CapacityChange {
    Time at;
    BundleId bundle;
    Rate capacity;
};

// A link that carries `rate` from `at` on; zero: it is down.
struct LinkChange {
    Time at;
    LinkId link;
    Rate rate;
};

// What each of several degradations met.
struct DegradedLinks {
    std::vector<std::int64_t> links;             // how many it matched
    std::vector<std::vector<BundleId>> bundles;  // those the links belong to, ascending
};

class Fabric {
  public:
    virtual ~Fabric() = default;

    virtual std::string kind() const = 0;
    virtual FabricFigures figures() const = 0;
    // The route of a transfer; source != target. Pure; no state. Throws InputError when no path is left.
    virtual Route route(RankId source, RankId target) const = 0;
    // Names are computed, never stored: "sn0.n03.d05-l1.2.up".
    virtual std::string link_name(LinkId) const = 0;
    virtual std::string bundle_name(BundleId) const = 0;
    virtual std::string node_name(NodeId) const = 0;
    // Ranks in blocks that a partitioner keeps together when it can (a node, a leaf), from rank 0 up.
    virtual std::uint32_t ranks_per_block() const = 0;
    // Where a rank is, for people: "super-node 0, node 3, NPU 2, die 1".
    virtual std::string rank_name(RankId) const = 0;
    // What was not taken as it was written, where the fabric comes from a file of another tool.
    virtual std::vector<std::string> const& notes() const;

    std::uint32_t rank_count() const { return rank_count_; }
    std::uint32_t domain_count() const { return domain_count_; }
    std::span<Node const> nodes() const { return nodes_; }
    std::span<Link const> links() const { return links_; }
    std::span<Bundle const> bundles() const { return bundles_; }
    std::span<LinkId const> members() const { return members_; }
    std::span<LinkClass const> link_classes() const { return link_classes_; }
    // Of some bundles, in their order.
    std::vector<Rate> capacities(std::span<BundleId const> of) const;
    std::string const& domain_name(DomainId d) const { return domain_names_[d.index()]; }

    // Applies degradations to links by name and refreshes every bundle. A pattern that matches no link is an InputError
    // naming it and the nearest link names.
    DegradedLinks degrade(std::span<Degradation const> degradations);

  protected:
    // For builders. A bundle's capacity, latency and offered rate are computed by refresh().
    virtual void refresh() = 0;

    std::uint32_t rank_count_ = 0, domain_count_ = 0;
    std::vector<Node> nodes_;
    std::vector<Link> links_;
    std::vector<Bundle> bundles_;
    std::vector<LinkId> members_;
    std::vector<LinkClass> link_classes_;
    std::vector<std::string> domain_names_;
};

}  // namespace orrery

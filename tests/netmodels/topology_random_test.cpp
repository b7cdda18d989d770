// SPDX-License-Identifier: Apache-2.0
// CloudMatrix fabrics of random small shapes, whole and damaged, against rules computed another way.
#include "core/random.hpp"
#include "topology_testing.hpp"

#include <fmt/format.h>

namespace orrery::testing {
namespace {

scenario::CloudMatrix384 random_shape(RandomSequence& random) {
    scenario::CloudMatrix384 given;
    given.set_supernodes(1 + random.below(3));
    given.set_nodes(1 + random.below(4));
    given.set_npus_per_node(1 + random.below(3));
    given.set_dies_per_npu(1 + random.below(3));
    given.set_cpus_per_node(random.below(3));
    given.set_subplanes(1 + random.below(3));
    given.set_l2_chips_per_subplane(1 + random.below(12));
    given.set_striping(random.below(2) == 0 ? "adaptive" : "even");
    given.set_die_link_rate(1'000'000LL * (1 + random.below(1000)));
    given.set_l1_l2_link_rate(1'000'000LL * (1 + random.below(1000)));
    return given;
}

// The striping rule as docs/fabrics/cloudmatrix384.md states it, over links found by name.
class StripingRule {
  public:
    StripingRule(NamedFabric const& fabric, scenario::CloudMatrix384 const& shape) : fabric_(fabric), shape_(shape) {}

    struct Outcome {
        std::int64_t cap = 0;
        Time latency;
    };
    Outcome route(std::uint32_t a, std::uint32_t b) const {
        std::vector<Lane> planes;
        bool const leaves_node = node(a) != node(b);
        for (std::uint32_t p = 0; p < shape_.subplanes(); ++p) {
            Link const& up = fabric_.link(fmt::format("{}-l1.{}.up", fabric_->node_name(NodeId{a}), p));
            Link const& down = fabric_.link(fmt::format("{}-l1.{}.down", fabric_->node_name(NodeId{b}), p));
            Lane lane{std::min(up.rate, down.rate).bits_per_s(), up.latency + down.latency};
            if (leaves_node) {
                Lane const middle = together(chips(a, b, p));
                lane = {std::min(lane.rate, middle.rate), lane.latency + middle.latency};
            }
            if (lane.rate > 0) planes.push_back(lane);
        }
        Lane const all = together(planes);
        return {all.rate, all.latency + 530_ns + (leaves_node ? 1_us : 0_ns)};
    }

  private:
    struct Lane {
        std::int64_t rate = 0;
        Time latency;
    };
    Lane together(std::vector<Lane> const& lanes) const {
        Lane all;
        std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
        for (Lane const& lane : lanes) {
            all.rate += lane.rate;
            slowest = std::min(slowest, lane.rate);
            all.latency = std::max(all.latency, lane.latency);
        }
        if (shape_.striping() == "even" && !lanes.empty()) all.rate = slowest * static_cast<std::int64_t>(lanes.size());
        return all;
    }
    std::vector<Lane> chips(std::uint32_t a, std::uint32_t b, std::uint32_t p) const {
        std::vector<Lane> lanes;
        int const digits = shape_.l2_chips_per_subplane() > 10 ? 2 : 1;
        for (std::uint32_t k = 0; k < shape_.l2_chips_per_subplane(); ++k) {
            Link const& up = fabric_.link(fmt::format("{}.l1.{}-l2.{:0{}}.up", node(a), p, k, digits));
            Link const& down = fabric_.link(fmt::format("{}.l1.{}-l2.{:0{}}.down", node(b), p, k, digits));
            if (up.rate > Rate{} && down.rate > Rate{})
                lanes.push_back({std::min(up.rate, down.rate).bits_per_s(), up.latency + down.latency});
        }
        return lanes;
    }
    std::string node(std::uint32_t rank) const {
        std::string const die = fabric_->node_name(NodeId{rank});
        return die.substr(0, die.rfind(".d"));
    }

    NamedFabric const& fabric_;
    scenario::CloudMatrix384 const& shape_;
};

TEST(RandomCloudMatrix, ConservesPortsAndConnectsEveryPair) {
    RandomSequence random(7, RandomStream::test, 1);
    for (int trial = 0; trial < 40; ++trial) {
        auto const shape = random_shape(random);
        SCOPED_TRACE(shape.ShortDebugString());
        NamedFabric fabric(cloudmatrix(shape));
        std::uint32_t const dies = shape.npus_per_node() * shape.dies_per_npu();
        ASSERT_EQ(fabric->rank_count(), shape.supernodes() * shape.nodes() * dies);
        std::map<NodeId, std::uint32_t> in, out;
        for (Link const& link : fabric->links()) ++out[link.from], ++in[link.to];
        for (std::uint32_t i = 0; i < fabric->nodes().size(); ++i) {
            std::string const name = fabric->node_name(NodeId{i});
            EXPECT_EQ(in[NodeId{i}], out[NodeId{i}]) << name;
            std::uint32_t ports = in[NodeId{i}];
            if (name.find(".l1.") != name.npos)
                ports -= dies + shape.cpus_per_node() + shape.l2_chips_per_subplane();
            else if (name.find(".l2.") != name.npos)
                ports -= shape.nodes();
            else if (name.find(".d") != name.npos)
                ports -= shape.subplanes() + (shape.dies_per_npu() - 1) + 1;
            else
                continue;
            EXPECT_EQ(ports, 0U) << name << " has more or fewer ports than its links need";
        }
        for (std::uint32_t a = 0; a < fabric->rank_count(); ++a)
            for (std::uint32_t b = 0; b < fabric->rank_count(); b += 1 + random.below(5))
                if (a != b) expect_connected(*fabric, RankId{a}, RankId{b});
        expect_well_formed(*fabric);
    }
}

TEST(RandomCloudMatrix, DamagedRoutesFollowTheStripingRule) {
    RandomSequence random(7, RandomStream::test, 2);
    int refused = 0, priced = 0;
    for (int trial = 0; trial < 60; ++trial) {
        auto const shape = random_shape(random);
        SCOPED_TRACE(shape.ShortDebugString());
        NamedFabric whole(cloudmatrix(shape)), fabric(cloudmatrix(shape));
        std::vector<Degradation> damage;
        for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
            std::string const name = fabric->link_name(LinkId{i});
            if (name.find("-l") == name.npos) continue;  // UB links only
            switch (random.below(6)) {
                case 0:
                    damage.push_back(down(name));
                    break;
                case 1:
                    damage.push_back(slower(name, 0.25));
                    break;
                case 2:
                    damage.push_back(longer(name, Time::from_ps(random.below(1'000'000))));
                    break;
                default:
                    break;
            }
        }
        fabric.degrade(damage);
        for (std::uint32_t b = 0; b < fabric->bundles().size(); ++b) {
            EXPECT_LE(fabric->bundles()[b].capacity, whole->bundles()[b].capacity);
            EXPECT_LE(fabric->bundles()[b].offered, whole->bundles()[b].offered);
        }
        StripingRule const rule(fabric, shape);
        for (std::uint32_t a = 0; a < fabric->rank_count(); ++a) {
            for (std::uint32_t b = 0; b < fabric->rank_count(); ++b) {
                if (a == b || whole.route(a, b).hop_count == 1 ||
                    whole.route(a, b).domain.value() >= shape.supernodes())
                    continue;
                auto const expected = rule.route(a, b);
                if (expected.cap == 0) {
                    EXPECT_NE(input_error([&] { fabric.route(a, b); }), "");
                    ++refused;
                    continue;
                }
                Route const route = fabric.route(a, b);
                EXPECT_EQ(route.cap.bits_per_s(), expected.cap);
                EXPECT_EQ(route.latency, expected.latency);
                EXPECT_LE(route.cap, whole.route(a, b).cap);
                ++priced;
            }
        }
    }
    EXPECT_GT(refused, 50);
    EXPECT_GT(priced, 1000);
}

TEST(RandomCloudMatrix, RatesScaleEverything) {
    RandomSequence random(7, RandomStream::test, 3);
    for (int trial = 0; trial < 20; ++trial) {
        auto shape = random_shape(random);
        SCOPED_TRACE(shape.ShortDebugString());
        auto twice = shape;
        auto const base = cloudmatrix(shape).cloudmatrix384();
        twice.set_die_link_rate(base.die_link_rate() * 2);
        twice.set_l1_l2_link_rate(base.l1_l2_link_rate() * 2);
        twice.set_sio_rate(base.sio_rate() * 2);
        twice.mutable_rdma()->set_die_rate(base.rdma().die_rate() * 2);
        NamedFabric one(cloudmatrix(shape)), two(cloudmatrix(twice)), half(cloudmatrix(twice));
        half.degrade({slower("*", 0.5)});
        for (std::uint32_t b = 1; b < one->rank_count(); ++b) {
            EXPECT_EQ(one.route(0, b).cap * 2, two.route(0, b).cap);
            EXPECT_EQ(one.route(0, b).cap, half.route(0, b).cap);
            EXPECT_EQ(one.route(0, b).latency, half.route(0, b).latency);
        }
    }
}

// A bundle may be left out of the shares only if what is kept bounds it. Fill every die's port and add up.
TEST(RandomCloudMatrix, OfferedBoundsWhatDiesCanSend) {
    RandomSequence random(7, RandomStream::test, 4);
    for (int trial = 0; trial < 30; ++trial) {
        auto const shape = random_shape(random);
        SCOPED_TRACE(shape.ShortDebugString());
        NamedFabric fabric(cloudmatrix(shape));
        std::map<BundleId, std::set<BundleId>> first, last;  // per core bundle: the die bundles of routes through it
        for (std::uint32_t a = 0; a < fabric->rank_count(); ++a) {
            for (std::uint32_t b = 0; b < fabric->rank_count(); ++b) {
                if (a == b) continue;
                Route const route = fabric.route(a, b);
                EXPECT_GT(fabric->bundles()[route.hops[0].index()].offered,
                          fabric->bundles()[route.hops[0].index()].capacity);
                for (std::uint32_t h = 1; h + 1 < route.hop_count; ++h) {
                    first[route.hops[h]].insert(route.hops[0]);
                    last[route.hops[h]].insert(route.hops[route.hop_count - 1]);
                }
            }
        }
        auto const sum = [&](std::set<BundleId> const& ids) {
            Rate total;
            for (BundleId const id : ids) total += fabric->bundles()[id.index()].capacity;
            return total;
        };
        for (auto const& [core, feeders] : first)
            EXPECT_EQ(fabric->bundles()[core.index()].offered, std::min(sum(feeders), sum(last[core])))
                << fabric->bundle_name(core);
    }
}

}  // namespace
}  // namespace orrery::testing

// SPDX-License-Identifier: Apache-2.0
// What rounding may cost: shares in integers against shares in real numbers, after every settle of random histories.
//
// Unit: u = 2^-12 b/s per unit of weight. Own weight W(l) of a link: of the flows whose level is the link's.
//  1. A link that has a level is full to within W(l) u, one that has none is not over-full. So the shares in integers
//     are the exact max-min shares of links whose capacity is less by a remainder r(l) < W(l) u (r = 0 without a
//     level).
//  2. Between such shares y and those x of the full capacities, with l the bottleneck of flow f in y when y(f) < x(f),
//     else in x, w(g) what flow g takes of l per unit of its level, and m(g) = min(x(g), y(g)):
//         w(f) |x(f) - y(f)|  <=  r(l) + sum over g on l with m(g) < m(f) of w(g) |x(g) - y(g)|      (r(l) = 0 in x)
//     For y(f) < x(f): l is full in y but for r(l), so what the flows of l have more in x, at least w(f) (x(f) - y(f)),
//     is at most r(l) plus what those have less in x; and such a flow g has x(g) < y(g) <= y(f), hence m(g) < m(f). The
//     other case mirrors it. Ascending in m this bounds every flow, whatever the order in which links fill in either.
#include "tests/netmodels/max_min_testing.hpp"
#include "tests/netmodels/reference_max_min.hpp"

#include <gtest/gtest.h>

namespace orrery::testing {
namespace {

using Real = long double;

// A history in the terms of the real reference: links from 0, caps as links behind the fabric's, rates in u.
struct RealNetwork {
    explicit RealNetwork(History const& history) : links(history.capacity.size()) {
        for (auto const rate : history.capacity) capacity.push_back(units(rate));
        for (auto const& start : history.starts) {
            reference::Flow flow{.crossings = {}, .weight = static_cast<Real>(start.weight)};
            for (auto const& c : start.crossings) flow.crossings.push_back({c.link - 1, static_cast<Real>(c.weight)});
            if (start.cap != Rate::unlimited()) {
                flow.crossings.push_back({capacity.size(), flow.weight});
                capacity.push_back(units(start.cap));
            }
            flows.push_back(std::move(flow));
        }
    }
    static Real units(Rate rate) { return static_cast<Real>(rate.bits_per_s()) * MaxMinKernel::rate_scale; }

    std::size_t links;
    std::vector<Real> capacity;
    std::vector<reference::Flow> flows;
};

// The kernel's shares after one settle, as far as they can be told from outside.
struct IntegerShare {
    IntegerShare(MaxMinKernel const& kernel, RealNetwork const& network, std::vector<std::size_t> const& active)
        : load(network.capacity.size(), 0),
          own(load),
          link_level(network.capacity.size(), MaxMinKernel::unbounded),
          flow(network.flows.size()) {
        for (std::size_t l = 0; l < network.links; ++l) link_level[l] = kernel.level(static_cast<std::uint32_t>(l + 1));
        for (auto const f : active)
            for (auto const& c : network.flows[f].crossings) {
                // The cap of one flow; it binds when it fills.
                if (c.link >= network.links)
                    link_level[c.link] = static_cast<std::int64_t>(network.capacity[c.link] / c.weight);
                if (link_level[c.link] < flow[f].level) flow[f] = {link_level[c.link], c.link};
            }
        for (auto const f : active)
            for (auto const& c : network.flows[f].crossings) {
                auto const weight = static_cast<std::int64_t>(c.weight);
                load[c.link] += weight * flow[f].level;
                if (link_level[c.link] == flow[f].level) own[c.link] += weight;
            }
    }
    struct FlowLevel {
        std::int64_t level = MaxMinKernel::unbounded;
        std::size_t bottleneck = 0;
    };
    std::vector<std::int64_t> load, own, link_level;
    std::vector<FlowLevel> flow;
};

// The right-hand sides of (2), in u per unit of weight. `remainder` of a link may be anything up to W(l).
std::vector<Real> error_bounds(RealNetwork const& network, std::vector<std::size_t> active, IntegerShare const& y,
                               std::vector<reference::Level> const& x, std::vector<Real> const& remainder) {
    auto const lower = [&](std::size_t f) { return std::min(x[f].level, static_cast<Real>(y.flow[f].level)); };
    std::sort(active.begin(), active.end(), [&](auto a, auto b) { return lower(a) < lower(b); });
    std::vector<Real> bound(network.flows.size(), 0);
    for (auto const f : active) {
        bool const less = static_cast<Real>(y.flow[f].level) < x[f].level;
        auto const link = less ? y.flow[f].bottleneck : x[f].bottleneck;
        auto sum = network.capacity[link] * 0x1p-56L + (less ? remainder[link] : 0);  // 64 flows in 64 bits of mantissa
        Real mine = 1;
        for (auto const g : active) {
            for (auto const& c : network.flows[g].crossings) {
                if (c.link != link) continue;
                if (g == f) mine = c.weight;
                if (lower(g) < lower(f)) sum += c.weight * bound[g];
            }
        }
        bound[f] = sum / mine;
    }
    return bound;
}

class MaxMinRounding : public ::testing::TestWithParam<Scale> {
  protected:
    // Calls check(network, active, kernel) after every settle of random histories.
    template <class Check>
    void after_every_settle(std::uint64_t cases, Check const& check) {
        for (std::uint64_t seed = 0; seed < cases && !HasFatalFailure(); ++seed) {
            SCOPED_TRACE(fmt::format("seed {}", seed));
            auto const history = RandomHistory(seed, GetParam()).make();
            RealNetwork network(history);
            MaxMinKernel kernel(history.capacity);
            auto changes = history.changes;
            run_history(kernel, history, Time::from_ps(1), [&](Time now, std::vector<std::size_t> const& active) {
                for (auto const& change : changes)
                    if (change.at == now) network.capacity[change.link - 1] = RealNetwork::units(change.rate);
                check(network, active, kernel);
            });
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Scales, MaxMinRounding, ::testing::ValuesIn(every_scale),
                         [](auto const& parameter) { return scale_name(parameter.param); });

TEST_P(MaxMinRounding, NoLinkIsOverfullAndEveryFlowHasABottleneck) {
    after_every_settle(
        500, [](RealNetwork const& network, std::vector<std::size_t> const& active, MaxMinKernel const& kernel) {
            IntegerShare const share(kernel, network, active);
            for (std::size_t l = 0; l < network.links; ++l) {
                ASSERT_EQ(share.load[l], kernel.load(static_cast<std::uint32_t>(l + 1)));
                ASSERT_LE(static_cast<Real>(share.load[l]), network.capacity[l]);
                if (share.link_level[l] == MaxMinKernel::unbounded) continue;
                // Full, and none of its flows has more than its level.
                ASSERT_LT(network.capacity[l] - static_cast<Real>(share.load[l]), static_cast<Real>(share.own[l]));
            }
            for (auto const f : active) ASSERT_LT(share.flow[f].level, MaxMinKernel::unbounded);
        });
}

// (1): with the remainders taken off, the real shares are the integers.
TEST_P(MaxMinRounding, SharesAreExactForCapacitiesLessTheRemainders) {
    after_every_settle(
        300, [](RealNetwork const& network, std::vector<std::size_t> const& active, MaxMinKernel const& kernel) {
            IntegerShare const share(kernel, network, active);
            auto less = network.capacity;
            for (std::size_t l = 0; l < less.size(); ++l)
                if (share.own[l] > 0) less[l] = static_cast<Real>(share.load[l]);
            auto const real = reference::levels(less, network.flows, active);
            auto const bound = error_bounds(network, active, share, real, std::vector<Real>(less.size(), 0));
            for (auto const f : active)
                ASSERT_LE(std::abs(real[f].level - static_cast<Real>(share.flow[f].level)), bound[f]) << "flow " << f;
        });
}

// (2)
TEST_P(MaxMinRounding, SharesAreWithinTheBoundOfTheRealOnes) {
    Real worst = 0;
    after_every_settle(
        300, [&](RealNetwork const& network, std::vector<std::size_t> const& active, MaxMinKernel const& kernel) {
            IntegerShare const share(kernel, network, active);
            auto const real = reference::levels(network.capacity, network.flows, active);
            std::vector<Real> own(share.own.begin(), share.own.end());
            auto const bound = error_bounds(network, active, share, real, own);
            for (auto const f : active) {
                auto const error = std::abs(real[f].level - static_cast<Real>(share.flow[f].level));
                ASSERT_LE(error, bound[f]) << "flow " << f;
                worst = std::max(worst, error);
            }
        });
    EXPECT_GT(worst, 0.5L);  // in u: rounding does show
}

}  // namespace
}  // namespace orrery::testing

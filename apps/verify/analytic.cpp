// SPDX-License-Identifier: Apache-2.0
// The analytic model: exact on one port, blind to the core, never later than the flow model on a port.
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "apps/verify/transfers.hpp"
#include "core/random.hpp"

namespace orrery {
namespace {

std::vector<Transfer> random_incast(std::uint32_t trial) {
    RandomSequence random(1, RandomStream::test, trial);
    std::vector<Transfer> transfers;
    for (std::uint32_t sender = 1; sender <= 12; ++sender) {
        auto const bytes = 1 + random.below(4'000'000);
        transfers.push_back({sender, 0, bytes, Time::from_ps(random.below(1'000'000'000))});
    }
    return transfers;
}

VerifyResult incast() {
    std::vector<Transfer> transfers;
    for (std::uint32_t sender = 1; sender <= 15; ++sender) transfers.push_back({sender, 0, 2'000'000});
    auto const fabric = fabric_of("{kind: single_switch, single_switch: {hosts: 16, host_rate: 100Gb/s}}");
    return {.expected = 15 * 2e6 / 12.5e9 * 1e6 + 1.0,
            .got = microseconds(finish_of(*fabric, transfers, NetworkModel::analytic))};
}

VerifyResult blind_to_the_core() {
    auto const fabric = fabric_of(
        "{kind: leaf_spine, leaf_spine: {hosts: 16, hosts_per_leaf: 8, spines: 1, "
        "host_rate: 400Gb/s, oversubscription: 8}}");
    std::vector<Transfer> transfers;
    for (std::uint32_t h = 0; h < 8; ++h) transfers.push_back({h, h + 8, 50'000});
    // One transfer alone fits the uplink exactly, so it sees 400 Gb/s; eight together are not slowed by each other.
    return {.expected = 50'000 / 50e9 * 1e6 + 4 * 0.5,
            .got = microseconds(finish_of(*fabric, transfers, NetworkModel::analytic))};
}

// Both models keep a busy port busy, so the last arrival is the same; the analytic one rounds up once per transfer.
VerifyResult never_above_flow() {
    auto const fabric = fabric_of("{kind: single_switch, single_switch: {hosts: 13, host_rate: 400Gb/s}}");
    int later = 0;
    for (std::uint32_t trial = 0; trial < 50; ++trial) {
        auto const transfers = random_incast(trial);
        auto const slack = Time::from_ps(static_cast<std::int64_t>(transfers.size()));
        later += finish_of(*fabric, transfers, NetworkModel::analytic) > finish_of(*fabric, transfers) + slack ? 1 : 0;
    }
    return {.expected = 0, .got = static_cast<double>(later)};
}

}  // namespace

std::vector<VerifyCase> analytic_cases() {
    return {{"analytic, incast 15:1: 15 x 2 MB / 100 Gb/s + 1 us", "us", rounding, incast},
            {"analytic, 8 through an 8:1 uplink: X / C + 2 us", "us", rounding, blind_to_the_core},
            {"analytic later than flow on a port, of 50 random incasts", "cases", none, never_above_flow}};
}

}  // namespace orrery

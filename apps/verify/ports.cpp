// SPDX-License-Identifier: Apache-2.0
// Single transfers, incast and outcast: what one port allows.
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "apps/verify/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

// One switch of 0.5 us links: two hops, 1 us from host to host.
std::unique_ptr<Fabric> one_switch(char const* rate) {
    return fabric_of(fmt::format("{{kind: single_switch, single_switch: {{hosts: 16, host_rate: {}}}}}", rate));
}

std::vector<Transfer> incast(std::uint32_t senders, std::int64_t bytes) {
    std::vector<Transfer> transfers;
    for (std::uint32_t s = 1; s <= senders; ++s) transfers.push_back({s, 0, bytes});
    return transfers;
}

VerifyResult single_transfer() {
    return {.expected = 16'777'216 / 50e9 * 1e6 + 1.0,
            .got = microseconds(finish_of(*one_switch("400Gb/s"), {{2, 5, 16'777'216}}))};
}

VerifyResult two_to_one() {
    return {.expected = 2 * 16'777'216 / 50e9 * 1e6 + 1.0,
            .got = microseconds(finish_of(*one_switch("400Gb/s"), incast(2, 16'777'216)))};
}

VerifyResult fifteen_to_one() {
    return {.expected = 15 * 2e6 / 12.5e9 * 1e6 + 1.0,  // 2.4 ms and the latency
            .got = microseconds(finish_of(*one_switch("100Gb/s"), incast(15, 2'000'000)))};
}

// Under fair shares all fifteen end together, not one after the other.
VerifyResult fifteen_to_one_first() {
    auto const arrivals = run_transfers(*one_switch("100Gb/s"), incast(15, 2'000'000));
    return {.expected = 15 * 2e6 / 12.5e9 * 1e6 + 1.0,
            .got = microseconds(*std::min_element(arrivals.begin(), arrivals.end()))};
}

VerifyResult outcast() {
    std::vector<Transfer> transfers;
    for (std::uint32_t target = 1; target <= 7; ++target) transfers.push_back({0, target, 1'048'576});
    return {.expected = 7 * 1'048'576 / 50e9 * 1e6 + 1.0,
            .got = microseconds(finish_of(*one_switch("400Gb/s"), transfers))};
}

}  // namespace

std::vector<VerifyCase> port_cases() {
    return {{"transfer: 16 MiB / 400 Gb/s + 1 us", "us", rounding, single_transfer},
            {"incast 2:1: 2 x 16 MiB / 400 Gb/s + 1 us", "us", rounding, two_to_one},
            {"incast 15:1, last: 15 x 2 MB / 100 Gb/s + 1 us", "us", rounding, fifteen_to_one},
            {"incast 15:1, first: the same under fair shares", "us", rounding, fifteen_to_one_first},
            {"outcast 1:7: 7 x 1 MiB / 400 Gb/s + 1 us", "us", rounding, outcast}};
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Max-min fair shares inside a fabric: jobs on one link, the parking lot, oversubscribed cores.
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "apps/verify/transfers.hpp"

#include <fmt/format.h>

namespace orrery {
namespace {

constexpr std::int64_t size = 50'000'000;  // 1 ms at 400 Gb/s
constexpr double alone = 1000, far = 2;    // us: that, and the four hops of 0.5 us between leaves

// Leaves of four hosts around one spine; the uplink of a leaf is `oversubscription` times too narrow for its hosts.
std::unique_ptr<Fabric> leaves(double oversubscription) {
    return fabric_of(
        fmt::format("{{kind: leaf_spine, leaf_spine: {{hosts: 16, hosts_per_leaf: 4, spines: 1, "
                    "host_rate: 400Gb/s, oversubscription: {}}}}}",
                    oversubscription));
}

// Jobs A (host 0 to 4) and B (1 to 5) meet on an uplink of 400 Gb/s. B comes when A is half done: A's second half takes
// twice as long, and so does B's first half.
std::vector<Time> two_jobs() {
    return run_transfers(*leaves(4), {{0, 4, size}, {1, 5, size, Time::from_ps(500'000'000)}});
}
VerifyResult first_job() {
    return {.expected = alone * (0.5 + 2 * 0.5) + far, .got = microseconds(two_jobs()[0])};
}
VerifyResult second_job() {
    return {.expected = alone * (0.5 + 2 * 0.5 + 0.5) + far, .got = microseconds(two_jobs()[1])};
}

// Parking lot (Bertsekas & Gallager, Data Networks, sec. 6.5.2) over the four equal links from host 0 to host 4: the
// long transfer shares its first link with one other, the leaf's uplink with two and the other leaf's downlink with
// three, which binds it to a quarter. One beside it gets 3/4, each of two 3/8, each of three 1/4.
std::vector<Time> parking_lot() {
    return run_transfers(*leaves(4), {{0, 4, size},  // long
                                      {0, 1, size},  // beside it on the first link
                                      {1, 8, size},  // on the uplink of leaf 0
                                      {2, 9, size},
                                      {10, 5, size},  // on the downlink of leaf 1
                                      {11, 6, size},
                                      {12, 7, size}});
}
VerifyResult parking_one() {
    return {.expected = alone / (3.0 / 4) + 1, .got = microseconds(parking_lot()[1])};  // two hops: same leaf
}
VerifyResult parking_two() {
    return {.expected = alone / (3.0 / 8) + far, .got = microseconds(parking_lot()[3])};
}
VerifyResult parking_long() {
    return {.expected = alone / (1.0 / 4) + far, .got = microseconds(parking_lot()[0])};
}

// Every host of leaf 0 to its twin on leaf 1.
VerifyResult oversubscribed(double ratio) {
    std::vector<Transfer> transfers;
    for (std::uint32_t h = 0; h < 4; ++h) transfers.push_back({h, h + 4, size});
    return {.expected = alone * ratio + far, .got = microseconds(finish_of(*leaves(ratio), transfers))};
}

// Weights 1 and 3 with bytes 1 and 3 on one port end together, as the blocks of an operator that shares by bytes do.
VerifyResult weighted() {
    auto const arrivals = run_transfers(*leaves(1), {{0, 1, size, {}, 1}, {0, 2, 3 * size, {}, 3}});
    return {.expected = 4 * alone + 1, .got = microseconds(arrivals[0])};
}

}  // namespace

std::vector<VerifyCase> sharing_cases() {
    return {{"two jobs on a link, A: 1/2 alone + 1/2 at C/2", "us", rounding, first_job},
            {"two jobs on a link, B: 1/2 at C/2 + 1/2 alone", "us", rounding, second_job},
            {"parking lot, 1 beside the long one: X / (3/4 C)", "us", rounding, parking_one},
            {"parking lot, 2 beside the long one: X / (3/8 C)", "us", rounding, parking_two},
            {"parking lot, the long one: X / (1/4 C)", "us", rounding, parking_long},
            {"leaf-spine 1:1, leaf to leaf: X / C", "us", rounding, [] { return oversubscribed(1); }},
            {"leaf-spine 2:1, leaf to leaf: X / (C/2)", "us", rounding, [] { return oversubscribed(2); }},
            {"leaf-spine 4:1, leaf to leaf: X / (C/4)", "us", rounding, [] { return oversubscribed(4); }},
            {"weights 1:3 with bytes 1:3 end together: 4 X / C", "us", rounding, weighted}};
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// All-to-all and ring bounds, from point-to-point transfers.
#include "apps/verify/inputs.hpp"
#include "apps/verify/subjects.hpp"
#include "apps/verify/transfers.hpp"

#include <fmt/format.h>

namespace orrery {
namespace {

std::vector<Transfer> all_to_all(std::uint32_t hosts, std::int64_t bytes_per_pair) {
    std::vector<Transfer> transfers;
    for (std::uint32_t source = 0; source < hosts; ++source)
        for (std::uint32_t target = 0; target < hosts; ++target)
            if (source != target) transfers.push_back({source, target, bytes_per_pair});
    return transfers;
}

std::unique_ptr<Fabric> switch_of_16() {
    return fabric_of("{kind: single_switch, single_switch: {hosts: 16, host_rate: 400Gb/s}}");
}

// Every host holds 16 MiB, a sixteenth of it for each host: (n-1)/n of it leaves through its port.
VerifyResult exchange_16_mib() {
    return {.expected = 15.0 / 16 * 16'777'216 / 50e9 * 1e6 + 1.0,
            .got = microseconds(finish_of(*switch_of_16(), all_to_all(16, 16'777'216 / 16)))};
}

// Ring all-reduce (Patarasuk & Yuan, JPDC 69, 2009): 2(n-1) steps of S/n, each after the one before has arrived.
VerifyResult ring_16_mib() {
    auto const fabric = switch_of_16();
    Time now;
    for (int step = 0; step < 2 * 15; ++step) {
        std::vector<Transfer> ring;
        for (std::uint32_t host = 0; host < 16; ++host) ring.push_back({host, (host + 1) % 16, 16'777'216 / 16, now});
        now = finish_of(*fabric, ring);
    }
    return {.expected = 2 * 15.0 / 16 * 16'777'216 / 50e9 * 1e6 + 2 * 15 * 1.0, .got = microseconds(now)};
}

// Leaves of 8 hosts, 8 spines, non-blocking: the ports bind. The farthest pair adds four hops of 0.5 us.
VerifyResult leaf_spine(std::uint32_t hosts) {
    auto const fabric =
        fabric_of(fmt::format("{{kind: leaf_spine, leaf_spine: {{hosts: {}, hosts_per_leaf: 8, "
                              "spines: 8, host_rate: 400Gb/s}}}}",
                              hosts));
    return {.expected = (hosts - 1) * 65'536 / 50e9 * 1e6 + 4 * 0.5,
            .got = microseconds(finish_of(*fabric, all_to_all(hosts, 65'536)))};
}

}  // namespace

std::vector<VerifyCase> collective_cases() {
    return {{"all-to-all 16 MiB, 16 hosts: 15/16 S / C + 1 us", "us", rounding, exchange_16_mib},
            {"ring all-reduce 16 MiB, 16 hosts: 30 (S/16 / C + 1 us)", "us", rounding, ring_16_mib},
            {"all-to-all 64 hosts: 63 x 64 KiB / 50 GB/s + 2 us", "us", rounding, [] { return leaf_spine(64); }},
            {"all-to-all 128 hosts: 127 x 64 KiB / 50 GB/s + 2 us", "us", rounding, [] { return leaf_spine(128); }}};
}

}  // namespace orrery

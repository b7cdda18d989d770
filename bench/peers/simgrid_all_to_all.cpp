// SPDX-License-Identifier: Apache-2.0
// An all-to-all on a fat-tree in SimGrid, with plain max-min shares: prints when it ends and its mean completion.
//
// Usage: simgrid_all_to_all HOSTS equal|varied [SimGrid options]     both numbers in simulated seconds
//
// SimGrid's CM02 divides a link in inverse proportion to the latencies of its flows. Here some paths have two links and
// some four, so their latencies differ and the shares would not be max-min; without latency all weights are 1. Hence
// latency-factor 0. --cfg=network/latency-factor:1 brings back the latencies, and with them the unequal weights.
#include "bench/exchange.hpp"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;
using orrery::bench::Sizes;

constexpr std::uint32_t per_leaf = 8;
constexpr double bytes_per_s = 50e9, link_latency_s = 500e-9;

// Leaves of `per_leaf` hosts below as many spines.
std::vector<s4u::Host*> build(std::uint32_t hosts) {
    std::vector<s4u::Host*> built;
    auto const host = [&](s4u::NetZone* zone, std::vector<unsigned long> const&, unsigned long id) {
        built.push_back(zone->create_host("host" + std::to_string(id), 1e9)->seal());
        return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
            built.back()->get_netpoint(), nullptr);
    };
    s4u::create_fatTree_zone("tree", nullptr, {2, {per_leaf, hosts / per_leaf}, {1, per_leaf}, {1, 1}},
                             s4u::ClusterCallbacks(host), bytes_per_s, link_latency_s,
                             s4u::Link::SharingPolicy::SPLITDUPLEX)
        ->seal();
    return built;
}

}  // namespace

int main(int argc, char** argv) {
    auto const hosts = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
    std::string_view const named = argc > 2 ? argv[2] : "";
    if (hosts < 2 * per_leaf || hosts % per_leaf != 0 || (named != "equal" && named != "varied")) {
        std::fprintf(stderr, "usage: %s HOSTS equal|varied [SimGrid options]   (HOSTS a multiple of %u, at least %u)\n",
                     argv[0], per_leaf, 2 * per_leaf);
        return 2;
    }
    auto const sizes = named == "equal" ? Sizes::equal : Sizes::varied;

    // In this order, so that options of the command line come last and hold. Precision is in seconds; its default is
    // above the latency of a link. No TCP window limits a flow.
    std::vector<std::string> options = {argv[0],
                                        "--log=xbt_cfg.thres:warning",
                                        "--cfg=network/model:CM02",
                                        "--cfg=network/crosstraffic:0",
                                        "--cfg=network/bandwidth-factor:1",
                                        "--cfg=network/latency-factor:0",
                                        "--cfg=network/weight-S:0",
                                        "--cfg=network/TCP-gamma:0",
                                        "--cfg=surf/precision:1e-12"};
    options.insert(options.end(), argv + 3, argv + argc);
    std::vector<char*> arguments;
    for (auto& option : options) arguments.push_back(option.data());
    auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);

    s4u::Engine engine(&count, arguments.data());
    auto const all = build(hosts);
    // One actor starts everything, which costs SimGrid less than an actor per host.
    std::vector<s4u::CommPtr> messages;
    s4u::Actor::create("exchange", all.front(), [&] {
        orrery::bench::for_each_message(hosts, sizes, [&](std::uint32_t s, std::uint32_t t, std::int64_t bytes) {
            messages.push_back(s4u::Comm::sendto_async(all[s], all[t], static_cast<std::uint64_t>(bytes)));
        });
        s4u::Comm::wait_all(messages);
    });
    engine.run();

    double sum = 0;
    for (auto const& m : messages) sum += m->get_finish_time();
    std::printf("%.12g %.12g\n", s4u::Engine::get_clock(), sum / static_cast<double>(messages.size()));
    return 0;
}

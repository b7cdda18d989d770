// SPDX-License-Identifier: Apache-2.0
// For tests of the packet model: messages by hand, run to the end on one or several pretended processes.
#pragma once

#include "netmodels/packet/packet_loop.hpp"
#include "netmodels/packet/registry.hpp"
#include "partitions/dry_run_exchange.hpp"
#include "tests/netmodels/topology_testing.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace orrery::testing {

inline Message message(std::uint32_t source, std::uint32_t target, std::int64_t bytes, Time offered = {}) {
    return {.source = RankId{source},
            .target = RankId{target},
            .offered = offered,
            .bytes = bytes,
            .cookie = static_cast<std::uint64_t>(source) << 32 | target,
            .pace = {}};
}

struct PacketRun {
    std::vector<Delivery> deliveries;  // by source and number
    PacketCounters counters;
    std::int64_t in_flight = 0;
    std::vector<PortFigures> ports;  // by local port, summed over processes
    Digest digest;
    Time last;
    std::vector<std::uint64_t> starved;
    std::vector<PacketTraceRow> trace;  // in order, as many as asked for
};

// How nodes are given to processes: the structured way, or as a hash would have it (blocks of ranks stay together).
enum class Split : std::uint8_t { dealt, scattered };

class PacketBench {
  public:
    PacketBench(scenario::FabricSpec const& spec, PacketSettings settings, std::uint64_t seed = 1,
                std::vector<Degradation> const& degradations = {})
        : PacketBench(make_fabric(spec, seed), std::move(settings), degradations) {}
    PacketBench(std::unique_ptr<Fabric> fabric, PacketSettings settings,
                std::vector<Degradation> const& degradations = {})
        : fabric_(std::move(fabric)), settings_(std::move(settings)) {
        fabric_->degrade(degradations);
        map_ = std::make_unique<DomainMap>(*fabric_);
        compiled_ = std::make_unique<PacketFabric>(*fabric_, *map_, DomainId{0}, settings_);
    }

    PacketRun run(std::vector<Message> messages, std::uint32_t processes = 1, std::int64_t width_divisor = 1,
                  Split split = Split::dealt, MessageRule const* rule = nullptr) const {
        std::stable_sort(messages.begin(), messages.end(),
                         [](Message const& a, Message const& b) { return a.offered < b.offered; });
        auto owner = compiled_->deal(processes);
        if (split == Split::scattered) {
            auto const tiles = compiled_->tiles();
            for (std::size_t n = 0; n < owner.size(); ++n)
                owner[n] = static_cast<std::uint32_t>(DigestChain::mix(tiles[n] + 17) % processes);
        }
        DryRun board(processes);
        std::vector<std::unique_ptr<PacketNetwork>> networks;
        std::vector<std::unique_ptr<PacketLoop>> loops;
        for (std::uint32_t p = 0; p < processes; ++p) {
            networks.push_back(make_packet_network(*compiled_, *map_, settings_, {owner, p, processes}));
            if (rule != nullptr) networks[p]->follow(*rule);
            for (auto const& m : messages)
                if (owner[compiled_->node_of(m.source)] == p) networks[p]->offer(m);
            loops.push_back(std::make_unique<PacketLoop>(*networks[p], board.exchange(p),
                                                         Time::from_ps(compiled_->lookahead().ps() / width_divisor)));
        }
        board.run(std::span<std::unique_ptr<PacketLoop> const>{loops});
        PacketRun result;
        result.ports.resize(compiled_->port_count());
        for (auto const& network : networks) {
            result.counters.add(network->counters());
            result.in_flight += network->in_flight();
            result.digest.add(network->digest());
            auto& all = result.deliveries;
            all.insert(all.end(), network->deliveries().begin(), network->deliveries().end());
            for (auto const cookie : network->starved()) result.starved.push_back(cookie);
            for (auto const& row : network->trace()) result.trace.push_back(row);
            for (std::uint32_t p = 0; p < result.ports.size(); ++p) {
                auto const f = network->figures(p);
                result.ports[p].bytes += f.bytes, result.ports[p].packets += f.packets;
                result.ports[p].drops += f.drops, result.ports[p].marks += f.marks;
                result.ports[p].paused_ps += f.paused_ps;
                result.ports[p].max_queue = std::max(result.ports[p].max_queue, f.max_queue);
            }
        }
        std::sort(result.deliveries.begin(), result.deliveries.end(), [](Delivery const& a, Delivery const& b) {
            return a.source != b.source ? a.source < b.source : a.number < b.number;
        });
        for (auto const& done : result.deliveries) result.last = std::max(result.last, done.when);
        std::sort(result.trace.begin(), result.trace.end(), earlier);
        if (result.trace.size() > settings_.trace.limit) result.trace.resize(settings_.trace.limit);
        return result;
    }

    std::unique_ptr<PacketNetwork> network() const { return make_packet_network(*compiled_, *map_, settings_); }
    PacketFabric const& compiled() const { return *compiled_; }
    Fabric const& fabric() const { return *fabric_; }

  private:
    std::unique_ptr<Fabric> fabric_;
    std::unique_ptr<DomainMap> map_;
    PacketSettings settings_;
    std::unique_ptr<PacketFabric> compiled_;
};

}  // namespace orrery::testing

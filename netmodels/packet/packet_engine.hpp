// SPDX-License-Identifier: Apache-2.0
// The packet model of one domain behind the seam of the exchange protocol.
#pragma once

#include "netmodels/exchange/engine_rates.hpp"
#include "netmodels/exchange/transfer_engine.hpp"
#include "netmodels/packet/flow_times.hpp"
#include "netmodels/packet/network.hpp"
#include "netmodels/packet/registry.hpp"

#include <memory>
#include <vector>

namespace orrery {

// A transfer is a message cut into packets. The network is run window by window, each as soon as time has passed it, so
// that every transfer offered inside a window is known before it runs; a transfer is therefore told up to one window
// after it is over, with its exact time; with PacketSettings::prompt, half the latency of
// the fastest link before its last byte arrives, or earlier. That time is the
// arrival of its last byte less the latencies of its links, because the exchange protocol adds the latency of the
// route, which also holds the endpoints' shares.
class PacketEngine final : public TransferEngine {
  public:
    PacketEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, PacketSettings const& settings);

    std::uint32_t open_engine(Rate rate) override { return engines_.open(rate); }
    void close_engine(std::uint32_t engine) override { engines_.close(engine); }
    void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
               std::int64_t wire_bytes, std::uint64_t cookie) override;
    void settle(Time) override {}
    Time next() const override;
    void advance(Time now, std::vector<TransferDone>& done) override;
    LinkTraffic& traffic() override { return network_->traffic(); }
    std::vector<std::uint64_t> starved() const override;
    void state(StateStream& stream) override {
        network_->state(stream);
        stream(engines_, transfers_, free_transfers_, ran_until_, flow_times_);
    }

    PacketNetwork const& network() const { return *network_; }
    PacketFabric const& compiled() const { return compiled_; }
    FlowTimes const& flow_times() const { return flow_times_; }

  private:
    struct Transfer {
        std::uint64_t cookie = 0;
        std::int64_t latency = 0;  // ps: of the links of its route
        std::int64_t ideal = 0;    // ps: at the slowest bundle of it, and the latencies
        std::int64_t bytes = 0;    // on the wire
    };
    // What one flow can get of a bundle: all of its links, or one when flows are hashed; and one packet of it.
    struct FlowRate {
        Rate flow, packet;
    };

    Time ideal(std::span<BundleId const> hops, std::int64_t bytes, Time latency) const;

    Fabric const* fabric_;
    DomainMap const* map_;
    PacketFabric compiled_;
    std::vector<FlowRate> rates_;  // by local bundle
    std::unique_ptr<PacketNetwork> network_;
    Time width_;
    EngineRates engines_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> free_transfers_;
    Time ran_until_;
    FlowTimes flow_times_;
};

}  // namespace orrery

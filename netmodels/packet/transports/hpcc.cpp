// SPDX-License-Identifier: Apache-2.0
// HPCC (Li et al., SIGCOMM 2019): the window follows the load of the busiest link, which acknowledgements tell.
#include "netmodels/packet/link_load.hpp"
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"

namespace orrery {
namespace {

struct HpccSender {
    std::int64_t round_trip = 0;  // ps
    std::uint32_t first = 0;      // windows in 1/1024 of a packet: what the line carries in a round trip
    std::uint32_t window = 0;     //
    std::uint32_t reference = 0;  // as of the last round trip
    std::uint32_t updated = 0;    // the first packet that had not been sent when `reference` was set
    std::uint8_t rises = 0;       // of the reference in a row
};

// Algorithm 1 of the paper with its constants, eta = 95 % and five rounds of additive increase, and with the load as
// one byte per packet instead of a record per hop (PINT, SIGCOMM 2020). The additive step is that for 32 flows on a
// link.
struct Hpcc : TransportBase<HpccSender> {
    using Sender = HpccSender;
    static constexpr bool acks = true, pulls = false, notices = false, telemetry = true;
    static constexpr std::uint32_t one = 1024;
    static constexpr std::uint32_t eta = LinkLoad::full / 100 * 95;
    static constexpr std::uint8_t most_rises = 5;
    static constexpr std::uint32_t flows = 32;

    explicit Hpcc(PacketSettings const& settings)
        : mtu(settings.mtu), most(settings.window > 0 ? settings.window * one : ~0U) {}

    void start(Sender& s, PathFacts const& path, std::int64_t) const {
        // line rate * round trip / 8 in packets; rates below 2^44 and round trips below 2^40 in 128 bits.
        auto const packets = static_cast<Int128>(path.line_rate) * path.round_trip * one / 8 / 1'000'000'000'000 / mtu;
        s.round_trip = path.round_trip;
        s.first = static_cast<std::uint32_t>(std::clamp<Int128>(packets, one, std::min(most, 1U << 30)));
        s.window = s.reference = s.first;
    }
    bool may_send(Sender const& s, std::uint32_t in_flight) const {
        return static_cast<std::uint64_t>(in_flight) * one < s.window;
    }
    // A window per round trip.
    std::int64_t gap(Sender& s, std::uint32_t bytes, std::int64_t) const {
        if (s.window >= s.first) return 0;
        return static_cast<std::int64_t>(static_cast<Int128>(s.round_trip) * bytes * one / mtu / s.window);
    }
    void measured(Sender& s, std::uint8_t level, std::uint32_t sequence, std::uint32_t next) const {
        auto const load = LinkLoad::load(level);
        bool const round_trip_over = sequence >= s.updated;
        auto const step = s.first / 20 / flows + 1;  // the 5 % that eta leaves, shared
        bool const steer = load >= eta || s.rises >= most_rises;
        auto const wanted =
            steer ? static_cast<std::uint64_t>(s.reference) * eta / load + step : std::uint64_t{s.reference} + step;
        s.window = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, one / 8, s.first));
        if (!round_trip_over) return;
        s.rises = static_cast<std::uint8_t>(steer ? 0 : s.rises + 1);
        s.reference = s.window;
        s.updated = next;
    }
    void timed_out(Sender& s) const {
        s.reference = s.window = std::max(one / 8, s.window / 2);
        s.rises = 0;
    }

    std::uint32_t mtu, most;
};

TransportRegistration const registered{
    "hpcc",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<NodeEngine<Hpcc>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Transport `delay`: a window steered by the round-trip time towards a target (after Swift, SIGCOMM 2020).
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"

namespace orrery {
namespace {

// The window is in 1/256 of a packet. One packet at a time is timed, which gives one decrease per round trip.
struct DelaySender {
    std::int64_t timed_at = -1;  // ps
    std::int64_t target = 0;     // ps
    std::uint32_t timed = 0;
    std::uint32_t window = 0;
};

struct Delay : TransportBase<DelaySender> {
    using Sender = DelaySender;
    static constexpr bool acks = true, pulls = false, notices = false;
    static constexpr std::uint32_t one = 256;

    explicit Delay(PacketSettings const& settings)
        : first((settings.window > 0 ? settings.window : 64) * one), target(settings.target_delay.ps()) {}

    void start(Sender& s, PathFacts const& path, std::int64_t) const {
        s.window = first;
        s.target = target > 0 ? target : path.round_trip + path.round_trip / 2;
    }
    bool may_send(Sender const& s, std::uint32_t in_flight) const { return in_flight * one < s.window; }
    void sent(Sender& s, std::uint32_t sequence, std::int64_t now) const {
        if (s.timed_at >= 0) return;
        s.timed = sequence;
        s.timed_at = now;
    }
    void acked(Sender& s, std::uint32_t sequence, std::int64_t now) const {
        if (s.timed_at < 0 || sequence != s.timed) return;
        auto const delay = now - s.timed_at;
        s.timed_at = -1;
        if (delay <= s.target) {
            s.window = std::min(first, s.window + one);  // one packet per round trip
            return;
        }
        // Multiplicative decrease by 0.8 of the excess, at most to a half; never below one packet.
        auto const excess = (delay - s.target) * 1024 / delay;
        auto const cut = std::min<std::int64_t>(excess * 819 / 1024, 512);
        s.window = std::max(one, s.window - static_cast<std::uint32_t>(s.window * cut / 1024));
    }
    void timed_out(Sender& s) const {
        s.window = std::max(one, s.window / 2);
        s.timed_at = -1;
    }

    std::uint32_t first;
    std::int64_t target;
};

TransportRegistration const registered{
    "delay",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<NodeEngine<Delay>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery

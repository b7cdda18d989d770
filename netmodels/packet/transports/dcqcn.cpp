// SPDX-License-Identifier: Apache-2.0
// Transport `dcqcn`: rates cut by congestion notifications and recovered by timer (Zhu et al., SIGCOMM 2015).
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"

namespace orrery {
namespace {

// Rates in kb/s, alpha in 1/65536. Timers are evaluated when the flow next acts: nothing in between could see them.
struct DcqcnSender {
    std::int64_t timer_at = 0;  // ps: when alpha decays and the rate rises next
    std::uint32_t rate = 0, target = 0, line = 0;
    std::uint16_t alpha = 65535;
    std::uint8_t rises = 0;
    bool cut = false;  // before the first notification a flow sends at line rate
};

struct Dcqcn : TransportBase<DcqcnSender> {
    using Sender = DcqcnSender;
    static constexpr bool acks = true, pulls = false, notices = true;
    // Table 1 and section 5 of the paper: g = 1/256, 55 us timers for alpha and for the rate, both begun anew by a
    // notification, so one; 5 rounds of fast recovery; the additive step is scaled from its 40 Mb/s at 40 Gb/s to
    // 1/1000 of the line rate.
    static constexpr std::int64_t timer = 55'000'000;
    static constexpr std::uint8_t fast_rounds = 5;

    explicit Dcqcn(PacketSettings const& settings) : window(settings.window > 0 ? settings.window : ~0U) {}

    void start(Sender& s, PathFacts const& path, std::int64_t) const {
        s.rate = s.target = s.line = static_cast<std::uint32_t>(path.line_rate / 1000);
    }
    bool may_send(Sender const&, std::uint32_t in_flight) const { return in_flight < window; }
    std::int64_t gap(Sender& s, std::uint32_t bytes, std::int64_t now) const {
        if (!s.cut) return 0;
        catch_up(s, now);
        return PacketFabric::ceil_time(bytes, std::int64_t{s.rate} * 1000);
    }
    void congested(Sender& s, std::int64_t now) const {
        if (s.line == 0) return;
        catch_up(s, now);
        s.target = s.rate;
        // rate (1 - alpha / 2); alpha (1 - g) + g
        s.rate -= static_cast<std::uint32_t>(static_cast<std::uint64_t>(s.rate) * s.alpha >> 17);
        s.rate = std::max(s.rate, s.line / 1000);
        s.alpha = static_cast<std::uint16_t>(s.alpha - s.alpha / 256 + 255);
        s.timer_at = now + timer;
        s.rises = 0;
        s.cut = true;
    }

  private:
    void catch_up(Sender& s, std::int64_t now) const {
        if (!s.cut) return;
        for (; s.timer_at <= now && (s.alpha > 0 || s.rate < s.line); s.timer_at += timer) {
            s.alpha = static_cast<std::uint16_t>(s.alpha - (s.alpha + 255) / 256);
            if (s.rate == s.line) continue;
            if (s.rises < 255) ++s.rises;
            auto const step = s.line / 1000;
            if (s.rises > fast_rounds)
                s.target = std::min(s.line, s.target + (s.rises > 2 * fast_rounds ? 10 : 1) * step);
            s.rate = s.rate / 2 + s.target / 2 + (s.rate & s.target & 1);
            if (s.line - s.rate <= step) s.rate = s.line;
        }
    }

    std::uint32_t window;
};

TransportRegistration const registered{
    "dcqcn",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<NodeEngine<Dcqcn>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery

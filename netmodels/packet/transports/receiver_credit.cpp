// SPDX-License-Identifier: Apache-2.0
// Transport `receiver_credit`: a first window unasked, then one packet per pull of the receiver (after NDP, SIGCOMM
// 2017).
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"

namespace orrery {
namespace {

struct CreditSender {
    std::uint32_t credits = 0;
};

struct ReceiverCredit : TransportBase<CreditSender> {
    using Sender = CreditSender;
    static constexpr bool acks = true, pulls = true, notices = false;

    explicit ReceiverCredit(PacketSettings const& settings) : window(settings.window > 0 ? settings.window : 64) {}

    void start(Sender& s, PathFacts const&, std::int64_t) const { s.credits = window; }
    bool may_send(Sender const& s, std::uint32_t) const { return s.credits > 0; }
    void sent(Sender& s, std::uint32_t, std::int64_t) const { --s.credits; }
    void credited(Sender& s) const { ++s.credits; }
    // Its pulls may be lost with the packets that asked for them.
    void timed_out(Sender& s) const { s.credits = std::max(s.credits, 1U); }

    std::uint32_t window;
};

TransportRegistration const registered{
    "receiver_credit",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<NodeEngine<ReceiverCredit>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery

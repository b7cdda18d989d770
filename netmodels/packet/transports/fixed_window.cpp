// SPDX-License-Identifier: Apache-2.0
// Transport `window`: at most a fixed number of packets of a flow are unacknowledged.
#include "netmodels/packet/node_engine_impl.hpp"
#include "netmodels/packet/registry.hpp"

namespace orrery {
namespace {

struct WindowSender {};

struct FixedWindow : TransportBase<WindowSender> {
    using Sender = WindowSender;
    static constexpr bool acks = true, pulls = false, notices = false;
    explicit FixedWindow(PacketSettings const& settings) : window(settings.window > 0 ? settings.window : ~0U) {}
    void start(Sender&, PathFacts const&, std::int64_t) const {}
    bool may_send(Sender const&, std::uint32_t in_flight) const { return in_flight < window; }
    std::uint32_t window;
};

TransportRegistration const registered{
    "window",
    [](PacketFabric const& fabric, DomainMap const& map, PacketSettings const& settings,
       PacketShare share) -> std::unique_ptr<PacketNetwork> {
        return std::make_unique<NodeEngine<FixedWindow>>(fabric, map, settings, std::move(share));
    }};

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "apps/run/packet_settings.hpp"

#include "core/check.hpp"
#include "proto/scenario.pb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fnmatch.h>

namespace orrery {
namespace {

Switching switching_of(std::string const& name) {
    return name == "store_and_forward" ? Switching::store_and_forward : Switching::cut_through;
}

LoadBalancing balancing_of(std::string const& name) {
    return name == "ecmp" ? LoadBalancing::ecmp : name == "adaptive" ? LoadBalancing::adaptive : LoadBalancing::spray;
}

void validate(PacketSettings const& s) {
    bool const lossy = s.lossless == Lossless::off &&
                       (s.port_buffer != PacketSettings::unbounded || s.shared_buffer != PacketSettings::unbounded);
    ORRERY_VALIDATE(
        s.transport != "none" || (!lossy && s.losses.empty() && !s.trimming),
        "network.packet.transport is none (buffers, trimming or losses would drop packets that nobody sends "
        "again); use window or another transport, or lossless links");
    ORRERY_VALIDATE(s.lossless == Lossless::off || s.port_buffer != PacketSettings::unbounded,
                    "network.packet.port_buffer is not set (lossless links need a buffer to protect); use 1MiB or so");
    ORRERY_VALIDATE(s.window > 0 || s.transport == "none" || (s.lossless != Lossless::off && s.losses.empty()),
                    "network.packet.window is 0, no limit (only links that lose nothing allow that); use 1 to 64");
    ORRERY_VALIDATE(s.pfc_alpha == 0 || s.shared_buffer != PacketSettings::unbounded,
                    "network.packet.pfc_alpha is {} (a share of an unbounded buffer); set shared_buffer", s.pfc_alpha);
    ORRERY_VALIDATE(s.ecn_kmin == PacketSettings::unbounded || s.ecn_kmax >= s.ecn_kmin,
                    "network.packet.ecn_kmax is {} (below ecn_kmin {}); use more", s.ecn_kmax, s.ecn_kmin);
}

// "3>17"
TraceSettings trace_of(scenario::TraceSpec const& spec) {
    TraceSettings trace{.links = spec.links(), .limit = spec.limit()};
    if (spec.flow().empty()) return trace;
    unsigned source = 0, target = 0;
    int end = 0;
    bool const read = std::sscanf(spec.flow().c_str(), "%u>%u%n", &source, &target, &end) == 2 &&
                      static_cast<std::size_t>(end) == spec.flow().size();
    ORRERY_VALIDATE(read && source != target, "network.packet.trace.flow is '{}' (not two ranks); write it like 3>17",
                    spec.flow());
    trace.one_flow = true;
    trace.source = source, trace.target = target;
    return trace;
}

}  // namespace

PacketSettings make_packet_settings(scenario::Scenario const& scenario) {
    auto const& spec = scenario.network().packet();
    PacketSettings settings;
    settings.mtu = static_cast<std::uint32_t>(spec.mtu());
    settings.leaf_switching = switching_of(spec.switching());
    settings.spine_switching =
        spec.spine_switching() == "same" ? settings.leaf_switching : switching_of(spec.spine_switching());
    settings.load_balancing = balancing_of(spec.load_balancing());
    settings.seed_per_switch = spec.seed_per_switch();
    settings.seed = scenario.seed();
    settings.transport = spec.transport();
    settings.window = spec.window();
    settings.recovery = spec.recovery() == "go_back_n" ? Recovery::go_back_n : Recovery::selective_repeat;
    settings.timeout = Time::from_ps(spec.timeout());
    settings.lossless = spec.lossless() == "pfc"      ? Lossless::pfc
                        : spec.lossless() == "credit" ? Lossless::credit
                                                      : Lossless::off;
    if (spec.has_port_buffer()) settings.port_buffer = spec.port_buffer();
    if (spec.has_shared_buffer()) settings.shared_buffer = spec.shared_buffer();
    settings.pfc_xoff = spec.pfc_xoff();
    settings.pfc_xon = spec.pfc_xon();
    settings.pfc_alpha = spec.pfc_alpha();
    settings.trimming = spec.trimming();
    if (spec.has_ecn_kmin()) settings.ecn_kmin = spec.ecn_kmin();
    if (spec.has_ecn_kmin()) settings.ecn_kmax = spec.has_ecn_kmax() ? spec.ecn_kmax() : 4 * spec.ecn_kmin();
    settings.ecn_pmax = spec.ecn_pmax();
    settings.cnp_interval = Time::from_ps(spec.cnp_interval());
    settings.cnp_delay = Time::from_ps(spec.cnp_delay());
    settings.target_delay = Time::from_ps(spec.target_delay());
    settings.ack_bytes = spec.ack_bytes();
    for (auto const& loss : spec.losses()) settings.losses.push_back({loss.links(), loss.probability()});
    settings.trace = trace_of(spec.trace());
    validate(settings);
    settings.bin_width = Time::from_ps(scenario.output().link_bin());
    return settings;
}

void check_trace(TraceSettings const& trace, Fabric const& fabric) {
    ORRERY_VALIDATE(!trace.one_flow || std::max(trace.source, trace.target) < fabric.rank_count(),
                    "network.packet.trace.flow is {}>{} (the fabric has ranks 0 to {})", trace.source, trace.target,
                    fabric.rank_count() - 1);
    if (trace.links.empty()) return;
    for (std::uint32_t l = 0; l < fabric.links().size(); ++l)
        if (fnmatch(trace.links.c_str(), fabric.link_name(LinkId{l}).c_str(), 0) == 0) return;
    throw InputError(
        fmt::format("network.packet.trace.links: '{}' matches no link (orrery check --links lists them)", trace.links));
}

std::string describe(PacketSettings const& settings) {
    auto const name = [](Switching s) { return s == Switching::cut_through ? "cut-through" : "store-and-forward"; };
    auto text = fmt::format("MTU {} B, {}", settings.mtu, name(settings.leaf_switching));
    if (settings.spine_switching != settings.leaf_switching)
        text += fmt::format(" (spines {})", name(settings.spine_switching));
    text += settings.load_balancing == LoadBalancing::ecmp       ? ", hashed"
            : settings.load_balancing == LoadBalancing::adaptive ? ", adaptive"
                                                                 : ", sprayed";
    if (settings.lossless != Lossless::off) text += settings.lossless == Lossless::pfc ? ", PFC" : ", credits";
    if (settings.ecn_kmin != PacketSettings::unbounded) text += ", ECN";
    return text + (settings.transport == "none" ? ", no transport" : ", " + settings.transport);
}

}  // namespace orrery

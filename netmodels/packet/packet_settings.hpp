// SPDX-License-Identifier: Apache-2.0
// What the packet model can be told, with every default in one place.
#pragma once

#include "core/units.hpp"
#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace orrery {

enum class LoadBalancing : std::uint8_t {
    spray,     // each packet takes the next of the parallel links, in turn
    ecmp,      // a hash of (source, target) picks one link per switch
    adaptive,  // the link on which the packet would leave first
};
enum class Switching : std::uint8_t { cut_through, store_and_forward };
enum class Lossless : std::uint8_t {
    off,     // a full buffer drops (or trims)
    pfc,     // IEEE 802.1Qbb: the ingress pauses its link
    credit,  // the sender of a link never exceeds the buffer behind it
};
enum class Recovery : std::uint8_t { selective_repeat, go_back_n };

// A loss probability for the links whose names match.
struct LinkLoss {
    std::string pattern;
    double probability = 0;
};

// Which packets are recorded one by one: those at links whose names match, of one flow, or both.
struct TraceSettings {
    std::string links;
    bool one_flow = false;
    std::uint32_t source = 0, target = 0;  // ranks
    std::uint32_t limit = 10'000;          // rows

    bool on() const { return !links.empty() || one_flow; }
};

struct PacketSettings {
    static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

    std::uint32_t mtu = 4096;                                  // bytes of a full packet on the wire
    Switching leaf_switching = Switching::store_and_forward;   // switches of tier 1
    Switching spine_switching = Switching::store_and_forward;  // tier 2 and above
    LoadBalancing load_balancing = LoadBalancing::spray;
    bool seed_per_switch = true;  // ecmp: off lets all switches hash alike (polarisation)
    std::uint64_t seed = 1;

    std::int64_t port_buffer = unbounded;  // bytes per output port (lossy) or per input link (lossless)
    Lossless lossless = Lossless::off;
    std::int64_t pfc_xoff = 0, pfc_xon = 0;  // bytes per input link; 0: derived from the buffer
    double pfc_alpha = 0;                    // > 0: the threshold is alpha times what is free of the shared buffer
    std::int64_t shared_buffer = unbounded;  // bytes per switch
    bool trimming = false;
    bool keep_queues = false;  // open loop: keep real queues although none is needed (a cross-check of the engines)

    std::int64_t ecn_kmin = unbounded, ecn_kmax = unbounded;  // bytes in the output queue
    double ecn_pmax = 1;

    std::string transport = "none";
    Recovery recovery = Recovery::selective_repeat;
    std::uint32_t window = 64;  // packets of a flow on their way; 0: no limit, on lossless links only
    Time timeout;               // zero: four times the longest zero-load round trip
    Time cnp_interval;          // DCQCN: at most one CNP per flow in this time
    Time cnp_delay;             // DCQCN: from a marked arrival to its CNP
    Time target_delay;          // delay-based: zero: 1.5 zero-load round trips
    std::uint32_t ack_bytes = 64;

    bool prompt =
        false;  // tell the end of a message before it comes, where that is certain (PacketNetwork::deliveries)

    std::vector<LinkLoss> losses;
    std::vector<LinkChange> timetable;  // of the whole fabric, in order of time

    TraceSettings trace;

    Time bin_width = Time::from_ps(100'000'000);
};

}  // namespace orrery

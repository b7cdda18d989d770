// SPDX-License-Identifier: Apache-2.0
// One packet on its way to the next node: the only record that the packet model keeps per packet.
#pragma once

#include "core/digest.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace orrery {

enum class PacketKind : std::uint8_t {
    data,
    ack,     // the receiver has it
    nack,    // the receiver wants this one again
    cnp,     // congestion notification (DCQCN)
    credit,  // receiver-driven transports: send one more
    pause,   // link level: XOFF or credits, not queued with data
    resume,  // link level
};

// Where a packet is going: what the choice among parallel links depends on. Plain numbers, made in registers.
struct Heading {
    std::uint32_t origin = 0;                    // rank that put it on the network
    std::uint32_t count = 0;                     // of the origin's packets on that first bundle
    std::uint32_t hop1 = 0, hop2 = 0, last = 0;  // the bundles to go over while 3, 2 and 1 hops are left
};

// A packet carries the last two bundles of its route, which with the one it is about to take makes four hops. While
// more are to go it carries their number in the place of the bundle before the last (PacketFabric::long_step).
//
// Bundles, links and ranks are numbered within 24 bits; the compiled fabric refuses more. The time of arrival is an
// offset into the window that the packet waits for, so the window's start is not repeated in every packet.

// The half that changes on the way.
struct PacketLeg {
    std::uint32_t offset = 0;     // ps since the start of its window
    std::uint32_t next : 24 = 0;  // where it arrives: the port it leaves over next (the bundle, while that is open), or
                                  // the node when no hop is left
    std::uint32_t left : 2 = 0;   // hops still to go after the arrival, 3 for more
    std::uint32_t kind_bits : 3 = 0;
    std::uint32_t marked : 1 = 0;   // congestion experienced (ECN)
    std::uint32_t final : 1 = 0;    // the highest sequence number of its flow
    std::uint32_t trimmed : 1 = 0;  // the payload was cut off

    std::uint64_t in : 24 = 0;    // port over which it arrives
    std::uint64_t hop2 : 24 = 0;  // the bundle before the last, until it is taken; the hops to go while they are more
    std::uint64_t seq_low : 16 = 0;
};

// The half that does not.
struct PacketLoad {
    std::uint64_t origin : 24 = 0;
    std::uint64_t count : 24 = 0;
    std::uint64_t bytes : 15 = 0;  // on the wire
    std::uint64_t turn : 1 = 0;    // of the flow's slot: tells its flow from the one before

    std::uint32_t slot = 0;          // flow, in the table of the sender's process; never part of an order
    std::uint32_t last : 24 = 0;     // the bundle that ends at the target
    std::uint32_t seq_high : 8 = 0;  // with telemetry: the load of the busiest link so far (link_load.hpp)

    // From numbers that are in range. Field by field the compiler would build the words in memory, and wait for each
    // piece to come back: more than all the rest of a departure.
    static PacketLoad of(std::uint64_t origin, std::uint64_t count, std::uint64_t bytes, std::uint64_t turn,
                         std::uint64_t slot, std::uint64_t last, std::uint64_t sequence) {
        return std::bit_cast<PacketLoad>(std::array<std::uint64_t, 2>{origin | count << 24 | bytes << 48 | turn << 63,
                                                                      slot | last << 32 | (sequence >> 16) << 56});
    }
};

struct Packet : PacketLeg, PacketLoad {
    std::uint32_t sequence() const { return static_cast<std::uint32_t>(seq_low) | seq_high << 16; }
    void set_sequence(std::uint32_t sequence) {
        seq_low = sequence & 0xffff;
        seq_high = sequence >> 16 & 0xff;
    }
    PacketKind kind() const { return static_cast<PacketKind>(kind_bits); }
    void set_kind(PacketKind kind) { kind_bits = static_cast<std::uint32_t>(kind) & 7; }
    // Becomes `from` on another leg. The halves are written whole: a word that is stored in pieces and read back at
    // once costs more than all the rest of a departure.
    void set_out(PacketLoad const& from, PacketLeg const& leg) {
        static_cast<PacketLoad&>(*this) = from;
        static_cast<PacketLeg&>(*this) = leg;
    }
    // Behind the first link: the first of four hops is not carried.
    Heading heading() const {
        return {.origin = static_cast<std::uint32_t>(origin),
                .count = static_cast<std::uint32_t>(count),
                .hop1 = 0,
                .hop2 = static_cast<std::uint32_t>(hop2),
                .last = last};
    }
};

static_assert(sizeof(Packet) == 32 && std::is_trivially_copyable_v<Packet>);

inline constexpr std::uint32_t most_packet_ids = 1U << 24;
inline constexpr std::uint32_t id_mask = most_packet_ids - 1;

// Of two packets that reach a port in the same picosecond the one that goes first. With plain ranks the lowest would
// win every tie of an incast; a seeded bijection of (origin, count) is as unique and favours nobody.
struct FairTie {
    std::uint64_t salt = 0;

    std::uint64_t draw(Packet const& p) const {
        return DigestChain::mix((static_cast<std::uint64_t>(p.origin) << 24 | p.count) ^ salt);
    }
    bool operator()(Packet const& a, Packet const& b) const {
        auto const da = draw(a), db = draw(b);
        if (da != db) return da < db;
        // The same origin on another first bundle, or another kind: never two packets alike in all of this.
        if (a.last != b.last) return a.last < b.last;
        if (a.kind_bits != b.kind_bits) return a.kind_bits < b.kind_bits;
        if (a.in != b.in) return a.in < b.in;
        return a.sequence() < b.sequence();
    }
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// One exchange operator (dispatch, combine, all-to-all-v) of a group of ranks, as the network models see it.
#pragma once

#include "core/ids.hpp"
#include "core/records.hpp"
#include "core/state.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <vector>

namespace orrery {

// Names one instance. Packs into one event word.
struct ExchangeKey {
    std::uint32_t group = 0;
    std::uint16_t layer = 0;  // index in the model
    std::uint8_t microbatch = 0;
    OpKind kind{};

    std::uint64_t pack() const {
        return static_cast<std::uint64_t>(group) << 32 | static_cast<std::uint64_t>(layer) << 16 |
               static_cast<std::uint64_t>(microbatch) << 8 | static_cast<std::uint64_t>(kind);
    }
    static ExchangeKey unpack(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint16_t>(word >> 16),
                static_cast<std::uint8_t>(word >> 8), static_cast<OpKind>(word & 0xff)};
    }
    friend auto operator<=>(ExchangeKey const&, ExchangeKey const&) = default;
};

// push: the sender writes into the receiver's memory. pull: the sender announces, all members meet in a barrier on the
// announcements, then each receiver reads.
enum class ExchangeStyle : std::uint8_t { push, pull };
// overlapped: messages leave while the sender's loop prepares the next ones, so the loop is a rate cap.
// prepared: every byte is prepared before the first one leaves.
enum class ExchangeLoop : std::uint8_t { overlapped, prepared };
// by_bytes: a sender interleaves its messages, so each peer gets a share in proportion to its bytes.
// equal: one queue per peer, each with an equal share.
enum class ExchangeShares : std::uint8_t { by_bytes, equal };

// How an operator is carried out and what it costs. Every duration is per rank.
struct ExchangePlan {
    ExchangeStyle style = ExchangeStyle::push;
    ExchangeLoop loop = ExchangeLoop::overlapped;
    ExchangeShares shares = ExchangeShares::by_bytes;
    std::int64_t message_bytes = 0;  // payload of one message
    std::int64_t wire_bytes = 0;     // what one message takes of a link: payload / efficiency, rounded up
    Time launch;                     // from the start of the operator to its first byte
    Time per_message;                // sender's loop on one core
    Time per_peer;                   // one flag, on one core
    Time finish;                     // after the last arrival; at least the engine's lookahead
    std::uint32_t cores = 1;         // the loop and the flags are dealt over these

    // ceil(messages / cores) * per_message.
    Time loop_time(std::uint64_t messages) const {
        return per_message * static_cast<std::int64_t>((messages + cores - 1) / cores);
    }
    // Flags leave in rounds of `cores` peers, in order of distance in the group; the k-th peer's flag costs k/cores
    // + 1.
    Time flag_time(std::uint32_t distance) const {
        return per_peer * (static_cast<std::int64_t>(distance / cores) + 1);
    }
};

// The traffic of exchanges: implemented by workloads, asked by network models for the exchanges they own.
// Members are numbered 0 .. members-1 within the group and sit on consecutive fabric ranks from first_rank(group).
class ExchangeTraffic {
  public:
    struct Share {
        std::uint32_t member;    // the peer
        std::uint32_t messages;  // more than zero
    };
    struct Received {
        std::uint32_t messages = 0;        // from all members, own ones included
        std::uint32_t active_experts = 0;  // targets on this member with at least one message
    };

    virtual ~ExchangeTraffic() = default;
    virtual std::uint32_t members(std::uint32_t group) const = 0;
    virtual RankId first_rank(std::uint32_t group) const = 0;
    virtual ExchangePlan const& plan(OpKind kind) const = 0;
    // Brackets the use of one instance by one carrier (the number of a domain or of a site); open() may compute and
    // cache, close() may release.
    virtual void open(ExchangeKey key, std::uint32_t carrier) = 0;
    virtual void close(ExchangeKey key, std::uint32_t carrier) = 0;
    // What it keeps on behalf of this carrier: part of the carrier's state.
    virtual void state(std::uint32_t carrier, StateStream& stream) = 0;
    // What `source` sends to every peer, own messages included, in ascending order of peer.
    virtual void sent_by(ExchangeKey key, std::uint32_t source, std::vector<Share>& out) const = 0;
    // What `target` receives from every peer, own messages included, in ascending order of peer.
    virtual void received_by(ExchangeKey key, std::uint32_t target, std::vector<Share>& out) const = 0;
    virtual std::uint32_t messages(ExchangeKey key, std::uint32_t source, std::uint32_t target) const = 0;
    virtual Received received(ExchangeKey key, std::uint32_t target) const = 0;
};

// Events between ranks and the domains that carry their exchanges.
enum ExchangeEvent : std::uint16_t {
    // rank -> domain. when: its first byte may leave. body: key, start of the operator on the rank (ps).
    exchange_post = 16,
    // domain -> rank. when: its part of the operator is over. body: key, latest start among the peers (ps),
    // messages received << 32 | active experts.
    exchange_done = 17,
};

}  // namespace orrery

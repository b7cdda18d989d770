// SPDX-License-Identifier: Apache-2.0
// Messages from one rank to another: who tells whom what.
#pragma once

#include "netmodels/exchange/domain_lp.hpp"
#include "netmodels/exchange/message_timing.hpp"

#include <span>
#include <string>
#include <vector>

namespace orrery {

// Messages of one source, target and tag are numbered in the order of their starts (`ordinal`), which is the order in
// which receives meet them, whatever order they arrive in.
struct RankMessage {
    std::uint32_t source = 0, target = 0;  // LPs of ranks
    std::uint32_t tag = 0, ordinal = 0;
    std::uint32_t task = 0;  // of the sender
    std::int64_t bytes = 0;
    Time started;  // at the sender

    using Body = std::array<std::uint64_t, 5>;
    Body pack() const {
        return {static_cast<std::uint64_t>(source) << 32 | target, static_cast<std::uint64_t>(tag) << 32 | ordinal,
                task, static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(started.ps())};
    }
    static RankMessage unpack(Body const& body) {
        return {.source = static_cast<std::uint32_t>(body[0] >> 32),
                .target = static_cast<std::uint32_t>(body[0]),
                .tag = static_cast<std::uint32_t>(body[1] >> 32),
                .ordinal = static_cast<std::uint32_t>(body[1]),
                .task = static_cast<std::uint32_t>(body[2]),
                .bytes = static_cast<std::int64_t>(body[3]),
                .started = Time::from_ps(static_cast<std::int64_t>(body[4]))};
    }
};

// All carry the packed message.
enum MessageEvent : std::uint16_t {
    message_post = 18,     // sender -> domain of its route
    message_sent = 19,     // domain -> sender: the last byte has arrived
    message_arrived = 20,  // domain -> receiver: the same
};

// The messages of one domain. A message is over for both ends at the arrival of its last byte.
class MessageDomain final : public DomainProtocol {
  public:
    // place[l]: the fabric rank of LP l; outlives the domain.
    MessageDomain(DomainLp& domain, std::span<RankId const> place, MessageTiming const& timing)
        : domain_(&domain), place_(place), timing_(timing) {}

    std::vector<std::uint16_t> event_kinds() const override { return {message_post}; }
    void handle(Event const& event, Outbox& out) override;
    void transfer_done(TransferDone const& done, Outbox& out) override;
    void state(StateStream& stream) override { stream(under_way_, free_); }

    // Messages on links that carry nothing: for the report of a run that could not finish.
    std::vector<RankMessage> starved() const;

  private:
    struct Entry {
        RankMessage message;
        Time latency;
    };
    void over(Entry const& entry, Time last_byte_left, Outbox& out);

    DomainLp* domain_;
    std::span<RankId const> place_;
    MessageTiming timing_;
    std::vector<Entry> under_way_;  // slots, reused
    std::vector<std::uint32_t> free_;
};

}  // namespace orrery

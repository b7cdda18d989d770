// SPDX-License-Identifier: Apache-2.0
// The messages of one rank by peer and tag: which receive meets which message.
#pragma once

#include "core/state.hpp"
#include "core/units.hpp"
#include "workloads/schedule/schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

// Messages and receives of one source and tag are numbered alike, in the order of their starts at either end, and meet
// by number: so a message that overtakes another one does not take its receive.
class MessageEnds {
  public:
    explicit MessageEnds(RankProgram const& program);

    // The number of the next message to that peer.
    std::uint32_t sent(std::uint32_t peer, std::uint32_t tag);

    struct Arrival {
        std::uint32_t ordinal = 0;
        std::int64_t bytes = 0;
        Time sender_started;
    };
    // A receive starts: what has already arrived for it, or nothing yet.
    std::optional<Arrival> expect(std::uint32_t peer, std::uint32_t tag, std::uint32_t task);
    // A message arrives: the task that waits for it, or none yet.
    std::optional<std::uint32_t> arrived(std::uint32_t peer, std::uint32_t tag, Arrival const& arrival);

    void state(StateStream& stream) { stream(sends_, receives_); }

  private:
    struct SendChannel {
        std::uint32_t peer = 0, tag = 0, next = 0;
    };
    struct Waiting {
        std::uint32_t ordinal = 0, task = 0;
    };
    struct ReceiveChannel {
        std::uint32_t peer = 0, tag = 0, next = 0;
        std::vector<Waiting> waiting;
        std::vector<Arrival> arrived;
        void state(StateStream& stream) { stream(peer, tag, next, waiting, arrived); }
    };
    template <class Channel>
    static Channel& channel(std::vector<Channel>& channels, std::uint32_t peer, std::uint32_t tag);

    std::vector<SendChannel> sends_;  // in order (peer, tag), as are the receives
    std::vector<ReceiveChannel> receives_;
};

}  // namespace orrery

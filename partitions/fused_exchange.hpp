// SPDX-License-Identifier: Apache-2.0
// One message to every other process per window: data, null message and barrier in one.
#pragma once

#include "core/exchange.hpp"
#include "partitions/wait.hpp"

#include <mpi.h>

#include <array>
#include <vector>

namespace orrery {

// The message is {report, number of events, the first events}; it is small enough for the eager path of shared memory
// (4 KiB), so a quiet window costs one copy per neighbour. What does not fit follows in a second message whose length
// the first one has told. Receives are persistent; no collective is called while all goes well.
class FusedExchange final : public Exchange {
  public:
    explicit FusedExchange(MPI_Comm comm,
                           double hang_limit_s = default_hang_limit_s);  // collective; duplicates the communicator
    ~FusedExchange() override;
    FusedExchange(FusedExchange const&) = delete;
    FusedExchange& operator=(FusedExchange const&) = delete;

    std::uint32_t index() const override { return index_; }
    std::uint32_t count() const override { return count_; }
    void post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing, Failure const& failure) override;
    void collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) override;

  private:
    static constexpr std::int64_t inline_events = 61;
    struct Message {
        WindowReport report;
        std::int64_t count = 0;
        std::int64_t spare = 0;
        std::array<Event, inline_events> events;
    };
    static_assert(sizeof(Message) == 64 + inline_events * 64 && sizeof(Message) < 4096);
    struct Peer {
        int process = 0;
        Message out, in;
        std::vector<Event> overflow;  // what is being sent beyond the message
    };

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::uint32_t index_ = 0, count_ = 1;
    std::vector<Peer> peers_;
    std::vector<int> peer_processes_;    // for messages
    std::vector<MPI_Request> receives_;  // persistent, one per peer
    std::vector<MPI_Request> sends_, overflow_receives_;
    PatientWait wait_;
    WindowReport mine_;
    Failure failure_;
    bool posted_ = false;
};

}  // namespace orrery

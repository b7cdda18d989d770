// SPDX-License-Identifier: Apache-2.0
#include "partitions/fused_exchange.hpp"

#include "partitions/agree_failure.hpp"
#include "partitions/event_transfer.hpp"

#include <cstddef>
#include <cstring>

namespace orrery {
namespace {

constexpr int message_tag = 1, overflow_tag = 2;

}  // namespace

FusedExchange::FusedExchange(MPI_Comm comm, double hang_limit_s) : wait_(comm, hang_limit_s) {
    MPI_Comm_dup(comm, &comm_);
    int index = 0, count = 1;
    MPI_Comm_rank(comm_, &index);
    MPI_Comm_size(comm_, &count);
    index_ = static_cast<std::uint32_t>(index);
    count_ = static_cast<std::uint32_t>(count);
    peers_.resize(count_ - 1);
    receives_.resize(peers_.size());
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        auto& peer = peers_[i];
        peer.process = (index + 1 + static_cast<int>(i)) % count;  // not everybody to process 0 first
        peer_processes_.push_back(peer.process);
        MPI_Recv_init(&peer.in, sizeof(Message), MPI_BYTE, peer.process, message_tag, comm_, &receives_[i]);
    }
}

FusedExchange::~FusedExchange() {
    if (posted_)  // the loop was left between post and collect
        for (auto& request : receives_) {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    wait_(sends_);
    for (auto& request : receives_) MPI_Request_free(&request);
    MPI_Comm_free(&comm_);
}

void FusedExchange::post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing, Failure const& failure) {
    // Everybody has received the last round's messages, or will without us: they were all sent before we collected.
    wait_(sends_);
    sends_.clear();
    if (!receives_.empty()) MPI_Startall(static_cast<int>(receives_.size()), receives_.data());
    for (auto& peer : peers_) {
        auto& events = outgoing[static_cast<std::size_t>(peer.process)];
        auto const count = static_cast<std::int64_t>(events.size());
        auto const fitting = std::min(count, inline_events);
        peer.out.report = mine;
        peer.out.count = count;
        std::copy_n(events.begin(), fitting, peer.out.events.begin());
        auto const bytes = offsetof(Message, events) + static_cast<std::size_t>(fitting) * sizeof(Event);
        MPI_Isend(&peer.out, static_cast<int>(bytes), MPI_BYTE, peer.process, message_tag, comm_,
                  &sends_.emplace_back());
        if (count > fitting) {
            peer.overflow.swap(events);
            transfer::start_send(peer.overflow.data() + fitting, count - fitting, peer.process, overflow_tag, comm_,
                                 sends_);
        }
        events.clear();
    }
    mine_ = mine;
    if (mine.flags & window_flag::error) failure_ = failure;
    posted_ = true;
}

void FusedExchange::collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) {
    wait_(receives_, peer_processes_);
    posted_ = false;
    all = mine_;
    auto total = arrivals.size();
    for (auto const& peer : peers_) {
        all.combine(peer.in.report);
        total += static_cast<std::size_t>(peer.in.count);
    }
    auto place = arrivals.size();
    arrivals.resize(total);
    overflow_receives_.clear();
    for (auto const& peer : peers_) {
        auto const fitting = std::min(peer.in.count, inline_events);
        std::copy_n(peer.in.events.begin(), fitting, arrivals.begin() + static_cast<std::ptrdiff_t>(place));
        transfer::start_receive(arrivals.data() + place + fitting, peer.in.count - fitting, peer.process, overflow_tag,
                                comm_, overflow_receives_);
        place += static_cast<std::size_t>(peer.in.count);
    }
    wait_(overflow_receives_);
    if (all.flags & window_flag::error) failure = agree_failure(failure_, comm_);
}

}  // namespace orrery

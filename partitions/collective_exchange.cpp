// SPDX-License-Identifier: Apache-2.0
#include "partitions/collective_exchange.hpp"

#include "partitions/agree_failure.hpp"
#include "partitions/event_transfer.hpp"

#include <cstddef>
#include <cstring>

namespace orrery {
namespace {

constexpr int event_tag = 3;

// MPI_Op on reports. MPI promises no alignment of the buffers, hence the copies.
extern "C" void combine_reports(void* in, void* inout, int* length, MPI_Datatype*) {
    auto const* from = static_cast<std::byte const*>(in);
    auto* to = static_cast<std::byte*>(inout);
    for (int i = 0; i < *length; ++i, from += sizeof(WindowReport), to += sizeof(WindowReport)) {
        WindowReport a, b;
        std::memcpy(&a, from, sizeof a);
        std::memcpy(&b, to, sizeof b);
        b.combine(a);
        std::memcpy(to, &b, sizeof b);
    }
}

}  // namespace

CollectiveExchange::CollectiveExchange(MPI_Comm comm, double hang_limit_s) : wait_(comm, hang_limit_s) {
    MPI_Comm_dup(comm, &comm_);
    int index = 0, count = 1;
    MPI_Comm_rank(comm_, &index);
    MPI_Comm_size(comm_, &count);
    index_ = static_cast<std::uint32_t>(index);
    count_ = static_cast<std::uint32_t>(count);
    MPI_Type_contiguous(sizeof(WindowReport), MPI_BYTE, &report_type_);
    MPI_Type_commit(&report_type_);
    MPI_Op_create(combine_reports, 1, &combine_);
    held_.resize(count_);
    send_counts_.resize(count_);
    receive_counts_.resize(count_);
}

CollectiveExchange::~CollectiveExchange() {
    wait_(reduction_);
    MPI_Op_free(&combine_);
    MPI_Type_free(&report_type_);
    MPI_Comm_free(&comm_);
}

void CollectiveExchange::post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing,
                              Failure const& failure) {
    for (std::uint32_t target = 0; target < count_; ++target) {
        held_[target].clear();
        held_[target].swap(outgoing[target]);
        send_counts_[target] = static_cast<std::int64_t>(held_[target].size());
    }
    if (mine.flags & window_flag::error) failure_ = failure;
    mine_ = mine;
    MPI_Iallreduce(&mine_, &all_, 1, report_type_, combine_, comm_, &reduction_.emplace_back());
}

void CollectiveExchange::collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) {
    wait_(reduction_);
    reduction_.clear();
    all = all_;
    if (all.sent > 0) move_events(arrivals);
    if (all.flags & window_flag::error) failure = agree_failure(failure_, comm_);
}

void CollectiveExchange::move_events(std::vector<Event>& arrivals) {
    requests_.clear();
    MPI_Ialltoall(send_counts_.data(), 1, MPI_INT64_T, receive_counts_.data(), 1, MPI_INT64_T, comm_,
                  &requests_.emplace_back());
    wait_(requests_);
    requests_.clear();
    std::int64_t total = 0;
    for (auto const count : receive_counts_) total += count;
    auto place = arrivals.size();
    arrivals.resize(place + static_cast<std::size_t>(total));
    for (std::uint32_t step = 1; step < count_; ++step) {
        auto const source = (index_ + count_ - step) % count_;
        transfer::start_receive(arrivals.data() + place, receive_counts_[source], static_cast<int>(source), event_tag,
                                comm_, requests_);
        place += static_cast<std::size_t>(receive_counts_[source]);
    }
    for (std::uint32_t step = 1; step < count_; ++step) {
        auto const target = (index_ + step) % count_;
        transfer::start_send(held_[target].data(), send_counts_[target], static_cast<int>(target), event_tag, comm_,
                             requests_);
    }
    wait_(requests_);
}

}  // namespace orrery

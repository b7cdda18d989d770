// SPDX-License-Identifier: Apache-2.0
// The window exchange for many processes: one allreduce, and messages only where there is something to say.
#pragma once

#include "core/exchange.hpp"
#include "partitions/wait.hpp"

#include <mpi.h>

#include <vector>

namespace orrery {

// A quiet window is one allreduce of the report. When somebody sent something, counts follow by an all-to-all of one
// integer per pair, then events between the pairs that have any.
class CollectiveExchange final : public Exchange {
  public:
    explicit CollectiveExchange(MPI_Comm comm,
                                double hang_limit_s = default_hang_limit_s);  // collective; duplicates the communicator
    ~CollectiveExchange() override;
    CollectiveExchange(CollectiveExchange const&) = delete;
    CollectiveExchange& operator=(CollectiveExchange const&) = delete;

    std::uint32_t index() const override { return index_; }
    std::uint32_t count() const override { return count_; }
    void post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing, Failure const& failure) override;
    void collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) override;

  private:
    void move_events(std::vector<Event>& arrivals);

    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype report_type_ = MPI_DATATYPE_NULL;
    MPI_Op combine_ = MPI_OP_NULL;
    std::uint32_t index_ = 0, count_ = 1;
    PatientWait wait_;
    WindowReport mine_, all_;
    Failure failure_;
    std::vector<MPI_Request> reduction_, requests_;
    std::vector<std::vector<Event>> held_;  // by target, until they are sent
    std::vector<std::int64_t> send_counts_, receive_counts_;
};

}  // namespace orrery

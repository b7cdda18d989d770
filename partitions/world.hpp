// SPDX-License-Identifier: Apache-2.0
// MPI from start to end of the program, and the few collectives that set-up and reports need.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

// One per program, alive as long as any exchange. Started without mpirun it is one process. Every member function
// that is not an accessor is collective. An exception that leaves its scope ends all processes (MPI_Abort), because
// the others would wait for ever; what all processes throw together (WindowLoop::run) is caught inside.
class World {
  public:
    World(int& argc, char**& argv);
    ~World();
    World(World const&) = delete;
    World& operator=(World const&) = delete;

    std::uint32_t index() const { return index_; }
    std::uint32_t count() const { return count_; }
    bool root() const { return index_ == 0; }

    // How long a collective or an exchange made from here on waits for other processes (partitions/wait.hpp).
    void set_hang_limit(double seconds) const;
    double hang_limit_s() const;

    void barrier() const;
    // On process 0 the texts of all processes in order; elsewhere empty.
    std::vector<std::string> gather(std::string const& mine) const;
    // On process 0 the words of all processes, in order, end to end (equally many each); elsewhere empty.
    std::vector<std::int64_t> gather(std::vector<std::int64_t> const& mine) const;
    // The text of process 0, everywhere.
    std::string broadcast(std::string const& mine) const;
    // Element by element over processes; arrays of equal length everywhere; the result is on every process.
    std::vector<std::int64_t> sum(std::vector<std::int64_t> const& mine) const;
    std::vector<std::int64_t> max(std::vector<std::int64_t> const& mine) const;
    std::vector<std::int64_t> min(std::vector<std::int64_t> const& mine) const;
    std::int64_t sum(std::int64_t mine) const;
    std::int64_t max(std::int64_t mine) const;
    std::int64_t min(std::int64_t mine) const;
    // Sums modulo 2^64: digests.
    std::vector<std::uint64_t> sum(std::vector<std::uint64_t> const& mine) const;
    double max_of(double mine) const;

    // Not collective: prints and ends every process. For failures that leave the others waiting.
    [[noreturn]] void abort(std::string const& message, int exit_code) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
    std::uint32_t index_ = 0, count_ = 1;
};

}  // namespace orrery

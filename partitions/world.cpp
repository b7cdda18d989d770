// SPDX-License-Identifier: Apache-2.0
#include "partitions/world.hpp"

#include "core/check.hpp"
#include "partitions/wait.hpp"

#include <boost/mpi.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace orrery {
namespace {

namespace bmpi = boost::mpi;

// Defaults that make Open MPI 4.1 quiet where it is noisy by itself; whatever the user has set stays.
void set_quiet_defaults() {
    auto const prefer = [](char const* name, char const* value) { setenv(name, value, 0); };
    // Copying between processes through the kernel is forbidden in most containers: one warning per message.
    prefer("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    bool const launched = std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
    // Started by hand: no daemon needed, and none that refuses to run as root.
    if (!launched) prefer("OMPI_MCA_ess_singleton_isolated", "1");
}

template <class T, class Operation>
std::vector<T> reduced(bmpi::communicator const& comm, std::vector<T> const& mine, Operation operation) {
    std::vector<T> result(mine.size());
    if (!mine.empty()) bmpi::all_reduce(comm, mine.data(), static_cast<int>(mine.size()), result.data(), operation);
    return result;
}

}  // namespace

struct World::State {
    State(int& argc, char**& argv) : environment(argc, argv, bmpi::threading::funneled) {}
    bmpi::environment environment;
    bmpi::communicator all;
    PatientWait wait{MPI_COMM_WORLD};

    // Before a collective: until all processes have come to it. Patiently, because it may be a long file that one of
    // them writes, and with an end, because it may never come.
    bmpi::communicator const& assembled() const {
        if (all.size() == 1) return all;
        std::vector<MPI_Request> request(1);
        MPI_Ibarrier(all, request.data());
        wait(request);
        return all;
    }
};

World::World(int& argc, char**& argv) {
    set_quiet_defaults();
    state_ = std::make_unique<State>(argc, argv);
    ORRERY_ENSURE(bmpi::environment::thread_level() >= bmpi::threading::funneled,
                  "this MPI does not allow helper threads beside the one that communicates");
    index_ = static_cast<std::uint32_t>(state_->all.rank());
    count_ = static_cast<std::uint32_t>(state_->all.size());
}

World::~World() = default;

void World::set_hang_limit(double seconds) const {
    state_->wait.set_limit(seconds);
}
double World::hang_limit_s() const {
    return state_->wait.limit_s();
}

void World::barrier() const {
    state_->assembled();
}

std::vector<std::string> World::gather(std::string const& mine) const {
    std::vector<std::string> texts;
    if (root())
        bmpi::gather(state_->assembled(), mine, texts, 0);
    else
        bmpi::gather(state_->assembled(), mine, 0);
    return texts;
}

std::vector<std::int64_t> World::gather(std::vector<std::int64_t> const& mine) const {
    std::vector<std::int64_t> words;
    auto const size = static_cast<int>(mine.size());
    if (root())
        bmpi::gather(state_->assembled(), mine.data(), size, words, 0);
    else
        bmpi::gather(state_->assembled(), mine.data(), size, 0);
    return words;
}

std::string World::broadcast(std::string const& mine) const {
    auto text = mine;
    bmpi::broadcast(state_->assembled(), text, 0);
    return text;
}

std::vector<std::int64_t> World::sum(std::vector<std::int64_t> const& mine) const {
    return reduced(state_->assembled(), mine, std::plus<std::int64_t>());
}
std::vector<std::int64_t> World::max(std::vector<std::int64_t> const& mine) const {
    return reduced(state_->assembled(), mine, bmpi::maximum<std::int64_t>());
}
std::vector<std::int64_t> World::min(std::vector<std::int64_t> const& mine) const {
    return reduced(state_->assembled(), mine, bmpi::minimum<std::int64_t>());
}
std::vector<std::uint64_t> World::sum(std::vector<std::uint64_t> const& mine) const {
    return reduced(state_->assembled(), mine, std::plus<std::uint64_t>());
}
std::int64_t World::sum(std::int64_t mine) const {
    return sum(std::vector{mine})[0];
}
std::int64_t World::max(std::int64_t mine) const {
    return max(std::vector{mine})[0];
}
std::int64_t World::min(std::int64_t mine) const {
    return min(std::vector{mine})[0];
}
double World::max_of(double mine) const {
    return bmpi::all_reduce(state_->assembled(), mine, bmpi::maximum<double>());
}

void World::abort(std::string const& message, int exit_code) const {
    fmt::print(stderr, "orrery: process {} of {}: {}\n", index_, count_, message);
    std::fflush(stderr);
    bmpi::environment::abort(exit_code);
    std::abort();  // not reached: MPI_Abort does not return
}

}  // namespace orrery

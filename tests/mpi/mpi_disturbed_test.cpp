// SPDX-License-Identifier: Apache-2.0
// What else happens on the machine never changes a digest: a process that stands still, cores that others use.
#include "partitions/mpi_exchange.hpp"
#include "tests/mpi/mpi_gtest_main.hpp"
#include "tests/partitions/phold.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <unistd.h>

namespace orrery {
namespace {

using test::OwnedPhold;
using test::world;

std::vector<std::uint32_t> dealt(std::uint32_t processes) {
    std::vector<std::uint32_t> owner(test::lp_count);
    for (std::uint32_t lp = 0; lp < owner.size(); ++lp) owner[lp] = lp % processes;
    return owner;
}

Digest simulate(Exchange& exchange, std::vector<std::uint32_t> const& owner, WindowHook* hook = nullptr) {
    OwnedPhold part(owner, exchange.index());
    WindowLoop loop({.lookahead = test::lookahead}, part.local, owner, exchange, hook);
    loop.run();
    return part.digest();
}

Digest of_all(Digest const& mine) {
    auto const words = world().sum(std::vector{mine.low, mine.high});
    return {words[0], words[1]};
}

Digest reference() {
    LocalExchange alone;
    return simulate(alone, std::vector<std::uint32_t>(test::lp_count, 0));
}

// A child that does `work` until it is gone or its life ends.
class Child {
  public:
    template <class Work>
    explicit Child(Work const& work) : pid_(fork()) {
        if (pid_ != 0) return;
        work();
        _exit(0);
    }
    ~Child() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;

  private:
    pid_t pid_;
};

// Stands still for five seconds in the middle of the run; somebody else has to wake it.
class StandStill final : public WindowHook {
  public:
    Request at_window(WindowStatus const& status) override {
        if (status.windows == 40 && world().index() == world().count() - 1) {
            auto const me = getpid();
            Child const waker([me] {
                sleep(5);
                kill(me, SIGCONT);
            });
            auto const start = std::chrono::steady_clock::now();
            raise(SIGSTOP);
            stood_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
        return {};
    }
    double stood_s = 0;
};

TEST(MpiDisturbed, AProcessThatStandsStillForFiveSecondsChangesNothing) {
    StandStill hook;
    auto const exchange = make_exchange(world());
    EXPECT_EQ(of_all(simulate(*exchange, dealt(world().count()), &hook)), reference());
    EXPECT_GE(world().max_of(hook.stood_s), 4.9);
}

TEST(MpiDisturbed, FiftyRepetitionsUnderLoadGiveOneDigest) {
    auto const expected = reference();
    auto const spin = [] {
        while (true) getpid();
    };
    Child const beside(spin);  // of every process
    auto const exchange = make_exchange(world());
    for (int repetition = 0; repetition < 50; ++repetition)
        ASSERT_EQ(of_all(simulate(*exchange, dealt(world().count()))), expected) << repetition;
}

}  // namespace
}  // namespace orrery

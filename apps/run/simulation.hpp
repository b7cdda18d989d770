// SPDX-License-Identifier: Apache-2.0
// One process's share of a run: its LPs, the window loop, and what they counted.
#pragma once

#include "apps/run/heartbeat.hpp"
#include "apps/run/job.hpp"
#include "apps/run/run_sink.hpp"
#include "core/window_loop.hpp"
#include "netmodels/exchange/domain_lp.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

class Simulation {
  public:
    struct Options {
        RunLimits limits;
        Progress progress = Progress::off;
        Time window_width;              // zero: the lookahead
        std::int64_t earlier_rows = 0;  // of the legs before
        std::function<void(Time complete_until)> stream = [](Time) {};
        std::function<bool(WindowStatus const&)> checkpoint_due = [](WindowStatus const&) { return false; };
        std::function<void()> checkpoint = [] {};
        std::function<double()> checkpoint_cost_s = [] { return 0.0; };
        std::function<WriteSeconds()> writing = [] { return WriteSeconds{}; };
        GatherStatus gather = [](auto const&) { return std::vector<ProcessStatus>{}; };
    };

    // Builds the LPs that `owner` gives to exchange.index().
    Simulation(Job const& job, std::span<std::uint32_t const> owner, Exchange& exchange, TimelineSink& timeline,
               Options const& options);

    // To the end or to a limit; then the rows that sum over the run have been emitted as well.
    RunOutcome run();

    // Where nothing is in flight (WindowLoop::save): the LPs of this process, and what it has summed up.
    void save(StateSaver& saver);
    // Instead of run(): goes on from what `processes` processes saved, of which this one takes the sums of those given.
    void add_sums(StateSource& source, std::uint32_t process);
    RunOutcome run_from(StateSource& source, LoopProgress const& progress);

    // For drivers that step several simulations in one process.
    WindowLoop& loop() { return *loop_; }
    RunOutcome close();
    // Every row of this process with a time before it has been emitted.
    Time complete_until() const;

    // What this process did with its time.
    ProcessStatus status() const { return heartbeat_->status(loop_->outcome()); }

    using Share = RunShare;
    Share share() const;
    RunSink& sink() { return sink_; }
    // Lines that say what unfinished ranks wait for; empty when all are done.
    std::vector<std::string> waiting() const;

  private:
    std::unique_ptr<TransferEngine> make_engine(DomainId domain) const;
    void make_domains(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic);
    void make_sites(std::vector<LocalLp>& local, std::vector<LinkTraffic*>& traffic);
    bool mine(LpId lp) const { return owner_[lp.index()] == me_; }

    Job const* job_;
    std::span<std::uint32_t const> owner_;
    std::uint32_t me_;
    RunSink sink_;
    bool ended_ = false;  // closed after the last event
    std::unique_ptr<WorkloadRun> run_;
    std::vector<std::unique_ptr<DomainLp>> domains_;
    std::unique_ptr<Heartbeat> heartbeat_;
    std::unique_ptr<WindowLoop> loop_;
};

}  // namespace orrery

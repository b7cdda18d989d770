// SPDX-License-Identifier: Apache-2.0
// Runs of one job by processes that one thread steps, with checkpoints in memory.
#pragma once

#include "partitions/dry_run_exchange.hpp"
#include "tests/apps/apps_testing.hpp"
#include "tests/state_bytes.hpp"

#include <map>
#include <tuple>

namespace orrery::testing {

// States as bytes, by key.
class MemoryStates final : public StateSaver, public StateSource {
  public:
    void save(std::uint64_t key, std::function<void(StateStream&)> const& fill) override {
        StateBytes bytes;
        StateStream stream(bytes);
        fill(stream);
        stream.flush();
        states[key] = std::move(bytes.all);
    }
    void restore(std::uint64_t key, std::function<void(StateStream&)> const& read) override {
        StateStream stream(states.at(key));
        read(stream);
        stream.expect_end();
    }
    std::map<std::uint64_t, std::vector<std::byte>> states;
};

// Everything a run goes on from.
struct Saved {
    std::uint32_t processes = 0;
    LoopProgress progress;
    MemoryStates states;
    Rows rows;  // recorded until then
};

struct DryOptions {
    std::uint32_t processes = 1;
    std::string partition = "blocks";
    Time width, until = Time::infinity();
    std::int64_t every_windows = 0;  // zero: no checkpoint but that of the end
};

// What a run, or its last leg, came to.
struct DryEnd {
    std::string digest;
    RunOutcome outcome;
    std::int64_t checkpoints = 0, unfinished = 0, flows = 0;
    Saved last;     // the newest checkpoint taken on the way
    Saved stopped;  // the state in which the loop ended
    Rows rows;      // of the whole run, in canonical order
};

inline void sort_rows(Rows& rows) {
    auto const by = [](auto& list, auto const& key) {
        std::sort(list.begin(), list.end(), [&](auto const& a, auto const& b) { return key(a) < key(b); });
    };
    by(rows.operations, [](auto const& r) { return std::tuple(r.end, r.rank, r.sequence); });
    by(rows.collectives, [](auto const& r) { return std::tuple(r.last_end, r.domain, r.sequence); });
    by(rows.bins, [](auto const& r) { return std::tuple(r.bin, r.bundle); });
    by(rows.pairs, [](auto const& r) { return std::tuple(r.source, r.target); });
    by(rows.loads, [](auto const& r) { return std::tuple(r.group, r.layer, r.rank, r.slot); });
}

// All that a row says, for comparison.
inline std::vector<std::vector<std::int64_t>> row_words(Rows const& rows) {
    std::vector<std::vector<std::int64_t>> words;
    for (auto const& r : rows.operations)
        words.push_back({r.start.ps(), r.end.ps(), r.wait.ps(), r.exposed.ps(), r.rank, r.sequence, r.layer,
                         static_cast<int>(r.kind), r.microbatch});
    for (auto const& r : rows.collectives)
        words.push_back({r.first_start.ps(), r.last_start.ps(), r.last_end.ps(), r.bound.ps(), r.payload_bytes, r.group,
                         r.domain, r.sequence, r.bound_bundle, r.layer, static_cast<int>(r.kind), r.microbatch});
    for (auto const& r : rows.bins) words.push_back({r.bundle, r.bin, r.wire_bytes});
    for (auto const& r : rows.pairs) words.push_back({r.source, r.target, r.dispatch_bytes, r.combine_bytes});
    for (auto const& r : rows.loads) words.push_back({r.group, r.rank, r.layer, r.slot, r.expert, r.tokens});
    return words;
}

// From the start, or from where another run stood.
inline DryEnd dry_run(Job const& job, DryOptions const& options, Saved* from = nullptr) {
    auto const partition =
        make_partition(job.graph(), {.method = options.partition, .processes = options.processes, .seed = 1},
                       [&](LpId lp) { return job.lp_name(lp); });
    DryRun board(options.processes);
    DryEnd end;
    if (from) end.rows = from->rows;
    std::vector<std::unique_ptr<Simulation>> simulations;
    std::uint32_t saved = 0;
    auto const save_one = [&](std::uint32_t p, Saved& into) {
        if (saved == 0) into = Saved{.processes = options.processes, .progress = {}, .states = {}, .rows = end.rows};
        into.progress = simulations[p]->loop().progress();
        simulations[p]->save(into.states);
        if (++saved == options.processes) saved = 0;
    };
    for (std::uint32_t p = 0; p < options.processes; ++p) {
        Simulation::Options of{.limits = {.until = options.until}, .window_width = options.width};
        if (options.every_windows > 0)
            of.checkpoint_due = [&options](WindowStatus const& status) {
                return status.windows % options.every_windows == 0;
            };
        of.checkpoint = [&, p] {
            save_one(p, end.last);
            if (p == 0) ++end.checkpoints;
        };
        simulations.push_back(std::make_unique<Simulation>(job, partition.owner, board.exchange(p), end.rows, of));
    }
    if (from)
        for (std::uint32_t p = 0; p < from->processes; ++p) simulations[0]->add_sums(from->states, p);
    for (auto const& simulation : simulations) {
        if (from)
            simulation->loop().begin_from(from->states, from->progress);
        else
            simulation->loop().begin();
    }
    for (bool more = true; more;) {
        more = false;
        for (auto const& simulation : simulations) more = simulation->loop().advance() || more;
    }
    for (std::uint32_t p = 0; p < options.processes; ++p) save_one(p, end.stopped);
    Digest digest;
    for (auto const& simulation : simulations) {
        end.outcome = simulation->close();
        auto const share = simulation->share();
        digest.add(share.digest);
        end.unfinished += share.unfinished_ranks;
        end.flows += share.transfers.flows;
    }
    end.digest = digest.hex();
    sort_rows(end.rows);
    return end;
}

}  // namespace orrery::testing

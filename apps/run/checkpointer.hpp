// SPDX-License-Identifier: Apache-2.0
// When a run takes checkpoints, how all processes write one together, and how a run is found that can go on.
#pragma once

#include "apps/run/job.hpp"
#include "apps/run/limits.hpp"
#include "apps/run/simulation.hpp"
#include "io/checkpoint/checkpoint.hpp"
#include "io/timeline/part_writer.hpp"
#include "partitions/world.hpp"

#include <optional>

namespace orrery {

struct CheckpointWish {
    double interval_s = 600;   // wall clock; zero: none by the clock
    Time every;                // simulated time; zero: none
    std::int64_t windows = 0;  // zero: none
};

// What the legs before this one leave to it.
struct EarlierLegs {
    std::uint32_t legs = 0;
    std::uint32_t checkpoints = 0;  // number of the newest
    std::vector<PartRows> parts;
    double wall_s = 0, cpu_s = 0;

    std::int64_t rows() const;
    std::vector<PartSource> sources(std::filesystem::path const& run) const;
};

class Checkpointer {
  public:
    Checkpointer(World const& world, Job const& job, std::filesystem::path run, EarlierLegs earlier,
                 CheckpointWish wish);

    // Asked in every window. By the clock only process 0 asks for one, so that clocks need not agree.
    bool due(WindowStatus const& status);
    // Collective, where nothing is in flight. InputError on all processes when one cannot write; what was published
    // before stays.
    void take(Simulation& simulation, PartWriter& part);

    std::int64_t taken() const { return taken_; }
    std::int64_t bytes() const { return bytes_; }  // of the newest, all processes
    double seconds() const { return seconds_; }    // spent on all of them
    double cost_s() const;  // of one more: as the last, or guessed from the memory before the first

  private:
    World const* world_;
    Job const* job_;
    std::filesystem::path run_;
    EarlierLegs earlier_;
    CheckpointWish wish_;
    std::vector<FileFacts> inputs_;
    std::uint32_t number_;
    WallClock clock_;
    double next_s_;
    std::int64_t simulated_ = -1;  // intervals of simulated time behind us
    std::int64_t taken_ = 0, bytes_ = 0;
    double seconds_ = 0, last_s_ = 0;
};

// Collective. The newest checkpoint that can be used; process 0 says on stderr why a newer one cannot. InputError when
// there is none.
CheckpointManifest find_checkpoint(World const& world, std::filesystem::path const& run);
EarlierLegs legs_of(CheckpointManifest const& manifest);
std::vector<std::filesystem::path> state_files(std::filesystem::path const& run, CheckpointManifest const& manifest);

}  // namespace orrery

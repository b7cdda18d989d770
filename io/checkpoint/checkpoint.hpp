// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run on the disk: what one says of itself, how it appears all at once, which ones are there.
//
//   DIR/checkpoints/c000003/manifest.json   written last; the folder gets its name when all of it is on the disk
//   DIR/checkpoints/c000003/p0000.state     of process 0 (io/checkpoint/state_file.hpp)
#pragma once

#include "io/checkpoint/state_file.hpp"
#include "io/scenario/load.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace orrery {

// Rows of each table (TableId) that a process had recorded, in one leg of the run: what one launch of it simulates.
struct PartRows {
    std::uint32_t leg = 0, process = 0;
    std::vector<std::uint64_t> rows;
};

struct CheckpointManifest {
    std::uint32_t number = 0;
    std::string program;  // version, commit and checksum of the executable: states are bytes of its memory
    LoadedScenario loaded;
    std::vector<FileFacts> inputs;  // of the files that the scenario names, by path
    std::int64_t simulated_ps = 0, windows = 0, events = 0;
    std::uint32_t processes = 0, leg = 0;
    double wall_s = 0, cpu_s = 0;  // of all legs so far
    std::vector<PartRows> parts;
    std::vector<FileFacts> files;  // one per process
};

// This executable.
std::string program_identity();
// Of every file that the scenario names.
std::vector<FileFacts> input_facts(scenario::Scenario const& scenario);

std::filesystem::path checkpoints_of(std::filesystem::path const& run);
std::string checkpoint_name(std::uint32_t number);
std::filesystem::path state_path(std::filesystem::path const& checkpoint, std::uint32_t process);

// Where the files of a checkpoint are written before it is published, by all processes once one has begun it.
std::filesystem::path unpublished_checkpoint(std::filesystem::path const& run, std::uint32_t number);
void begin_checkpoint(std::filesystem::path const& run, std::uint32_t number);
// Once all files are on the disk. Afterwards the checkpoints older than the newest two are removed.
void publish_checkpoint(std::filesystem::path const& run, CheckpointManifest const& manifest);

// Numbers of the published checkpoints, newest first.
std::vector<std::uint32_t> published_checkpoints(std::filesystem::path const& run);

// What a run that goes on from this one does not need: it will give their numbers again.
void remove_checkpoints_after(std::filesystem::path const& run, std::uint32_t number);
void remove_checkpoints(std::filesystem::path const& run);

// Refuses, with an InputError that names the checkpoint, what is damaged or of another program, scenario or run.
CheckpointManifest read_manifest(std::filesystem::path const& run, std::uint32_t number);
void verify_file(std::filesystem::path const& checkpoint, FileFacts const& expected);
void verify_inputs(std::filesystem::path const& run, CheckpointManifest const& manifest);

}  // namespace orrery

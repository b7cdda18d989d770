// SPDX-License-Identifier: Apache-2.0
#include "apps/run/checkpointer.hpp"

#include "apps/run/agree.hpp"
#include "io/timeline/part_reader.hpp"

#include <cstdio>
#include <numeric>
#include <sstream>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// What each process tells process 0 of its share.
std::string share_text(FileFacts const& facts, RowCounts const& rows) {
    return fmt::format("{} {} {} {}", facts.name, facts.bytes, facts.checksum, fmt::join(rows, " "));
}

void add_share(CheckpointManifest& manifest, std::uint32_t process, std::string const& text) {
    std::istringstream in(text);
    FileFacts facts;
    PartRows part{.leg = manifest.leg, .process = process, .rows = {}};
    in >> facts.name >> facts.bytes >> facts.checksum;
    for (std::uint64_t rows = 0; in >> rows;) part.rows.push_back(rows);
    manifest.files.push_back(facts);
    manifest.parts.push_back(part);
}

RowCounts counts_of(PartRows const& part) {
    RowCounts counts{};
    ORRERY_ENSURE(part.rows.size() == counts.size(), "a checkpoint knows {} tables", part.rows.size());
    std::copy(part.rows.begin(), part.rows.end(), counts.begin());
    return counts;
}

void verify_part(fs::path const& run, PartRows const& part) {
    auto const path = part_path(run, part.leg, part.process);
    PartReader const reader({path});
    auto const wanted = counts_of(part);
    for (std::size_t table = 0; table < wanted.size(); ++table)
        ORRERY_VALIDATE(reader.rows(static_cast<TableId>(table)) >= wanted[table],
                        "cannot use {} ({} rows of {} where the checkpoint has seen {})", path.string(),
                        reader.rows(static_cast<TableId>(table)), timeline_table(static_cast<TableId>(table)).name,
                        wanted[table]);
}

}  // namespace

std::int64_t EarlierLegs::rows() const {
    std::uint64_t rows = 0;
    for (auto const& part : parts) rows = std::accumulate(part.rows.begin(), part.rows.end(), rows);
    return static_cast<std::int64_t>(rows);
}

std::vector<PartSource> EarlierLegs::sources(fs::path const& run) const {
    std::vector<PartSource> all;
    for (auto const& part : parts) all.push_back({part_path(run, part.leg, part.process), counts_of(part)});
    return all;
}

Checkpointer::Checkpointer(World const& world, Job const& job, fs::path run, EarlierLegs earlier, CheckpointWish wish)
    : world_(&world),
      job_(&job),
      run_(std::move(run)),
      earlier_(std::move(earlier)),
      wish_(wish),
      number_(earlier_.checkpoints),
      next_s_(wish.interval_s) {
    all_or_none(world, [&] {
        if (world.root()) inputs_ = input_facts(job.scenario());
    });
}

bool Checkpointer::due(WindowStatus const& status) {
    bool due = wish_.windows > 0 && status.windows % wish_.windows == 0;
    if (wish_.every > Time{}) {
        auto const passed = status.window.end.ps() / wish_.every.ps();
        due = due || (simulated_ >= 0 && passed > simulated_);
        simulated_ = passed;
    }
    if (world_->root() && wish_.interval_s > 0 && clock_.seconds() >= next_s_) {
        next_s_ = clock_.seconds() + wish_.interval_s;
        due = true;
    }
    return due;
}

void Checkpointer::take(Simulation& simulation, PartWriter& part) {
    WallClock const watch;
    auto const number = ++number_;
    all_or_none(*world_, [&] {
        if (world_->root()) begin_checkpoint(run_, number);
    });
    std::string mine;
    all_or_none(*world_, [&] {
        part.flush(simulation.complete_until());
        StateFileWriter file(state_path(unpublished_checkpoint(run_, number), world_->index()));
        simulation.save(file);
        mine = share_text(file.finish(), part.rows());
    });
    auto const shares = world_->gather(mine);
    auto const cpu = static_cast<double>(world_->sum(static_cast<std::int64_t>(cpu_seconds() * 1e6))) * 1e-6;
    auto const progress = simulation.loop().progress();
    all_or_none(*world_, [&] {
        if (!world_->root()) return;
        CheckpointManifest manifest{.number = number,
                                    .program = program_identity(),
                                    .loaded = job_->loaded(),
                                    .inputs = inputs_,
                                    .simulated_ps = progress.last.ps(),
                                    .windows = progress.windows,
                                    .events = progress.events,
                                    .processes = world_->count(),
                                    .leg = earlier_.legs,
                                    .wall_s = earlier_.wall_s + clock_.seconds(),
                                    .cpu_s = earlier_.cpu_s + cpu,
                                    .parts = earlier_.parts,
                                    .files = {}};
        for (std::uint32_t p = 0; p < shares.size(); ++p) add_share(manifest, p, shares[p]);
        publish_checkpoint(run_, manifest);
        bytes_ = 0;
        for (auto const& file : manifest.files) bytes_ += static_cast<std::int64_t>(file.bytes);
    });
    ++taken_;
    last_s_ = watch.seconds();
    seconds_ += last_s_;
}

// The state of the LPs is no larger than what the process holds, and a slow disk takes 200 MB/s.
double Checkpointer::cost_s() const {
    return taken_ > 0 ? last_s_ : static_cast<double>(peak_memory_bytes()) / 200e6;
}

CheckpointManifest find_checkpoint(World const& world, fs::path const& run) {
    auto const numbers = [&] {
        std::istringstream in(world.broadcast(fmt::format("{}", fmt::join(published_checkpoints(run), " "))));
        return std::vector<std::uint32_t>{std::istream_iterator<std::uint32_t>(in), {}};
    }();
    ORRERY_VALIDATE(!numbers.empty(),
                    "{} has no checkpoint (a run leaves one when it stops, and --checkpoint-interval)", run.string());
    std::optional<InputError> newest;
    for (auto const number : numbers) {
        try {
            CheckpointManifest manifest;
            all_or_none(world, [&] {
                manifest = read_manifest(run, number);
                if (world.root()) verify_inputs(run, manifest);
                auto const folder = checkpoints_of(run) / checkpoint_name(number);
                for (auto i = world.index(); i < manifest.files.size(); i += world.count())
                    verify_file(folder, manifest.files[i]);
                for (auto i = world.index(); i < manifest.parts.size(); i += world.count())
                    verify_part(run, manifest.parts[i]);
            });
            if (newest && world.root())
                fmt::print(stderr, "{}\nresuming from {} instead\n", newest->what(),
                           (checkpoints_of(run) / checkpoint_name(number)).string());
            return manifest;
        } catch (InputError const& error) {
            if (!newest) newest = error;
        }
    }
    throw InputError(*newest);
}

EarlierLegs legs_of(CheckpointManifest const& manifest) {
    return {.legs = manifest.leg + 1,
            .checkpoints = manifest.number,
            .parts = manifest.parts,
            .wall_s = manifest.wall_s,
            .cpu_s = manifest.cpu_s};
}

std::vector<fs::path> state_files(fs::path const& run, CheckpointManifest const& manifest) {
    std::vector<fs::path> paths;
    for (std::uint32_t p = 0; p < manifest.processes; ++p)
        paths.push_back(state_path(checkpoints_of(run) / checkpoint_name(manifest.number), p));
    return paths;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/recover.hpp"

#include "core/check.hpp"
#include "io/timeline/about.hpp"
#include "io/timeline/manifest_writer.hpp"
#include "io/timeline/merge.hpp"
#include "io/timeline/part_reader.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace orrery {
namespace {

namespace fs = std::filesystem;

// The legs that have left a part of some process, ascending.
std::vector<std::uint32_t> legs_in(fs::path const& directory) {
    std::vector<std::uint32_t> legs;
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(directory / "parts", error)) {
        unsigned leg = 0, process = 0;
        if (std::sscanf(entry.path().filename().c_str(), "l%u.p%u.h5", &leg, &process) == 2 &&
            entry.path() == part_path(directory, leg, process))
            legs.push_back(leg);
    }
    std::ranges::sort(legs);
    legs.erase(std::unique(legs.begin(), legs.end()), legs.end());
    return legs;
}

// One leg and what it built upon.
struct Leg {
    std::uint32_t number = 0, processes = 0;
    std::vector<PartSource> parts;  // earlier legs included
    Time complete_until = Time::infinity();
};

// Nothing when the leg was killed before all of its processes had begun: the tail is the last that each creates.
std::optional<Leg> open_leg(fs::path const& directory, std::uint32_t number) {
    auto const begun = [&](std::uint32_t process) {
        return fs::exists(tail_path(part_path(directory, number, process)));
    };
    if (!begun(0)) return std::nullopt;
    PartReader const first({part_path(directory, number, 0)});
    Leg leg{.number = number, .processes = first.setup().processes, .parts = first.setup().earlier};
    for (std::uint32_t p = 0; p < leg.processes; ++p) {
        if (!begun(p)) return std::nullopt;
        PartSource const source{part_path(directory, number, p)};
        leg.complete_until = std::min(leg.complete_until, PartReader(source).complete_until());
        leg.parts.push_back(source);
    }
    return leg;
}

// The leg that came furthest; of two that came equally far the later.
std::optional<Leg> furthest_leg(fs::path const& directory, std::vector<std::uint32_t> const& numbers) {
    std::optional<Leg> best;
    for (auto const number : numbers)
        if (auto leg = open_leg(directory, number); leg && (!best || leg->complete_until >= best->complete_until))
            best = std::move(leg);
    return best;
}

}  // namespace

Recovered recover_timeline(fs::path const& directory, fs::path const& file, Overwrite overwrite) {
    Recovered result{.file = file.empty() ? directory / "recovered.h5" : file};
    ORRERY_VALIDATE(fs::is_directory(directory), "cannot recover {} (no such directory)", directory.string());
    auto const legs = legs_in(directory);
    ORRERY_VALIDATE(!legs.empty(), "nothing to recover in {} ({}) {}", directory.string(),
                    fs::exists(directory / "run.h5") ? "its run.h5 is finished" : "it holds no parts of a run",
                    fs::exists(directory / "run.h5") ? "read that" : "name the --out directory of a run");
    ORRERY_VALIDATE(overwrite == Overwrite::yes || !fs::exists(result.file),
                    "{} exists (a recovery never overwrites) use --force to replace it", result.file.string());
    auto const leg = furthest_leg(directory, legs);
    ORRERY_VALIDATE(leg,
                    "nothing to recover in {} (part of a process is missing, or the run was killed before it began)",
                    directory.string());
    result.leg = leg->number;
    result.processes = leg->processes;
    result.complete_until = leg->complete_until;
    if (leg->number != legs.back())
        result.note = fmt::format("leg {} had not come further than leg {} and is left out", legs.back(), leg->number);

    auto parts = leg->parts;
    for (auto& source : parts) {
        PartReader const part(source);
        auto& rows = source.rows.emplace();
        for (std::size_t t = 0; t < rows.size(); ++t) {
            rows[t] = part.rows_before(static_cast<TableId>(t), leg->complete_until);
            result.rows[t] += rows[t];
        }
    }
    write_timeline(parts, result.file, {}, [&](hdf5::Group& timeline) {
        copy_about(directory, timeline);
        write_summary(timeline, {{"complete", std::int64_t{0}}, {"complete_until_ps", leg->complete_until.ps()}});
    });
    return result;
}

}  // namespace orrery

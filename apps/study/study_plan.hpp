// SPDX-License-Identifier: Apache-2.0
// A study as its file describes it: one scenario, axes of overrides, seeds; and its members, all combinations of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct StudyPlan {
    struct Variant {
        std::string name;
        std::vector<std::string> sets;  // path=value, as after --set
    };
    struct Axis {
        std::string name;
        std::vector<Variant> variants;
    };
    // Of one rank, one switch, one link (a direction), in whatever currency; unset: nobody asked for costs.
    struct Prices {
        double rank = 0, switch_chip = 0, link = 0;
    };

    std::string name;
    std::filesystem::path scenario;
    std::vector<Axis> axes;     // slowest first; failures, when there are any, are the last
    bool has_failures = false;  // the last axis; its first variant is what the others are held against
    std::uint64_t seeds = 1, first_seed = 1;
    std::optional<Prices> prices;
    std::uint64_t inputs = 0;  // checksum of what all members depend on: scenario, version
    // By cell, of the files that its scenario names: model, loads, placement, schedules, topology, graph.
    std::vector<std::uint64_t> files;
    std::vector<std::string> ignored;  // settings of a cell that cannot have an effect, with its variants

    std::uint64_t cells() const;  // combinations of variants
    std::uint64_t members() const { return cells() * seeds; }
    std::uint64_t cell_of(std::uint64_t member) const { return member / seeds; }
    std::uint64_t seed_of(std::uint64_t member) const { return first_seed + member % seeds; }
    // By axis, which variant.
    std::vector<std::size_t> variants_of(std::uint64_t cell) const;
    std::vector<std::string> sets_of(std::uint64_t member) const;
    // "fabric: torus, placement: eplb"; empty without axes.
    std::string name_of_cell(std::uint64_t cell) const;
    // What is stored with a result, so that it is taken for this member's only as long as nothing it depends on
    // changed.
    std::uint64_t key_of(std::uint64_t member) const;
    // The command that runs one member alone, with its timeline.
    std::string replay(std::uint64_t member) const;
};

// Throws InputError; its text has one line per problem, like that of a scenario. The scenario of every cell is loaded
// here, so that a mistake in a variant is found before anything runs.
StudyPlan load_study(std::filesystem::path const& file);

}  // namespace orrery

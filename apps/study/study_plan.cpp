// SPDX-License-Identifier: Apache-2.0
#include "apps/study/study_plan.hpp"

#include "core/check.hpp"
#include "core/checksum.hpp"
#include "io/scenario/document.hpp"
#include "io/scenario/load.hpp"
#include "io/scenario/nearest.hpp"
#include "io/scenario/schema.hpp"
#include "io/scenario/value.hpp"
#include "orrery_version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using namespace loader;

constexpr std::uint64_t most_members = 10'000'000;

// Columns of study.csv and of both tables of study.h5, in which every axis has a column too (study_files.cpp); failure
// is the axis of the failures.
constexpr std::array taken_names{"failure",
                                 "seed",
                                 "step",
                                 "ideal",
                                 "hot_use",
                                 "hot_link",
                                 "digest",
                                 "error",
                                 "seeds",
                                 "status",
                                 "p5",
                                 "p50",
                                 "p95",
                                 "p5_s",
                                 "p50_s",
                                 "p95_s",
                                 "of_bound",
                                 "worst_seed",
                                 "worst_digest",
                                 "hottest_class",
                                 "hottest_link",
                                 "hottest_use",
                                 "goodput",
                                 "goodput_bytes_per_s",
                                 "affected_ranks",
                                 "cost",
                                 "cost_times_step",
                                 "links_used"};

std::string file_text(fs::path const& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    ORRERY_VALIDATE(in.good() && !fs::is_directory(path), "{} (cannot be read) name a study file", path.string());
    return text.str();
}

std::uint64_t checksum(std::string_view text) {
    Checksum sum;
    sum.add(std::as_bytes(std::span(text)));
    return sum.value();
}

// What a scenario's files hold. Each is read once, however many cells name it.
class FileSums {
  public:
    std::uint64_t of(scenario::Scenario const& scenario) {
        std::string text;
        visit_fields(scenario, "", [&](std::string const& path, Message const& message, Field const& field) {
            if (is_message(field) || facts_of(field).unit != scenario::PATH || !is_set(message, field)) return;
            text += path;
            for (auto const& file : with_siblings(stored_text(message, field)))
                text += fmt::format(" {} {:016x}", file.filename().string(), of(file));
            text += '\n';
        });
        // A graph was read into the scenario.
        if (scenario.fabric().kind() == "graph") text += scenario.fabric().graph().SerializeAsString();
        return checksum(text);
    }

  private:
    // One rank's file PREFIX.R.et stands for those of all ranks, and PREFIX.json beside them is read too.
    std::vector<fs::path> const& with_siblings(fs::path const& file) {
        auto& files = siblings_[file];
        if (!files.empty()) return files;
        files = {file};
        auto const stem = file.stem().string();
        auto const dot = stem.rfind('.');
        if (dot == std::string::npos || stem.find_first_not_of("0123456789", dot + 1) != std::string::npos)
            return files;
        auto const prefix = stem.substr(0, dot);
        std::error_code error;
        for (auto const& entry : fs::directory_iterator(file.parent_path(), error)) {
            auto const name = entry.path().filename().string();
            if (name == prefix + ".json" ||
                (name.starts_with(prefix + ".") && entry.path().extension() == file.extension()))
                files.push_back(entry.path());
        }
        std::ranges::sort(files);
        return files;
    }

    // 0: it cannot be read, which the loader allows of files that nothing uses.
    std::uint64_t of(fs::path const& file) {
        auto const [known, is_new] = sums_.try_emplace(file, 0);
        if (!is_new) return known->second;
        std::error_code error;
        std::ifstream in(file, std::ios::binary);
        if (!in || !fs::is_regular_file(file, error)) return 0;
        Checksum sum;
        std::vector<char> piece(1U << 20U);
        while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)
            sum.add(std::as_bytes(std::span(piece).first(static_cast<std::size_t>(in.gcount()))));
        return known->second = sum.value();
    }

    std::map<fs::path, std::vector<fs::path>> siblings_;
    std::map<fs::path, std::uint64_t> sums_;
};

void load_cells(StudyPlan& plan, std::string const& source) {
    FileSums sums;
    for (std::uint64_t cell = 0; cell < plan.cells(); ++cell) {
        auto const name = plan.name_of_cell(cell);
        auto sets = plan.sets_of(cell * plan.seeds);
        sets.erase(sets.begin());  // the seed
        try {
            auto const loaded = load_scenario(plan.scenario, sets);
            plan.files.push_back(sums.of(loaded.scenario));
            for (auto const& sentence : loaded.ignored)
                plan.ignored.push_back(name.empty() ? sentence : name + ": " + sentence);
        } catch (InputError const& error) {
            if (name.empty()) throw;
            throw InputError(fmt::format("{}: {} (its scenario is refused) mend it:\n{}", source, name, error.what()));
        }
    }
}

class StudyReader {
  public:
    StudyReader(Document const& document, std::string source, Problems& problems)
        : document_(document), source_(std::move(source)), problems_(problems) {}

    void read(StudyPlan& plan) {
        auto const& root = document_[document_.root];
        if (root.kind != loader::NodeKind::map)
            return refuse(root.mark, "the file is not a study (it has no keys) see docs/study.md");
        for (auto const& [key, mark, index] : root.entries) {
            auto const& node = document_[index];
            if (key == "name")
                plan.name = text(node, mark, key);
            else if (key == "scenario")
                plan.scenario = text(node, mark, key);
            else if (key == "matrix")
                read_matrix(node, mark, plan);
            else if (key == "failures")
                read_failures(node, mark, plan);
            else if (key == "seeds")
                plan.seeds = number(node, mark, key, 1);
            else if (key == "first_seed")
                plan.first_seed = number(node, mark, key, 0);
            else if (key == "prices")
                read_prices(node, mark, plan);
            else
                unknown(mark, key, {"name", "scenario", "matrix", "failures", "seeds", "first_seed", "prices"});
        }
        if (plan.scenario.empty()) refuse(root.mark, "scenario is missing (a study changes one) name its file");
        if (failures_) {
            plan.axes.push_back(std::move(*failures_));
            plan.has_failures = true;
        }
    }

  private:
    void refuse(Mark mark, std::string const& what) { problems_.add({source_, mark}, what); }
    void unknown(Mark mark, std::string const& key, std::vector<std::string> const& known) {
        auto const near = nearest_name(key, known);
        refuse(mark, fmt::format("{} is unknown (a study has no such key) {}", shown(key),
                                 near.empty() ? "known here: " + join(known, ", ") : "did you mean " + near + "?"));
    }

    std::string text(loader::Node const& node, Mark mark, std::string const& key) {
        if (node.kind == loader::NodeKind::scalar) return node.text;
        refuse(mark, fmt::format("{} is not one text (it must be) write it behind the colon", key));
        return {};
    }

    template <class Number = std::uint64_t>
    Number number(loader::Node const& node, Mark mark, std::string const& key, Number least) {
        Number value{};
        auto const* const last = node.text.data() + node.text.size();
        auto const read = std::from_chars(node.text.data(), last, value);
        if (node.kind == loader::NodeKind::scalar && read.ec == std::errc{} && read.ptr == last && value >= least)
            return value;
        refuse(mark, fmt::format("{} = {} (not a number of at least {}) write a number", key, shown(node.text), least));
        return least;
    }

    // One override, or a list of them.
    std::vector<std::string> sets(loader::Node const& node, Mark mark, std::string const& name) {
        std::vector<std::string> list;
        auto const add = [&](loader::Node const& item, Mark at) {
            auto const equals = item.text.find('=');
            bool const is_set = item.kind == loader::NodeKind::scalar && equals != std::string::npos;
            if (is_set && item.text.substr(0, equals) == "seed")
                refuse(at, fmt::format("{} holds {} (the study counts seeds itself) use seeds and first_seed",
                                       shown(name), shown(item.text)));
            else if (is_set)
                list.push_back(item.text);
            else
                refuse(at,
                       fmt::format("{} holds {} (not path=value) write it like --set, in quotes when it has "
                                   "brackets: \"fabric.degrade=[{{links: x*, down: true}}]\"",
                                   shown(name),
                                   item.kind == loader::NodeKind::scalar ? shown(item.text) : "more than one text"));
        };
        if (node.kind == loader::NodeKind::list)
            for (auto const index : node.items) add(document_[index], document_[index].mark);
        else if (node.kind != loader::NodeKind::nothing)
            add(node, mark);
        return list;
    }

    std::vector<StudyPlan::Variant> variants(loader::Node const& node, Mark mark, std::string const& axis) {
        std::vector<StudyPlan::Variant> list;
        if (node.kind == loader::NodeKind::map)
            for (auto const& [name, at, index] : node.entries) list.push_back({name, sets(document_[index], at, name)});
        if (list.empty())
            refuse(mark, fmt::format("{} has no variants (an axis needs some) write name: [path=value, ...] below it",
                                     shown(axis)));
        return list;
    }

    void read_matrix(loader::Node const& node, Mark mark, StudyPlan& plan) {
        if (node.kind != loader::NodeKind::map)
            return refuse(mark, "matrix is no group of axes (it must be) write an axis and its variants below it");
        for (auto const& [axis, at, index] : node.entries) {
            if (std::ranges::find(taken_names, axis) != taken_names.end())
                refuse(at, fmt::format("{} is no name for an axis (a column of the tables has it) choose another than "
                                       "{}",
                                       axis, fmt::join(taken_names, ", ")));
            plan.axes.push_back({axis, variants(document_[index], at, axis)});
        }
    }

    void read_failures(loader::Node const& node, Mark mark, StudyPlan&) {
        failures_ = StudyPlan::Axis{"failure", variants(node, mark, "failures")};
    }

    void read_prices(loader::Node const& node, Mark mark, StudyPlan& plan) {
        if (node.kind != loader::NodeKind::map)
            return refuse(mark, "prices is no group (it must be) write rank, switch and link below it");
        plan.prices.emplace();
        for (auto const& [key, at, index] : node.entries) {
            auto* price = key == "rank"     ? &plan.prices->rank
                          : key == "switch" ? &plan.prices->switch_chip
                          : key == "link"   ? &plan.prices->link
                                            : nullptr;
            if (price == nullptr)
                unknown(at, key, {"rank", "switch", "link"});
            else
                *price = number<double>(document_[index], at, key, 0.0);
        }
    }

    Document const& document_;
    std::string source_;
    Problems& problems_;
    std::optional<StudyPlan::Axis> failures_;
};

}  // namespace

std::uint64_t StudyPlan::cells() const {
    std::uint64_t count = 1;
    for (auto const& axis : axes) count *= axis.variants.size();
    return count;
}

std::vector<std::size_t> StudyPlan::variants_of(std::uint64_t cell) const {
    std::vector<std::size_t> variants(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; cell /= axes[a].variants.size())
        variants[a] = static_cast<std::size_t>(cell % axes[a].variants.size());
    return variants;
}

std::vector<std::string> StudyPlan::sets_of(std::uint64_t member) const {
    std::vector<std::string> sets{fmt::format("seed={}", seed_of(member))};
    auto const variants = variants_of(cell_of(member));
    for (std::size_t a = 0; a < axes.size(); ++a) {
        auto const& of_variant = axes[a].variants[variants[a]].sets;
        sets.insert(sets.end(), of_variant.begin(), of_variant.end());
    }
    return sets;
}

std::string StudyPlan::name_of_cell(std::uint64_t cell) const {
    std::string text;
    auto const variants = variants_of(cell);
    for (std::size_t a = 0; a < axes.size(); ++a)
        text += fmt::format("{}{}: {}", a > 0 ? ", " : "", axes[a].name, axes[a].variants[variants[a]].name);
    return text;
}

std::uint64_t StudyPlan::key_of(std::uint64_t member) const {
    auto text = fmt::format("{:016x}{:016x}", inputs, files[cell_of(member)]);
    for (auto const& set : sets_of(member)) text += '\n' + set;
    return checksum(text);
}

std::string StudyPlan::replay(std::uint64_t member) const {
    auto text = "orrery run " + scenario.string();
    for (auto const& set : sets_of(member)) text += " --set '" + set + "'";
    return text;
}

StudyPlan load_study(fs::path const& file) {
    auto const text = file_text(file);
    StudyPlan plan;
    Problems problems;
    auto const source = shown(file.string(), longest_path);
    auto const document = parse_document(text, source, Positions::shown, problems);
    if (document) StudyReader(*document, source, problems).read(plan);
    problems.raise_if_any();
    if (plan.name.empty()) plan.name = file.stem().string();
    plan.scenario = (file.parent_path() / plan.scenario).lexically_normal();
    plan.inputs = checksum(file_text(plan.scenario) + '\n' + std::string{version_text} + std::string{commit_text});
    double members = static_cast<double>(plan.seeds);
    for (auto const& axis : plan.axes) members *= static_cast<double>(axis.variants.size());
    ORRERY_VALIDATE(members <= static_cast<double>(most_members),
                    "{} has {:.3g} members (at most {}) take fewer variants or seeds", source, members, most_members);
    load_cells(plan, source);
    return plan;
}

}  // namespace orrery

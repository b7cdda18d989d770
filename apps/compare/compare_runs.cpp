// SPDX-License-Identifier: Apache-2.0
#include "apps/compare/compare_runs.hpp"

#include "apps/report/ideal_step.hpp"
#include "io/scenario/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace orrery {
namespace {

using Difference = RunDifference;

// A change of the step below this share is called none.
constexpr double noticeable = 1e-3;
constexpr std::size_t most_links = 6;

double change(double before, double after) {
    return before > 0 ? after / before - 1 : 0;
}

std::string signed_percent(double share) {
    return fmt::format("{:+.1f} %", share * 100);
}

std::string time_text(double seconds) {
    return to_string(Time::from_ps(std::llround(seconds * 1e12)));
}

// What a run said about settings that had no effect, by the path that the sentence begins with.
std::string why_without_effect(RunFile const& run, std::string const& path) {
    for (auto const& sentence : run.details().at("ignored")) {
        auto const text = sentence.get<std::string>();
        if (text.starts_with(path + " ") || path.starts_with(text.substr(0, text.find(' ')) + '.')) return text;
    }
    return {};
}

std::vector<Difference::Input> inputs(RunFile const& before, RunFile const& after) {
    auto const a = stored_values(before.canonical()), b = stored_values(after.canonical());
    std::set<std::string> paths;
    for (auto const* values : {&a, &b})
        for (auto const& [path, value] : *values) paths.insert(path);
    std::vector<Difference::Input> list;
    auto const value = [](auto const& values, std::string const& path) {
        auto const found = values.find(path);
        return found == values.end() ? std::string{} : found->second;
    };
    for (auto const& path : paths) {
        Difference::Input input{path, value(a, path), value(b, path), why_without_effect(after, path)};
        if (input.before == input.after) continue;
        if (input.without_effect.empty()) input.without_effect = why_without_effect(before, path);
        list.push_back(std::move(input));
    }
    return list;
}

Json const* operation_named(RunFile const& run, std::string const& name) {
    for (auto const& operation : run.details().at("operations"))
        if (operation.at("name") == name) return &operation;
    return nullptr;
}

std::string bound_text(Json const& operation) {
    auto const by = operation.at("bound_by").get<std::string>(), link = operation.at("bound_link").get<std::string>();
    return fmt::format("{}{}{}", time_text(operation.at("bound_s").get<double>()), by.empty() ? "" : " by " + by,
                       link.empty() ? "" : " (" + link + ")");
}

// What moved one part of the step: its bound, how ranks arrive, or how often it runs.
std::string why_moved(RunFile const& before, RunFile const& after, StepParts::Part const& part) {
    auto const imbalance = [](RunFile const& run) { return run.real("summary", "imbalance_ranks"); };
    if (part.sort == StepParts::Sort::idle) return "what computes and what moves data overlap differently";
    auto name = part.name;
    bool const waits = part.sort == StepParts::Sort::wait;
    if (waits) name = name.substr(name.rfind(' ') + 1);
    auto const *a = operation_named(before, name), *b = operation_named(after, name);
    if (a == nullptr || b == nullptr) return fmt::format("only one of the runs has {}", name);
    if ((*a)["count"] != (*b)["count"])
        return fmt::format("{} operations instead of {}", (*b)["count"].dump(), (*a)["count"].dump());
    if (waits) {
        if (std::abs(change(imbalance(before), imbalance(after))) > noticeable)
            return fmt::format("ranks get there {} evenly: largest over mean load {:.3f} -> {:.3f}",
                               imbalance(after) > imbalance(before) ? "less" : "more", imbalance(before),
                               imbalance(after));
        return "ranks get there at other times";
    }
    auto const bound_a = (*a)["bound_s"].get<double>(), bound_b = (*b)["bound_s"].get<double>();
    if (std::abs(change(bound_a, bound_b)) > noticeable || (*a)["bound_by"] != (*b)["bound_by"])
        return fmt::format("its bound goes from {} to {}", bound_text(*a), bound_text(*b));
    return "the same bound, reached less or more closely";
}

std::vector<Difference::Part> parts(RunFile const& before, RunFile const& after) {
    auto const a = step_parts(before), b = step_parts(after);
    std::vector<Difference::Part> list;
    std::map<std::string, std::size_t> place;
    std::vector<StepParts::Part> described;
    for (auto const& part : a.parts) {
        place.emplace(part.name, list.size());
        list.push_back({part.name, name_of(part.sort), part.seconds, 0, {}});
        described.push_back(part);
    }
    for (auto const& part : b.parts) {
        auto const [found, fresh] = place.try_emplace(part.name, list.size());
        if (fresh) {
            list.push_back({part.name, name_of(part.sort), 0, 0, {}});
            described.push_back(part);
        }
        list[found->second].after_s = part.seconds;
    }
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].before_s != list[i].after_s) list[i].why = why_moved(before, after, described[i]);
    std::ranges::stable_sort(list, [](auto const& x, auto const& y) {
        return std::abs(x.after_s - x.before_s) > std::abs(y.after_s - y.before_s);
    });
    return list;
}

// By name; of each class the hottest, where names are not shared.
std::vector<Difference::Links> links(RunFile const& before, RunFile const& after) {
    LinkColumns const a(before), b(after);
    auto const by = [](LinkColumns const& links, std::vector<std::string> const& keys) {
        std::map<std::string, double> most;
        for (std::size_t row = 0; row < links.size(); ++row) {
            auto& known = most[keys[row]];
            known = std::max(known, links.utilisation[row]);
        }
        return most;
    };
    auto left = by(a, a.name), right = by(b, b.name);
    bool const shared = std::ranges::any_of(left, [&](auto const& entry) { return right.contains(entry.first); });
    if (!shared) {
        left = by(a, a.link_class);
        right = by(b, b.link_class);
    }
    std::vector<Difference::Links> list;
    for (auto const& [name, used] : left) {
        auto const found = right.find(name);
        list.push_back({name, used, found == right.end() ? 0 : found->second});
    }
    for (auto const& [name, used] : right)
        if (!left.contains(name)) list.push_back({name, 0, used});
    std::erase_if(list, [](auto const& l) { return l.before == l.after; });
    std::ranges::stable_sort(
        list, [](auto const& x, auto const& y) { return std::abs(x.after - x.before) > std::abs(y.after - y.before); });
    list.resize(std::min(list.size(), most_links));
    return list;
}

std::vector<std::string> verdict(Difference const& d) {
    std::vector<std::string> lines;
    auto const step = change(d.before_s, d.after_s);
    if (d.identical) {
        if (d.inputs.empty()) {
            lines.emplace_back("Nothing changed: the inputs are equal, and so is every result, bit for bit.");
            return lines;
        }
        lines.emplace_back("No result changed, bit for bit, although inputs differ:");
        for (auto const& input : d.inputs)
            lines.push_back(input.without_effect.empty()
                                ? fmt::format("  {}: nothing in this workload depends on it", input.path)
                                : "  " + input.without_effect);
        return lines;
    }
    if (d.inputs.empty())
        lines.emplace_back(
            "The inputs are equal but not the results: other versions, or other files behind the inputs.");
    if (std::abs(step) < noticeable) {
        lines.push_back(
            fmt::format("The step takes as long as before ({}), although something moved:", signed_percent(step)));
    } else {
        lines.push_back(fmt::format("The step takes {} {}: {} instead of {} ({}).",
                                    time_text(std::abs(d.after_s - d.before_s)), step > 0 ? "longer" : "less",
                                    time_text(d.after_s), time_text(d.before_s), signed_percent(step)));
    }
    std::size_t named = 0;
    for (auto const& part : d.parts) {
        auto const moved = part.after_s - part.before_s;
        if (std::abs(moved) < 0.05 * std::abs(d.after_s - d.before_s) || moved == 0 || named == 3) break;
        lines.push_back(
            fmt::format("  {} {}{}: {}", part.name, moved > 0 ? "+" : "-", time_text(std::abs(moved)), part.why));
        ++named;
    }
    if (!d.links.empty())
        lines.push_back(fmt::format("  the link that moved most: {}, {:.1f} % -> {:.1f} % busy", d.links.front().name,
                                    d.links.front().before * 100, d.links.front().after * 100));
    else
        lines.emplace_back("  every link carries what it carried before");
    return lines;
}

}  // namespace

RunDifference compare_runs(RunFile const& before, RunFile const& after) {
    RunDifference d;
    d.inputs = inputs(before, after);
    d.identical = before.text("manifest", "digest") == after.text("manifest", "digest");
    d.before_s = before.step().seconds();
    d.after_s = after.step().seconds();
    d.parts = parts(before, after);
    d.links = links(before, after);
    d.verdict = verdict(d);
    return d;
}

std::string text_of(RunDifference const& d) {
    std::string text;
    auto const line = [&](std::string const& content) { text += content + '\n'; };
    for (auto const& sentence : d.verdict) line(sentence);
    line("");
    line(d.inputs.empty() ? "Inputs: equal"
                          : fmt::format("{:<44} {:>20} {:>20}", "inputs that differ", "before", "after"));
    auto const shown = [](std::string const& value) { return value.empty() ? std::string{"not set"} : value; };
    for (auto const& input : d.inputs)
        line(fmt::format("{:<44} {:>20} {:>20}", input.path, shown(input.before), shown(input.after)));
    if (d.identical) return text;
    line("");
    line(fmt::format("{:<26} {:>12} {:>12} {:>12}", "mean rank's step", "before", "after", "difference"));
    for (auto const& part : d.parts)
        line(fmt::format(
            "{:<26} {:>12} {:>12} {:>12}", part.name, time_text(part.before_s), time_text(part.after_s),
            (part.after_s < part.before_s ? "-" : "+") + time_text(std::abs(part.after_s - part.before_s))));
    line(fmt::format("{:<26} {:>12} {:>12} {:>12}", "step", time_text(d.before_s), time_text(d.after_s),
                     signed_percent(change(d.before_s, d.after_s))));
    if (d.links.empty()) return text;
    line("");
    line(fmt::format("{:<44} {:>12} {:>12}", "links that moved most, mean use", "before", "after"));
    for (auto const& link : d.links)
        line(fmt::format("{:<44} {:>11.1f}% {:>11.1f}%", link.name, link.before * 100, link.after * 100));
    return text;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/findings.hpp"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

constexpr std::size_t most_listed = 50;

}  // namespace

std::string FilePlace::text() const {
    if (unit == Unit::file) return file;
    return fmt::format("{}:{}{}", file, unit == Unit::line ? "" : " node ", number);
}

void Findings::mend(FilePlace const& place, std::string_view problem, std::string_view fix, std::string_view taken) {
    if (strictness_ == Strictness::strict) {
        refuse(place, problem, fmt::format("{}; lenient: {}", fix, taken));
        return;
    }
    ++report.mended_count;
    if (report.mended.size() < most_kept)
        report.mended.push_back(fmt::format("{}: {}: {}", place.text(), problem, taken));
}

void Findings::refuse(FilePlace const& place, std::string_view problem, std::string_view fix) {
    if (!full()) problems_.push_back({place, problems_.size(), fmt::format("{}: {} {}", place.text(), problem, fix)});
}

void Findings::raise_if_any() {
    if (problems_.empty()) return;
    std::sort(problems_.begin(), problems_.end(), [](Problem const& a, Problem const& b) {
        return std::tie(a.place.file, a.place.number, a.order) < std::tie(b.place.file, b.place.number, b.order);
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(problems_.size(), most_listed); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : "\n", problems_[i].text);
    if (problems_.size() > most_listed)
        text += fmt::format("\n... and {}{} more", full() ? "at least " : "", problems_.size() - most_listed);
    throw InputError(text);
}

void Findings::ignores(std::string_view what, FilePlace const& place, std::int64_t count) {
    add(report.ignored, what, count, place.text());
}

void Findings::assumes(std::string text) {
    auto& list = report.assumptions;
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

void Findings::add(std::vector<ImportReport::Count>& list, std::string_view what, std::int64_t count,
                   std::string_view first) {
    for (auto& entry : list)
        if (entry.what == what) {
            entry.count += count;
            return;
        }
    list.push_back({std::string(what), count, std::string(first)});
}

}  // namespace orrery

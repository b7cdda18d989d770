// SPDX-License-Identifier: Apache-2.0
#include "apps/run/process_status.hpp"

#include "core/check.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

std::vector<std::int64_t> ProcessStatus::words() const {
    auto const micro = [](double seconds) { return std::llround(seconds * 1e6); };
    return {events, pending, rows, memory_bytes, micro(busy_s), micro(sync_s), micro(write_s)};
}

std::vector<ProcessStatus> ProcessStatus::from_words(std::span<std::int64_t const> words) {
    ORRERY_ENSURE(words.size() % word_count == 0, "{} words of status", words.size());
    std::vector<ProcessStatus> all;
    for (std::size_t at = 0; at < words.size(); at += word_count) {
        auto const seconds = [&](std::size_t i) { return static_cast<double>(words[at + i]) * 1e-6; };
        all.push_back({words[at], words[at + 1], words[at + 2], words[at + 3], seconds(4), seconds(5), seconds(6)});
    }
    return all;
}

double busy_imbalance(std::span<ProcessStatus const> all) {
    double sum = 0, most = 0;
    for (auto const& process : all) {
        sum += process.busy_s;
        most = std::max(most, process.busy_s);
    }
    return sum > 0 ? most * static_cast<double>(all.size()) / sum : 1;
}

double sync_share(std::span<ProcessStatus const> all) {
    double active = 0, waiting = 0;
    for (auto const& process : all) {
        active += process.active_s();
        waiting += process.sync_s;
    }
    return active > 0 ? waiting / active : 0;
}

std::int64_t total_rows(std::span<ProcessStatus const> all) {
    std::int64_t rows = 0;
    for (auto const& process : all) rows += process.rows;
    return rows;
}

std::string status_table(std::span<ProcessStatus const> all, std::size_t limit) {
    auto text = fmt::format("  {:>7} {:>13} {:>11} {:>7} {:>8} {:>8} {:>10}\n", "process", "events", "pending", "busy",
                            "waiting", "writing", "memory");
    for (std::size_t p = 0; p < std::min(all.size(), limit); ++p) {
        auto const& process = all[p];
        auto const percent = [&](double seconds) {
            return fmt::format("{:.1f} %", process.active_s() > 0 ? seconds / process.active_s() * 100 : 0);
        };
        text += fmt::format("  {:>7} {:>13} {:>11} {:>7} {:>8} {:>8} {:>10}\n", p, process.events, process.pending,
                            percent(process.busy_s), percent(process.sync_s), percent(process.write_s),
                            bytes_text(process.memory_bytes));
    }
    if (all.size() > limit) text += fmt::format("  and {} more\n", all.size() - limit);
    return text;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What every benchmark prints: rows of {case, metric, value, bar, holds}; --json for programs, --check for an exit
// code.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::bench {

// CPU time of this process: a busy machine next door does not show in it.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum class Bar { none, at_least, at_most };

struct Row {
    std::string name, metric;
    double value = 0;
    Bar kind = Bar::none;
    double bar = 0;

    bool holds() const {
        if (kind == Bar::none) return true;
        return kind == Bar::at_least ? value >= bar : value <= bar;
    }
};

// Usage: Rows rows(argc, argv); rows.add(...); return rows.finish();
class Rows {
  public:
    Rows(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            std::string_view const argument = argv[i];
            if (argument == "--json")
                json_ = true;
            else if (argument == "--check")
                check_ = true;
            else
                usage_error_ = true;
        }
        if (usage_error_) fmt::print(stderr, "usage: {} [--json] [--check]\n", argv[0]);
    }
    bool usage_error() const { return usage_error_; }

    void add(std::string name, std::string metric, double value, Bar kind = Bar::none, double bar = 0) {
        rows_.push_back({std::move(name), std::move(metric), value, kind, bar});
    }

    // Prints; the exit code of the program: 1 when --check was given and a bar does not hold, 2 for a wrong option.
    int finish() const {
        if (usage_error_) return 2;
        bool all_hold = true;
        if (json_) fmt::print("[");
        for (auto const& row : rows_) {
            all_hold = all_hold && row.holds();
            if (json_)
                print_json(row, &row == &rows_.front());
            else
                print_text(row);
        }
        if (json_) fmt::print("\n]\n");
        return check_ && !all_hold ? 1 : 0;
    }

  private:
    // Names come from the benchmarks' own source and need no escaping.
    static void print_json(Row const& row, bool first) {
        auto const bar = row.kind == Bar::none ? std::string("null") : fmt::format("{:.10g}", row.bar);
        char const* const kind = row.kind == Bar::none ? "" : row.kind == Bar::at_least ? "at_least" : "at_most";
        fmt::print(
            "{}\n  {{\"case\": \"{}\", \"metric\": \"{}\", \"value\": {:.10g}, \"bar\": {}, \"bar_kind\": \"{}\", "
            "\"holds\": {}}}",
            first ? "" : ",", row.name, row.metric, row.value, bar, kind, row.holds());
    }
    static void print_text(Row const& row) {
        auto line = fmt::format("{:<28} {:<28} {:>14.6g}", row.name, row.metric, row.value);
        if (row.kind != Bar::none)
            line += fmt::format("  {} {:.6g}: {}", row.kind == Bar::at_least ? ">=" : "<=", row.bar,
                                row.holds() ? "holds" : "MISSED");
        fmt::print("{}\n", line);
    }

    bool json_ = false, check_ = false, usage_error_ = false;
    std::vector<Row> rows_;
};

}  // namespace orrery::bench

// SPDX-License-Identifier: Apache-2.0
// What an importer has to say of a file: what is in it, what it left out, what it assumed, and what is wrong with it.
#pragma once

#include "core/check.hpp"
#include "core/strictness.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// A line of a text (from 1), or the id of a node; by default the file as a whole.
struct FilePlace {
    enum class Unit : std::uint8_t { file, line, node };
    std::string file;
    std::uint64_t number = 0;
    Unit unit = Unit::file;
    std::string text() const;  // "a.goal:7", "a.et: node 7"
};

struct ImportReport {
    struct Count {
        std::string what;
        std::int64_t count = 0;
        std::string first;  // where it was first met; may be empty
    };
    std::string format;              // "GOAL schedule"
    std::vector<std::string> files;  // that were read
    std::vector<Count> contents;     // what is in them, and becomes part of the schedule
    std::vector<Count> ignored;      // what is in them, and changes nothing
    std::vector<std::string> assumptions;
    std::vector<std::string> mended;  // wrong, and taken as said (lenient): the first thousand
    std::int64_t mended_count = 0;
    std::vector<std::string> warnings;
};

// Collects all of it, so that everything wrong with a file is said at once.
class Findings {
  public:
    explicit Findings(Strictness strictness) : strictness_(strictness) {}

    // Wrong, with an evident reading: `taken` says which ("262 are used"). A problem where strict.
    void mend(FilePlace const& place, std::string_view problem, std::string_view fix, std::string_view taken);
    // Wrong, and there is nothing to take it for.
    void refuse(FilePlace const& place, std::string_view problem, std::string_view fix);
    // One InputError with everything refused so far, by file and line, if there is anything.
    void raise_if_any();
    // Hundreds of problems are one: the file is of another format.
    bool full() const { return problems_.size() >= most_kept; }

    void contains(std::string_view what, std::int64_t count = 1) { add(report.contents, what, count, {}); }
    void ignores(std::string_view what, FilePlace const& place, std::int64_t count = 1);
    // Said once, however often it is assumed.
    void assumes(std::string text);
    void warns(std::string text) { report.warnings.push_back(std::move(text)); }

    ImportReport report;

  private:
    static constexpr std::size_t most_kept = 1000;
    void add(std::vector<ImportReport::Count>& list, std::string_view what, std::int64_t count, std::string_view first);

    Strictness strictness_;
    struct Problem {
        FilePlace place;
        std::size_t order = 0;  // of discovery
        std::string text;
    };
    std::vector<Problem> problems_;
};

}  // namespace orrery

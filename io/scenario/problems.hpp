// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with a scenario, collected so that the user sees it in one go.
#pragma once

#include "io/scenario/quantity.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::loader {

// A position in a text; 1-based, 0 if unknown.
struct Mark {
    int line = 0;
    int column = 0;
};

// Where a value came from: a position in a file, or the whole argument of --set.
struct Place {
    std::string source;  // the file as the user named it, or "--set path=value"
    Mark mark;
    std::string text() const;  // "file.yaml:12:9", "file.yaml" or "--set path=value"
};

class Problems {
  public:
    // "place: what"; `what` is "problem (reason) fix".
    void add(Place const& place, std::string const& what);
    // "place: path = value (reason) fix"
    void refuse(Place const& place, std::string_view path, std::string_view value, quantity::Refusal const& refusal);

    bool empty() const { return entries_.empty(); }
    // True once there are far more than will be printed; further ones are not kept.
    bool full() const;
    // Throws InputError with one line per problem: those of the file by position, then those of --set in their order.
    void raise_if_any() const;

  private:
    struct Entry {
        Place place;
        std::string what;
    };
    std::vector<Entry> entries_;
};

// A user's text made fit for one line of a message: control characters replaced, cut at the limit.
std::string shown(std::string_view text, std::size_t limit = 60);
inline constexpr std::size_t longest_path = 4096;  // as a limit for names of files, which are of no use when cut
std::string join(std::vector<std::string> const& parts, std::string_view separator);

}  // namespace orrery::loader

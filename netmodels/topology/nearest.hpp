// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the names nearest to what the user wrote, which may be a shell pattern.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Edits (insert, remove, replace one character) that turn a name into one the pattern matches. '*' stands for any text
// and '?' for any character; sets in brackets are compared letter by letter, which is near enough for a hint.
// Names that begin like the one before, as sorted ones do, cost only what differs: a million take a fraction of a
// second.
class PatternDistance {
  public:
    explicit PatternDistance(std::string_view pattern);
    std::size_t to(std::string_view name);

  private:
    std::string pattern_, last_;
    std::vector<std::size_t> rows_;  // rows_[n * width + i]: distance of pattern[0, i) to the first n letters of last_
};

// Keeps the three nearest of the names offered; the first offered wins a tie.
class NearestNames {
  public:
    explicit NearestNames(std::string_view wanted) : distance_(wanted) {}

    void offer(std::string_view name);
    std::string text() const;  // "'a', 'b' or 'c'"

  private:
    struct Candidate {
        std::size_t distance = 0;
        std::string name;
    };
    PatternDistance distance_;
    std::vector<Candidate> best_;
};

}  // namespace orrery

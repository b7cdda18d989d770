// SPDX-License-Identifier: Apache-2.0
// A text file as numbered lines of words, and the numbers in them.
#pragma once

#include "core/units.hpp"
#include "workloads/imports/findings.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// What stands between blanks.
void split_words(std::string_view line, std::vector<std::string_view>& words);

// The words of the lines of a text that are not blank; empty at its end. For looking at the head of a file.
class LineWords {
  public:
    explicit LineWords(std::string_view text) : rest_(text) {}
    std::vector<std::string_view> next();

  private:
    std::string_view rest_;
};

// The bytes of a file, and its first few KiB.
std::string whole_text(std::filesystem::path const& path);
std::string head_of(std::filesystem::path const& path);

// The file whole, and a cursor over its lines. Words lie in the file's text: they live as long as the object.
class TextFile {
  public:
    explicit TextFile(std::filesystem::path const& path);
    TextFile(TextFile const&) = delete;
    TextFile& operator=(TextFile const&) = delete;

    std::string const& name() const { return name_; }
    // Goes to the next line; false at the end of the file.
    bool next_line();
    // Goes to the next line with something other than blanks on it.
    bool next_words();
    // From 1; 0 before the first.
    std::uint64_t line_number() const { return line_number_; }
    FilePlace place() const { return {name_, line_number_, FilePlace::Unit::line}; }
    FilePlace whole() const { return {name_}; }

    std::string_view line() const { return line_; }
    // Of the line, between blanks.
    std::vector<std::string_view> const& words();

  private:
    std::string name_, text_;
    std::size_t next_ = 0;
    std::string_view line_;
    std::uint64_t line_number_ = 0;
    bool split_ = false;
    std::vector<std::string_view> words_;
};

// Digits and nothing else, perhaps with a minus; empty where it is not that, or beyond 64 bits.
std::optional<std::int64_t> whole_number(std::string_view word);
// A decimal number, perhaps with an exponent; empty where it is not that.
std::optional<double> decimal_number(std::string_view word);
// Decimal seconds as picoseconds, to the nearest; empty where negative or beyond the range of Time.
std::optional<Time> seconds_number(std::string_view word);

// The largest number that many tools hold: their ids, counts and tags have 32 bits with a sign.
inline constexpr std::int64_t most_of_32_bits = 0x7fff'ffff;

// Fields of a line by name, each complaint with its place. Of what a field refuses it returns 0.
class Fields {
  public:
    Fields(TextFile const& file, Findings& findings) : file_(file), findings_(findings) {}

    // From `least` to 2^31 - 1; larger ones are mended where `beyond` says so, and refused otherwise.
    enum class Beyond : std::uint8_t { refused, mended };
    std::int64_t whole(std::string_view what, std::string_view word, std::int64_t least = 0,
                       Beyond beyond = Beyond::refused);
    // Up to 2^63 - 1: what the format's own tool holds in 64 bits.
    std::int64_t large(std::string_view what, std::string_view word, std::int64_t least = 0);

  private:
    std::optional<std::int64_t> at_least(std::string_view what, std::string_view word, std::int64_t least);

    TextFile const& file_;
    Findings& findings_;
};

}  // namespace orrery

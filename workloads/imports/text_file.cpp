// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/text_file.hpp"

#include "workloads/models/json_file.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

namespace orrery {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

void split_words(std::string_view line, std::vector<std::string_view>& words) {
    words.clear();
    for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
        auto const end = std::min(line.find_first_of(blanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(blanks, end);
    }
}

std::vector<std::string_view> LineWords::next() {
    std::vector<std::string_view> words;
    while (words.empty() && !rest_.empty()) {
        auto const end = std::min(rest_.find('\n'), rest_.size());
        split_words(rest_.substr(0, end), words);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    return words;
}

std::string whole_text(std::filesystem::path const& path) {
    auto file = open_input(path, "input");
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ORRERY_VALIDATE(!file.bad(), "{}: cannot be read to its end (the system refuses) check the disk", path.string());
    return text;
}

std::string head_of(std::filesystem::path const& path) {
    auto file = open_input(path, "input");
    std::string head(8192, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    return head;
}

TextFile::TextFile(std::filesystem::path const& path) : name_(path.string()), text_(whole_text(path)) {}

bool TextFile::next_line() {
    split_ = false;
    line_ = {};
    if (next_ >= text_.size()) return false;
    auto const end = std::min(text_.find('\n', next_), text_.size());
    line_ = std::string_view(text_).substr(next_, end - next_);
    next_ = end + 1;
    ++line_number_;
    return true;
}

bool TextFile::next_words() {
    while (next_line())
        if (line_.find_first_not_of(blanks) != std::string_view::npos) return true;
    return false;
}

std::vector<std::string_view> const& TextFile::words() {
    if (split_) return words_;
    split_ = true;
    split_words(line_, words_);
    return words_;
}

std::optional<std::int64_t> whole_number(std::string_view word) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

std::optional<double> decimal_number(std::string_view word) {
    double value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<Time> seconds_number(std::string_view word) {
    auto const seconds = decimal_number(word);
    if (!seconds || *seconds < 0 || *seconds > 9e6) return std::nullopt;
    return Time::from_ps(std::llround(*seconds * 1e12));
}

std::optional<std::int64_t> Fields::at_least(std::string_view what, std::string_view word, std::int64_t least) {
    auto const value = whole_number(word);
    if (value && *value >= least) return value;
    bool const digits = !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
    findings_.refuse(file_.place(), fmt::format("{} is '{}'", what, word),
                     digits && !value ? "(beyond 64 bits) give a smaller number"
                                      : fmt::format("(not a whole number of at least {}) correct it", least));
    return std::nullopt;
}

std::int64_t Fields::whole(std::string_view what, std::string_view word, std::int64_t least, Beyond beyond) {
    auto const value = at_least(what, word, least);
    if (!value) return 0;
    if (*value <= most_of_32_bits) return *value;
    auto const problem = fmt::format("{} is {}", what, *value);
    auto const fix = "(beyond 2^31 - 1, which the format's own tool cannot hold) correct it";
    if (beyond == Beyond::mended)
        findings_.mend(file_.place(), problem, fix, "taken in full");
    else
        findings_.refuse(file_.place(), problem, fix);
    return beyond == Beyond::mended ? *value : 0;
}

std::int64_t Fields::large(std::string_view what, std::string_view word, std::int64_t least) {
    return at_least(what, word, least).value_or(0);
}

}  // namespace orrery

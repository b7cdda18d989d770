// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/compare.hpp"

#include "core/check.hpp"
#include "io/timeline/hdf5.hpp"
#include "io/timeline/table.hpp"

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

using Difference = std::optional<std::string>;

Difference attribute_difference(hdf5::Object const& a, hdf5::Object const& b) {
    auto const names = a.attribute_names();
    if (names != b.attribute_names()) return fmt::format("the attributes of {} and {}", a.where(), b.where());
    for (auto const& name : names)
        if (a.attribute(name) != b.attribute(name))
            return fmt::format("attribute {} of {} and {}", name, a.where(), b.where());
    return std::nullopt;
}

// Of the first `rows` rows.
Difference row_difference(hdf5::Dataset const& a, hdf5::Dataset const& b, std::uint64_t rows) {
    auto const width = a.type().size();
    std::vector<std::byte> left(timeline_chunk_rows * width), right(timeline_chunk_rows * width);
    for (std::uint64_t first = 0; first < rows; first += timeline_chunk_rows) {
        auto const bytes = std::min<std::uint64_t>(timeline_chunk_rows, rows - first) * width;
        a.read(first, std::span(left).first(bytes));
        b.read(first, std::span(right).first(bytes));
        auto const [at, other] =
            std::mismatch(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(bytes), right.begin());
        auto const offset = static_cast<std::uint64_t>(at - left.begin());
        if (offset < bytes) return fmt::format("row {} of {} and {}", first + offset / width, a.where(), b.where());
    }
    return std::nullopt;
}

Difference dataset_difference(hdf5::Dataset const& a, hdf5::Dataset const& b) {
    if (auto found = attribute_difference(a, b)) return found;
    if (a.type() != b.type())
        return fmt::format("{} is {}, {} is {}", a.where(), a.type().name(), b.where(), b.type().name());
    if (a.rows() != b.rows()) return fmt::format("{} has {} rows, {} has {}", a.where(), a.rows(), b.where(), b.rows());
    if (a.chunk_rows() != b.chunk_rows()) return fmt::format("the chunks of {} and {}", a.where(), b.where());
    return row_difference(a, b, a.rows());
}

Difference group_difference(hdf5::Group const& a, hdf5::Group const& b, bool top) {
    if (auto found = attribute_difference(a, b)) return found;
    auto const children = a.children(), others = b.children();
    if (!std::ranges::equal(children, others, {}, &hdf5::Child::name, &hdf5::Child::name))
        return fmt::format("the members of {} and {}", a.where(), b.where());
    for (auto const& [name, group] : children) {
        if (top && name == "run") continue;
        auto found = group ? group_difference(a.open_group(name), b.open_group(name), false)
                           : dataset_difference(a.open_dataset(name), b.open_dataset(name));
        if (found) return found;
    }
    return std::nullopt;
}

std::string told(Difference const& found) {
    return found ? "different: " + *found : std::string();
}

}  // namespace

std::string content_difference(std::filesystem::path const& a, std::filesystem::path const& b) {
    auto const left = hdf5::File::open(a, hdf5::ReadMode::closed), right = hdf5::File::open(b, hdf5::ReadMode::closed);
    return told(group_difference(left, right, true));
}

std::string prefix_difference(std::filesystem::path const& part, std::filesystem::path const& whole) {
    auto const left = hdf5::File::open(part, hdf5::ReadMode::closed),
               right = hdf5::File::open(whole, hdf5::ReadMode::closed);
    for (auto const& table : timeline_tables())
        for (auto const& column : table.columns) {
            auto const a = left.open_group(table.name).open_dataset(column.name),
                       b = right.open_group(table.name).open_dataset(column.name);
            if (a.rows() > b.rows())
                return told(fmt::format("{} has {} rows, {} has {}", a.where(), a.rows(), b.where(), b.rows()));
            if (auto found = row_difference(a, b, a.rows())) return told(found);
        }
    return {};
}

}  // namespace orrery

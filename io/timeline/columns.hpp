// SPDX-License-Identifier: Apache-2.0
// A group of columns that are written whole, with one row per listed number.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/table.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace orrery {

// What a C++ type is stored as.
template <class T>
constexpr hdf5::Element element_of() {
    if constexpr (std::is_same_v<T, std::uint32_t>) return hdf5::Element::u32;
    if constexpr (std::is_same_v<T, std::int64_t>) return hdf5::Element::i64;
    if constexpr (std::is_same_v<T, double>) return hdf5::Element::f64;
}

// A group of columns with one row per listed number, of a bundle or another thing.
class Columns {
  public:
    Columns(hdf5::Group group, std::vector<std::uint32_t> const& listed) : group_(std::move(group)), listed_(&listed) {}

    hdf5::Group& group() { return group_; }

    template <class Value>
    void write(char const* name, char const* unit, char const* long_name, Value const& value_of) {
        using T = std::invoke_result_t<Value, std::uint32_t>;
        std::vector<T> values;
        for (auto const bundle : *listed_) values.push_back(value_of(bundle));
        store(name, unit, long_name, {element_of<T>()}, std::as_bytes(std::span(values)));
    }
    template <class Text>
    void write_text(char const* name, char const* long_name, Text const& text_of) {
        std::vector<std::string> texts;
        std::size_t width = 1;
        for (auto const bundle : *listed_) width = std::max(width, texts.emplace_back(text_of(bundle)).size());
        std::vector<std::byte> bytes(width * texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i)
            std::ranges::copy(std::as_bytes(std::span(texts[i])), bytes.data() + i * width);
        store(name, "", long_name, {hdf5::Element::text, width}, bytes);
    }

  private:
    void store(char const* name, char const* unit, char const* long_name, hdf5::RowType type,
               std::span<std::byte const> bytes) {
        auto dataset = group_.create_dataset(name, type, timeline_chunk_rows);
        dataset.set_attribute("units", unit);
        dataset.set_attribute("long_name", long_name);
        dataset.append(bytes);
    }

    hdf5::Group group_;
    std::vector<std::uint32_t> const* listed_;
};

}  // namespace orrery

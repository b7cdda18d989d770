// SPDX-License-Identifier: Apache-2.0
// The HDF5 layer: what goes in comes out, and failures name the file and the reason.
#include "core/check.hpp"
#include "io/timeline/hdf5.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace orrery {
namespace {

using hdf5::AttributeValue;
using hdf5::File;
using hdf5::Format;
using hdf5::ReadMode;

template <class Action>
std::string message_of(Action&& action) {
    try {
        action();
    } catch (InputError const& error) {
        return error.what();
    }
    return "no InputError";
}

TEST(Hdf5, AttributesComeBackAsTheyWere) {
    test::TemporaryDirectory dir;
    auto const path = dir.path() / "a.h5";
    // Longer than the 64 KiB that an object header can hold.
    std::vector<std::pair<std::string, AttributeValue>> const values = {
        {"empty", ""},
        {"integer", std::int64_t{-5}},
        {"list", std::vector<std::string>{"a", "", "gr\u00fcn"}},
        {"list of nothing", std::vector<std::string>{}},
        {"long", std::string(200'000, 'x')},
        {"real", 0.1}};
    {
        auto file = File::create(path, Format::compatible);
        auto group = file.create_group("g");
        for (auto const& [name, value] : values) group.set_attribute(name, value);
        group.set_attribute("integer", std::int64_t{-5});  // replaces
        group = {};
        file.close();
    }
    auto const file = File::open(path, ReadMode::closed);
    auto const group = file.open_group("g");
    std::vector<std::string> names;
    for (auto const& [name, value] : values) {
        names.push_back(name);
        EXPECT_EQ(group.attribute(name), value) << name;
    }
    EXPECT_EQ(group.attribute_names(), names);
}

TEST(Hdf5, ColumnsGrowAndAreReadInAnyPiece) {
    test::TemporaryDirectory dir;
    auto const path = dir.path() / "c.h5";
    std::vector<std::int32_t> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i) - 500;
    auto const bytes = std::as_bytes(std::span(values));
    {
        auto file = File::create(path, Format::compatible);
        auto column = file.create_dataset("v", {hdf5::Element::i32}, 64);
        column.append(bytes.first(4 * 300));
        column.append(bytes.subspan(4 * 300));
    }
    auto const column = File::open(path, ReadMode::closed).open_dataset("v");
    EXPECT_EQ(column.rows(), 1000U);
    EXPECT_EQ(column.chunk_rows(), 64U);
    EXPECT_EQ(column.type().name(), "i32");
    std::vector<std::int32_t> piece(130);
    column.read(250, std::as_writable_bytes(std::span(piece)));
    EXPECT_TRUE(std::equal(piece.begin(), piece.end(), values.begin() + 250));
}

TEST(Hdf5, MissingFileIsNamedWithTheReason) {
    EXPECT_EQ(message_of([] { File::open("/nowhere/x.h5", ReadMode::closed); }),
              "cannot open /nowhere/x.h5 (No such file or directory)");
}

TEST(Hdf5, OtherFilesAreRefused) {
    test::TemporaryDirectory dir;
    auto const path = dir.path() / "text.h5";
    std::ofstream(path) << "not an HDF5 file";
    EXPECT_EQ(message_of([&] { File::open(path, ReadMode::closed); }),
              "cannot open " + path.string() + " (file signature not found)");
}

TEST(Hdf5, MissingMembersAreNamed) {
    test::TemporaryDirectory dir;
    auto const path = dir.path() / "e.h5";
    auto file = File::create(path, Format::compatible);
    file.create_group("g");
    EXPECT_EQ(message_of([&] { file.open_group("g").open_dataset("absent"); }),
              "cannot open " + path.string() + ":/g/absent (object 'absent' doesn't exist)");
    EXPECT_NE(message_of([&] { file.attribute("absent"); }).find(path.string()), std::string::npos);
}

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/part.hpp"

#include "core/check.hpp"

#include <cstdio>
#include <sstream>

namespace orrery {
namespace {

// "l000.p0000.h5 40 3 0 0 0"
std::vector<std::string> text_of(std::vector<PartSource> const& sources) {
    std::vector<std::string> texts;
    for (auto const& source : sources) {
        auto text = source.path.filename().string();
        if (source.rows) text += fmt::format(" {}", fmt::join(*source.rows, " "));
        texts.push_back(std::move(text));
    }
    return texts;
}

std::vector<PartSource> sources_in(std::filesystem::path const& folder, std::vector<std::string> const& texts) {
    std::vector<PartSource> sources;
    for (auto const& text : texts) {
        std::istringstream in(text);
        std::string name;
        in >> name;
        auto& source = sources.emplace_back(PartSource{folder / name});
        RowCounts rows{};
        std::size_t found = 0;
        while (found < rows.size() && in >> rows[found]) ++found;
        ORRERY_VALIDATE(!name.empty() && (found == 0 || found == rows.size()),
                        "cannot use the parts in {} (one names '{}' as an earlier part)", folder.string(), text);
        if (found == rows.size()) source.rows = rows;
    }
    return sources;
}

}  // namespace

std::filesystem::path part_path(std::filesystem::path const& directory, std::uint32_t leg, std::uint32_t process) {
    return directory / "parts" / fmt::format("l{:03}.p{:04}.h5", leg, process);
}

std::filesystem::path tail_path(std::filesystem::path const& part) {
    auto path = part;
    return path.replace_extension(".tail");
}

void remove_parts_from_leg(std::filesystem::path const& directory, std::uint32_t leg) {
    std::error_code ignored;
    for (auto const& entry : std::filesystem::directory_iterator(directory / "parts", ignored)) {
        std::uint32_t found = 0;
        if (std::sscanf(entry.path().filename().c_str(), "l%u.p", &found) == 1 && found >= leg)
            std::filesystem::remove(entry.path(), ignored);
    }
}

void write_setup(hdf5::Object& part, PartSetup const& setup) {
    part.set_attribute("leg", std::int64_t{setup.leg});
    part.set_attribute("process", std::int64_t{setup.process});
    part.set_attribute("processes", std::int64_t{setup.processes});
    part.set_attribute("detail", name_of(setup.detail));
    part.set_attribute("link_bin_ps", setup.link_bin.ps());
    part.set_attribute("earlier", text_of(setup.earlier));
}

PartSetup read_setup(hdf5::Object const& part, std::filesystem::path const& path) {
    auto const number = [&](char const* name) { return std::get<std::int64_t>(part.attribute(name)); };
    auto const folder = path.parent_path();
    return {.directory = folder.parent_path(),
            .leg = static_cast<std::uint32_t>(number("leg")),
            .process = static_cast<std::uint32_t>(number("process")),
            .processes = static_cast<std::uint32_t>(number("processes")),
            .detail = detail_named(std::get<std::string>(part.attribute("detail"))),
            .link_bin = Time::from_ps(number("link_bin_ps")),
            .earlier = sources_in(folder, std::get<std::vector<std::string>>(part.attribute("earlier")))};
}

}  // namespace orrery

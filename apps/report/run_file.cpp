// SPDX-License-Identifier: Apache-2.0
#include "apps/report/run_file.hpp"

#include "apps/report/kinds.hpp"
#include "core/check.hpp"
#include "io/scenario/stored.hpp"
#include "netmodels/topology/registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace orrery {
namespace {

namespace fs = std::filesystem;

fs::path timeline_at(fs::path const& path) {
    std::error_code error;
    auto const file = fs::is_directory(path, error) ? path / "run.h5" : path;
    ORRERY_VALIDATE(fs::is_regular_file(file, error),
                    "{} (no such timeline) name a run.h5 or the directory of a finished run; of one that was killed, "
                    "orrery resume or recover it first",
                    file.string());
    return file;
}

}  // namespace

void require_other_file(fs::path const& written, fs::path const& read, std::string const& option) {
    std::error_code error;  // a file that does not exist yet is another one
    ORRERY_VALIDATE(!fs::equivalent(written, read, error), "{} {} (the timeline itself) name another file", option,
                    written.string());
}

RunFile::RunFile(fs::path const& path)
    : path_(timeline_at(path)), file_(hdf5::File::open(path_, hdf5::ReadMode::closed)) {
    auto const names = file_.attribute_names();
    ORRERY_VALIDATE(std::ranges::find(names, "format") != names.end() &&
                        file_.attribute("format") == hdf5::AttributeValue{std::string{"orrery timeline"}},
                    "{} (an HDF5 file, but no timeline of Orrery) name the run.h5 of a run", path_.string());
    auto const summary = file_.open_group("summary").attribute_names();
    ORRERY_VALIDATE(std::ranges::find(summary, "details") != summary.end(),
                    "{} (written by an older version, or recovered from a killed run) run the scenario again, or "
                    "orrery resume it",
                    path_.string());
    ORRERY_VALIDATE(integer("summary", "complete") != 0,
                    "{} (the run was stopped before its end) orrery resume it first", path_.string());
    canonical_ = text("manifest", "canonical");
    scenario_ = scenario_of(canonical_);
    fabric_ = make_fabric(scenario_.fabric(), scenario_.seed());
    auto wanted = degradations_of(scenario_.fabric());
    std::erase_if(wanted, [](auto const& d) { return !d.always(); });
    fabric_->degrade(wanted);
    details_ = Json::parse(text("summary", "details"));
    kinds_ = std::get<std::vector<std::string>>(file_.open_group("operations").open_dataset("kind").attribute("names"));
    step_ps_ = std::llround(real("summary", "step_time_s") * 1e12);
}

std::string RunFile::detail() const {
    return std::get<std::string>(file_.attribute("detail"));
}

hdf5::AttributeValue RunFile::attribute(std::string const& group, std::string const& name) const {
    return file_.open_group(group).attribute(name);
}

std::int64_t RunFile::integer(std::string const& group, std::string const& name) const {
    return std::get<std::int64_t>(attribute(group, name));
}

double RunFile::real(std::string const& group, std::string const& name) const {
    return std::get<double>(attribute(group, name));
}

std::string RunFile::text(std::string const& group, std::string const& name) const {
    return std::get<std::string>(attribute(group, name));
}

bool RunFile::has_group(std::string const& name) const {
    auto const children = file_.children();
    return std::ranges::any_of(children, [&](auto const& child) { return child.name == name; });
}

hdf5::Dataset RunFile::dataset(std::string const& group, std::string const& name) const {
    auto const slash = group.find('/');
    if (slash == std::string::npos) return file_.open_group(group).open_dataset(name);
    return file_.open_group(group.substr(0, slash)).open_group(group.substr(slash + 1)).open_dataset(name);
}

void RunFile::read(hdf5::Dataset const& data, std::span<std::byte> bytes) {
    ORRERY_VALIDATE(bytes.size() == data.rows() * data.type().size(), "{} holds {} (not the type that was expected)",
                    data.where(), data.type().name());
    if (!bytes.empty()) data.read(0, bytes);
}

std::vector<std::string> RunFile::texts(std::string const& group, std::string const& name) const {
    auto const data = dataset(group, name);
    auto const width = data.type().size();
    std::vector<char> bytes(width * data.rows());
    read(data, std::as_writable_bytes(std::span(bytes)));
    std::vector<std::string> values;
    values.reserve(data.rows());
    for (std::size_t at = 0; at < bytes.size(); at += width)
        values.emplace_back(bytes.data() + at, ::strnlen(bytes.data() + at, width));
    return values;
}

std::uint64_t RunFile::rows(TableId id) const {
    auto const& table = timeline_table(id);
    return dataset(table.name, table.columns.front().name).rows();
}

std::vector<hdf5::Dataset> RunFile::open_columns(TableId id) const {
    std::vector<hdf5::Dataset> columns;
    for (auto const& column : timeline_table(id).columns)
        columns.push_back(dataset(timeline_table(id).name, column.name));
    return columns;
}

void RunFile::fill(std::vector<hdf5::Dataset> const& columns, std::uint64_t first, std::uint64_t total,
                   RowBlock& block) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block.capacity(), total - first)));
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].read(first, block.column(c));
}

std::vector<bool> RunFile::communicating_kinds() const {
    std::vector<bool> communicating;
    for (auto const& kind : kinds_) communicating.push_back(!computes(kind));
    return communicating;
}

LinkColumns::LinkColumns(RunFile const& run)
    : id(run.column<std::uint32_t>("fabric/bundles", "id")),
      name(run.texts("fabric/bundles", "name")),
      link_class(run.texts("fabric/bundles", "class")),
      domain(run.texts("fabric/bundles", "domain")),
      capacity_bps(run.column<std::int64_t>("fabric/bundles", "capacity")),
      wire_bytes(run.column<std::int64_t>("links", "wire_bytes")),
      utilisation(run.column<double>("links", "utilisation")) {
    for (std::uint32_t row = 0; row < id.size(); ++row) row_of.emplace_hint(row_of.end(), id[row], row);
}

double share_of_capacity(std::int64_t bytes, std::int64_t capacity_bps, Time span) {
    if (capacity_bps == 0 || span == Time{}) return 0;
    return static_cast<double>(bytes) * 8 / (static_cast<double>(capacity_bps) * span.seconds());
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// A finished timeline as the commands that look back at a run read it: columns, totals, and the fabric it ran on.
#pragma once

#include "io/timeline/hdf5.hpp"
#include "io/timeline/table.hpp"
#include "netmodels/topology/fabric.hpp"
#include "proto/scenario.pb.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

using Json = nlohmann::ordered_json;

// Throws InputError when what an option names as a file to write is the timeline that is read.
void require_other_file(std::filesystem::path const& written, std::filesystem::path const& read,
                        std::string const& option);

class RunFile {
  public:
    // A run.h5, or the directory of a run. InputError when it is anything but a timeline that orrery run finished.
    explicit RunFile(std::filesystem::path const& path);

    std::filesystem::path const& path() const { return path_; }
    scenario::Scenario const& scenario() const { return scenario_; }
    std::string const& canonical() const { return canonical_; }
    // Built again from the scenario: as it was when the run began.
    Fabric const& fabric() const { return *fabric_; }
    // Attribute `details` of /summary, the fields of summary.json that do not depend on the execution.
    Json const& details() const { return details_; }
    std::vector<std::string> const& kinds() const { return kinds_; }  // what /operations/kind means
    std::vector<bool> communicating_kinds() const;                    // which of them move data
    std::string detail() const;                                       // how much was recorded

    std::int64_t integer(std::string const& group, std::string const& attribute) const;
    double real(std::string const& group, std::string const& attribute) const;
    std::string text(std::string const& group, std::string const& attribute) const;
    Time step() const { return Time::from_ps(step_ps_); }

    bool has_group(std::string const& name) const;
    std::vector<std::string> texts(std::string const& group, std::string const& name) const;
    template <class T>
    std::vector<T> column(std::string const& group, std::string const& name) const {
        auto const data = dataset(group, name);
        std::vector<T> values(data.rows());
        read(data, std::as_writable_bytes(std::span(values)));
        return values;
    }

    std::uint64_t rows(TableId id) const;
    // Calls visit(block, row) for every row in order; only a chunk of rows is in memory.
    template <class Visit>
    void each_row(TableId id, Visit const& visit) const {
        RowBlock block(timeline_table(id), timeline_chunk_rows);
        auto const columns = open_columns(id);
        auto const total = rows(id);
        for (std::uint64_t first = 0; first < total; first += timeline_chunk_rows) {
            fill(columns, first, total, block);
            for (std::size_t row = 0; row < block.rows(); ++row) visit(block, row);
        }
    }

  private:
    hdf5::Dataset dataset(std::string const& group, std::string const& name) const;
    static void read(hdf5::Dataset const& data, std::span<std::byte> bytes);
    std::vector<hdf5::Dataset> open_columns(TableId id) const;
    static void fill(std::vector<hdf5::Dataset> const& columns, std::uint64_t first, std::uint64_t total,
                     RowBlock& block);
    hdf5::AttributeValue attribute(std::string const& group, std::string const& name) const;

    std::filesystem::path path_;
    hdf5::File file_;
    std::string canonical_;
    scenario::Scenario scenario_;
    std::unique_ptr<Fabric> fabric_;
    Json details_;
    std::vector<std::string> kinds_;
    std::int64_t step_ps_ = 0;
};

// /fabric/bundles and /links, row by row: what each listed bundle is and carried.
struct LinkColumns {
    std::vector<std::uint32_t> id;
    std::vector<std::string> name, link_class, domain;
    std::vector<std::int64_t> capacity_bps, wire_bytes;
    std::vector<double> utilisation;  // of the whole run
    std::map<std::uint32_t, std::uint32_t> row_of;

    explicit LinkColumns(RunFile const& run);
    std::size_t size() const { return id.size(); }
};

// Share of a bundle's capacity that so many bytes are in a time.
double share_of_capacity(std::int64_t bytes, std::int64_t capacity_bps, Time span);

}  // namespace orrery

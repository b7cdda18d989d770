// SPDX-License-Identifier: Apache-2.0
// A table of flows (CSV): src, dst and bytes, perhaps with what the receiver expects and with starts. Also how the
// counts of an all-to-all-v are written down.
#include "workloads/imports/flow_list.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

std::vector<std::string_view> cells(std::string_view line) {
    std::vector<std::string_view> result;
    for (std::size_t begin = 0; begin <= line.size();) {
        auto const end = std::min(line.find(',', begin), line.size());
        auto cell = line.substr(begin, end - begin);
        while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r' || cell.back() == '\t'))
            cell.remove_suffix(1);
        while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
        result.push_back(cell);
        begin = end + 1;
    }
    return result;
}

struct Columns {
    std::optional<std::size_t> source, target, sent, received, start;
    std::size_t count = 0;
};

Columns columns_of(std::string_view header) {
    Columns columns;
    auto const names = cells(header);
    columns.count = names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto const name = names[i];
        if (name == "src" || name == "source") columns.source = i;
        if (name == "dst" || name == "target" || name == "dest") columns.target = i;
        if (name == "bytes" || name == "size" || name == "send_bytes") columns.sent = i;
        if (name == "recv_bytes") columns.received = i;
        if (name == "start" || name == "start_s") columns.start = i;
    }
    return columns;
}

class TableReader {
  public:
    TableReader(std::filesystem::path const& path, ImportOptions const& options, Findings& findings)
        : file_(path), fields_(file_, findings), findings_(findings), ranks_(options.ranks) {}

    std::unique_ptr<Schedule> read() {
        file_.next_words();
        columns_ = columns_of(file_.line());
        while (file_.next_words() && !findings_.full()) read_row();
        findings_.raise_if_any();
        auto ranks = std::max(1U, ranks_);
        for (auto const& flow : flows_) ranks = std::max({ranks, flow.source + 1, flow.target + 1});
        ScheduleDraft draft(ranks, file_.name(), FilePlace::Unit::line, findings_);
        for (std::uint32_t i = 0; i < flows_.size(); ++i) add_flow(draft, flows_[i], i);
        findings_.contains("flows", static_cast<std::int64_t>(flows_.size()));
        findings_.assumes(columns_.start ? "starts are seconds of simulated time" : "all flows start at time 0");
        return draft.finish();
    }

  private:
    void read_row() {
        auto const row = cells(file_.line());
        if (row.size() != columns_.count)
            return findings_.refuse(file_.place(), fmt::format("the row has {} columns", row.size()),
                                    fmt::format("(the header has {}) correct the line", columns_.count));
        ListedFlow flow{.line = file_.line_number()};
        flow.source = rank(row[*columns_.source]);
        flow.target = rank(row[*columns_.target]);
        flow.bytes = fields_.large("the size", row[*columns_.sent]);
        if (columns_.start) {
            auto const start = seconds_number(row[*columns_.start]);
            if (!start)
                findings_.refuse(file_.place(), fmt::format("the start is '{}'", row[*columns_.start]),
                                 "(not a number of seconds from 0) correct it");
            flow.start = start.value_or(Time{});
        }
        if (columns_.received) {
            auto const received = fields_.large("the expected size", row[*columns_.received]);
            if (received != flow.bytes)
                findings_.mend(
                    file_.place(),
                    fmt::format("{}->{} send {}, recv {}", flow.source, flow.target, flow.bytes, received),
                    "(a receive that expects more waits for ever, one that expects less overflows) make both "
                    "ends alike",
                    fmt::format("{} bytes", flow.bytes));
        }
        if (flow.bytes == 0 && columns_.received)
            return findings_.ignores("pairs without bytes (no message)", file_.place());
        flows_.push_back(flow);
    }

    std::uint32_t rank(std::string_view word) {
        auto const number = fields_.whole("a rank", word);
        auto const most = ranks_ > 0 ? ranks_ : most_imported_ranks;
        if (number < most) return static_cast<std::uint32_t>(number);
        findings_.refuse(file_.place(), fmt::format("rank {} is named", number),
                         fmt::format("(there are {} ranks, from 0) correct it", most));
        return 0;
    }

    TextFile file_;
    Fields fields_;
    Findings& findings_;
    std::uint32_t ranks_;
    Columns columns_;
    std::vector<ListedFlow> flows_;
};

bool is_flow_table(std::filesystem::path const&, std::string_view head) {
    auto const columns = columns_of(head.substr(0, head.find('\n')));
    return columns.source && columns.target && columns.sent;
}

ImporterRegistration const registered{
    {.name = "flow-table",
     .title = "table of flows (CSV with src, dst and bytes)",
     .recognises = is_flow_table,
     .read = [](std::filesystem::path const& path, ImportOptions const& options, Findings& findings) {
         return TableReader(path, options, findings).read();
     }}};

}  // namespace
}  // namespace orrery

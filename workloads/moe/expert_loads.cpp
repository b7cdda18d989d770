// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/expert_loads.hpp"

#include "core/check.hpp"
#include "workloads/models/json_file.hpp"
#include "workloads/moe/weighted_sampler.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

namespace orrery {
namespace {

using Table = std::vector<std::vector<double>>;

Table from_json(std::filesystem::path const& path) {
    nlohmann::json const root = parse_json_file(path, "expert load");
    nlohmann::json const* list = &root;
    if (root.is_object()) {
        auto const weight = root.find("weight");
        ORRERY_VALIDATE(weight != root.end(),
                        "{}: key \"weight\" is missing (it holds one list of expert loads per layer) "
                        "write {{\"weight\": [[...], ...]}}",
                        path.string());
        list = &*weight;
    }
    ORRERY_VALIDATE(list->is_array() && !list->empty(),
                    "{}: there is no list of layers (one list of expert loads per layer is needed) write "
                    "{{\"weight\": [[...], ...]}}",
                    path.string());
    Table table;
    for (auto const& layer : *list) {
        ORRERY_VALIDATE(layer.is_array(),
                        "{}: weight[{}] is not a list (it must hold one load per expert) write [[...], ...]",
                        path.string(), table.size());
        table.emplace_back();
        for (auto const& load : layer) {
            ORRERY_VALIDATE(load.is_number(), "{}: weight[{}][{}] is {} (must be a number) correct it", path.string(),
                            table.size() - 1, table.back().size(), load.dump().substr(0, 40));
            table.back().push_back(load.get<double>());
        }
    }
    return table;
}

std::string_view trimmed(std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r\"");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (;;) {
        auto const comma = line.find(',');
        cells.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

std::optional<double> as_number(std::string_view cell) {
    double value = 0;
    auto const [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
    return value;
}

// Where the three columns of a long table stand.
struct Columns {
    std::size_t layer, expert, load;
};

Columns columns_of(std::vector<std::string_view> const& header, std::string const& file) {
    auto const find = [&](std::initializer_list<std::string_view> names) {
        auto const at = std::find_first_of(header.begin(), header.end(), names.begin(), names.end());
        ORRERY_VALIDATE(at != header.end(),
                        "{}: the header has no column {} (its columns are {}) name them layer, expert, load", file,
                        *names.begin(), fmt::join(header, ", "));
        return static_cast<std::size_t>(at - header.begin());
    };
    return {find({"layer", "layer_id"}), find({"expert", "expert_id"}), find({"load", "count", "tokens", "weight"})};
}

class CsvReader {
  public:
    CsvReader(std::filesystem::path const& path, std::uint32_t experts) : path_(path), experts_(experts) {}

    Table read() {
        std::ifstream file = open_input(path_, "expert load");
        std::string line;
        bool first = true;
        while (std::getline(file, line)) {
            ++line_;
            auto const cells = cells_of(line);
            if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
            bool const header = first && !as_number(cells.front());
            first = false;
            if (header)
                columns_ = columns_of(cells, fmt::format("{}:{}", path_.string(), line_));
            else if (columns_)
                add_entry(cells);
            else
                add_layer(cells);
        }
        for (auto const& [layer, loads] : long_) table_.push_back(loads);
        for (auto& loads : table_)
            for (double& load : loads)
                if (load < 0) {
                    load = 0;
                    ++missing_;
                }
        ORRERY_VALIDATE(!table_.empty(), "{}: the file holds no loads (no data row) write layer,expert,load rows",
                        path_.string());
        return std::move(table_);
    }
    std::size_t missing() const { return missing_; }

  private:
    double number(std::vector<std::string_view> const& cells, std::size_t column) const {
        ORRERY_VALIDATE(column < cells.size(), "{}:{}: the row has {} cells (column {} is needed) complete the row",
                        path_.string(), line_, cells.size(), column + 1);
        auto const value = as_number(cells[column]);
        ORRERY_VALIDATE(value && *value >= 0,
                        "{}:{}: \"{}\" is no load (must be a number of at least 0) correct the cell", path_.string(),
                        line_, cells[column]);
        return *value;
    }
    void add_entry(std::vector<std::string_view> const& cells) {
        double const layer = number(cells, columns_->layer);
        double const expert = number(cells, columns_->expert);
        ORRERY_VALIDATE(expert < experts_ && expert == std::floor(expert),
                        "{}:{}: expert {} does not exist (the model has experts 0 to {}) correct the row or the model",
                        path_.string(), line_, cells[columns_->expert], experts_ - 1);
        auto& loads = long_[layer];
        if (loads.empty()) loads.assign(experts_, -1);  // negative: not in the file
        double& load = loads[static_cast<std::size_t>(expert)];
        ORRERY_VALIDATE(load < 0, "{}:{}: layer {} expert {} appears twice (one load each) remove one row",
                        path_.string(), line_, cells[columns_->layer], cells[columns_->expert]);
        load = number(cells, columns_->load);
    }
    void add_layer(std::vector<std::string_view> const& cells) {
        table_.emplace_back();
        for (std::size_t column = 0; column < cells.size(); ++column) table_.back().push_back(number(cells, column));
    }

    std::filesystem::path path_;
    std::uint32_t experts_;
    std::size_t line_ = 0;
    std::size_t missing_ = 0;
    std::optional<Columns> columns_;
    std::map<double, std::vector<double>> long_;  // by the layer's number in the file
    Table table_;
};

std::vector<std::uint64_t> to_integers(std::vector<double> const& loads) {
    double const largest = *std::max_element(loads.begin(), loads.end());
    bool const whole = std::all_of(loads.begin(), loads.end(), [](double load) { return load == std::floor(load); });
    double const scale =
        whole && largest <= static_cast<double>(WeightedSampler::largest_weight) ? 1 : 0x1p32 / largest;
    std::vector<std::uint64_t> integers;
    for (double const load : loads) {
        auto const integer = static_cast<std::uint64_t>(std::llround(load * scale));
        integers.push_back(load > 0 ? std::max<std::uint64_t>(integer, 1) : 0);
    }
    return integers;
}

}  // namespace

ExpertLoads read_expert_loads(std::filesystem::path const& path, std::uint32_t experts, std::uint32_t top_k) {
    ExpertLoads result;
    Table table;
    if (path.extension() == ".csv") {
        CsvReader reader(path, experts);
        table = reader.read();
        if (reader.missing() > 0)
            result.warnings.push_back(fmt::format("{}: {} (layer, expert) pairs are not in the file and count as 0",
                                                  path.string(), reader.missing()));
    } else {
        table = from_json(path);
    }
    for (std::size_t layer = 0; layer < table.size(); ++layer) {
        auto const& loads = table[layer];
        ORRERY_VALIDATE(loads.size() == experts,
                        "{}: layer {} has {} loads (the model has {} routed experts) give the file of this model",
                        path.string(), layer, loads.size(), experts);
        for (std::size_t expert = 0; expert < loads.size(); ++expert)
            ORRERY_VALIDATE(std::isfinite(loads[expert]) && loads[expert] >= 0,
                            "{}: layer {} expert {} has load {} (must be at least 0) correct it", path.string(), layer,
                            expert, loads[expert]);
        auto const positive = std::count_if(loads.begin(), loads.end(), [](double load) { return load > 0; });
        ORRERY_VALIDATE(
            positive >= top_k,
            "{}: layer {} has {} experts with load (a token chooses {} different ones) give loads to more experts",
            path.string(), layer, positive, top_k);
        result.of_layer.push_back(to_integers(loads));
    }
    return result;
}

}  // namespace orrery

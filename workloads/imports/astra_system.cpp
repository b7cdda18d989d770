// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/astra_system.hpp"

#include "workloads/models/json_file.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace orrery {
namespace {

using Json = nlohmann::json;

// ASTRA-sim's names and ours.
std::string our_algorithm(std::string_view name) {
    if (name == "ring" || name == "oneRing") return "ring";
    if (name.starts_with("direct") || name.starts_with("oneDirect")) return "direct";
    if (name == "halvingDoubling" || name == "oneHalvingDoubling") return "halving_doubling";
    if (name == "doubleBinaryTree") return "double_binary_tree";
    return {};
}

std::optional<CollectiveOp> op_of(std::string_view key) {
    if (key == "all-reduce-implementation") return CollectiveOp::all_reduce;
    if (key == "all-gather-implementation") return CollectiveOp::all_gather;
    if (key == "reduce-scatter-implementation") return CollectiveOp::reduce_scatter;
    if (key == "all-to-all-implementation") return CollectiveOp::all_to_all;
    return std::nullopt;
}

class SystemReader {
  public:
    SystemReader(std::filesystem::path const& path, Findings& findings) : place_{path.string()}, findings_(findings) {
        document_ = parse_json_file(path, "ASTRA-sim system");
        ORRERY_VALIDATE(document_.is_object(), "{}: the system file is no JSON object ({{...}}) give another file",
                        place_.file);
        findings.report.files.push_back(place_.file);
    }

    AstraSystem read() {
        for (auto const& [key, value] : document_.items()) {
            if (key.ends_with("-implementation")) {
                algorithm(key, value);
            } else if (key == "peak-perf") {
                system_.peak_ops_per_s = number(key, value) * 1e12;
            } else if (key == "local-mem-bw") {
                system_.memory_bytes_per_s = number(key, value) * 1e9;
            } else if (key == "roofline-enabled") {
                system_.roofline = number(key, value, 0) != 0;
            } else {
                findings_.ignores(fmt::format("system setting {}", key), place_);
            }
        }
        return std::move(system_);
    }

  private:
    double number(std::string const& key, Json const& value, double least = 1e-3) {
        if (value.is_number() && value.get<double>() >= least && value.get<double>() <= 1e9) return value.get<double>();
        findings_.refuse(place_, fmt::format("{} is {}", key, value.dump()), "(a number is needed) correct it");
        return least;
    }

    // One name per dimension of the topology.
    void algorithm(std::string const& key, Json const& value) {
        std::vector<std::string> names;
        if (value.is_array())
            for (auto const& name : value) names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
        auto const op = op_of(key);
        bool const alike = !names.empty() && std::all_of(names.begin(), names.end(),
                                                         [&](auto const& name) { return name == names.front(); });
        auto const ours = alike ? our_algorithm(names.front()) : std::string{};
        if (!op) {
            findings_.ignores(fmt::format("system setting {}", key), place_);
        } else if (names.empty()) {
            findings_.refuse(place_, fmt::format("{} is {}", key, value.dump()),
                             "(a list of names, one per dimension of the topology) correct it");
        } else if (ours.empty()) {
            findings_.ignores(fmt::format("{} {} (chosen as if it were not said)", key, fmt::join(names, ", ")),
                              place_);
        } else {
            system_.algorithms[*op] = ours;
            findings_.contains(fmt::format("{} {}", key, names.front()));
            if (names.size() > 1)
                findings_.assumes(fmt::format(
                    "{} names {} in each of {} dimensions: one {} over all members of a group, since groups have no "
                    "dimensions here",
                    key, names.front(), names.size(), ours));
        }
    }

    FilePlace place_;
    Findings& findings_;
    Json document_;
    AstraSystem system_;
};

}  // namespace

Device AstraSystem::device(Device const& of_scenario) const {
    auto device = of_scenario;
    if (peak_ops_per_s) {
        device.bf16_rate = *peak_ops_per_s;
        device.bf16_efficiency = 1;
    }
    if (memory_bytes_per_s) {
        device.memory_rate = *memory_bytes_per_s;
        device.memory_efficiency = 1;
    }
    return device;
}

AstraSystem read_astra_system(std::filesystem::path const& path, Findings& findings) {
    if (path.empty()) return {};
    return SystemReader(path, findings).read();
}

}  // namespace orrery

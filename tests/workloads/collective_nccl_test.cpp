// SPDX-License-Identifier: Apache-2.0
// NCCL's choices by the published rule, and predicted times against measurements.
#include "core/check.hpp"
#include "tests/workloads/shared_data.hpp"
#include "workloads/collectives/algorithm.hpp"
#include "workloads/collectives/nccl_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <vector>

namespace orrery {
namespace {

std::string choice(char const* hardware, CollectiveOp op, std::uint32_t members, std::int64_t bytes,
                   int element_bytes = 2, std::uint32_t nodes = 1) {
    auto const taken = nccl_choice(nccl_hardware(hardware), {op, members, nodes, bytes, element_bytes});
    return taken.algorithm + " " + name_of(taken.protocol);
}

TEST(NcclTuner, TakesWhatTheConstantsSay) {
    using Op = CollectiveOp;
    EXPECT_EQ(choice("A100", Op::all_gather, 8, 4096), "ring LL");
    EXPECT_EQ(choice("A100", Op::all_gather, 8, 16 << 20), "ring LL128");
    EXPECT_EQ(choice("A100", Op::all_gather, 8, 256 << 20), "ring Simple");
    EXPECT_EQ(choice("A100", Op::all_gather, 2, 16 << 20), "ring Simple");
    EXPECT_EQ(choice("A100", Op::all_reduce, 8, 4096), "double_binary_tree LL");
    EXPECT_EQ(choice("H100", Op::all_reduce, 8, 256 << 20), "in_switch Simple");
    EXPECT_EQ(choice("H100", Op::all_reduce, 8, 256 << 20, 1), "ring Simple");  // the switch does not add bytes
    EXPECT_EQ(choice("H100", Op::all_to_all, 8, 4096), "direct Simple");
    EXPECT_EQ(choice("H100", Op::all_reduce, 64, 65'536, 2, 8), "double_binary_tree LL");
    EXPECT_EQ(choice("H100", Op::all_reduce, 64, 1LL << 30, 2, 8), "ring Simple");
}

// LL carries 8 bytes of flags with 8 of data, LL128 8 of 128.
TEST(NcclTuner, ProtocolsFrameTheirData) {
    EXPECT_EQ(nccl_protocol("LL").on_wire(1000), 2000);
    EXPECT_EQ(nccl_protocol("LL128").on_wire(120), 128);
    EXPECT_EQ(nccl_protocol("Simple").on_wire(1000), 1000);
    EXPECT_EQ(nccl_protocol("none").on_wire(1000), 1000);
    EXPECT_THROW(nccl_protocol("LL64"), InputError);
    EXPECT_THROW(nccl_hardware("V100"), InputError);
}

// A measured row of the reference data.
struct Row {
    std::string hardware;
    CollectiveOp op{};
    std::uint32_t members = 0;
    int element_bytes = 0;
    std::int64_t bytes = 0;
    double us = 0;
    bool valid = false;
};

std::vector<std::string> fields_of(std::string const& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (char const c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return fields;
}

std::vector<Row> measured() {
    std::ifstream file(test::shared_data() / "groundtruth/aic_nccl_collectives.csv");
    std::string line;
    std::getline(file, line);
    std::vector<Row> rows;
    while (std::getline(file, line)) {
        auto const f = fields_of(line);
        std::string hardware;
        for (auto const& name : nccl_hardware_names())
            if (f[2].starts_with(name) || f[2].starts_with("8x" + name)) hardware = name;
        rows.push_back({hardware, collective_op_of(f[4]), static_cast<std::uint32_t>(std::stoul(f[3])),
                        f[9] == "half" ? 2 : 1, std::stoll(f[10]), std::stod(f[13]), f.back().starts_with("valid")});
    }
    return rows;
}

struct Errors {
    std::vector<double> values;
    void add(double predicted, double us) { values.push_back(std::abs(predicted / us - 1) * 100); }
    double mean() const {
        double sum = 0;
        for (auto const v : values) sum += v;
        return sum / static_cast<double>(values.size());
    }
    double median() {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    }
};

// a + b * bytes through the port, per machine and operation, by least squares of the relative error on the same
// calibration rows: what users do without a model.
class AlphaBeta {
  public:
    explicit AlphaBeta(std::vector<Row> const& rows) {
        for (auto const& row : rows) {
            if (row.valid) continue;
            auto& s = sums_[{row.hardware, row.op}];
            auto const x = through_port(row) / row.us, one = 1 / row.us;
            s.xx += x * x, s.x1 += x * one, s.x += x, s.oo += one * one, s.o += one;
        }
    }
    double predict(Row const& row) const {
        auto const& s = sums_.at({row.hardware, row.op});
        auto const det = s.oo * s.xx - s.x1 * s.x1;
        return (s.o * s.xx - s.x * s.x1) / det + (s.x * s.oo - s.o * s.x1) / det * through_port(row);
    }

  private:
    struct Sums {
        double xx = 0, x1 = 0, x = 0, oo = 0, o = 0;
    };
    static double through_port(Row const& row) {
        return static_cast<double>(row.bytes) * (row.members - 1) / row.members;
    }
    std::map<std::pair<std::string, CollectiveOp>, Sums> sums_;
};

std::string size_class(std::int64_t bytes) {
    return bytes <= 32 << 10   ? "up to 32 KiB"
           : bytes <= 1 << 20  ? "to 1 MiB"
           : bytes <= 16 << 20 ? "to 16 MiB"
                               : "above";
}

// docs/accuracy.md shows the table that this prints.
TEST(NcclTimes, AreClearlyBetterThanAlphaBeta) {
    ORRERY_NEEDS_SHARED_DATA();
    auto const rows = measured();
    AlphaBeta const alpha_beta(rows);
    struct Pair {
        Errors model, plain;
    };
    std::map<std::string, Pair> errors;
    for (auto const& row : rows) {
        if (!row.valid) continue;
        auto const predicted =
            nccl_time(nccl_hardware(row.hardware), {row.op, row.members, 1, row.bytes, row.element_bytes})
                .microseconds();
        bool const all = row.members == (row.hardware == "GB200" ? 4 : 8);
        auto const plain = alpha_beta.predict(row);
        for (auto const& group :
             {all ? row.hardware : row.hardware + ", 2 ranks", std::string(name_of(row.op)) + (all ? "" : ", 2 ranks"),
              size_class(row.bytes) + (all ? "" : ", 2 ranks"),
              std::string(all ? "all ranks of a node" : "two ranks")}) {
            errors[group].model.add(predicted, row.us);
            errors[group].plain.add(plain, row.us);
        }
    }
    for (auto& [group, pair] : errors)
        fmt::print("{:28} {:5.1f} % median {:5.1f} %   alpha-beta {:5.1f} % median {:5.1f} %\n", group,
                   pair.model.mean(), pair.model.median(), pair.plain.mean(), pair.plain.median());
    auto& all = errors.at("all ranks of a node");
    EXPECT_LT(all.model.mean(), 7);
    EXPECT_LT(all.model.median(), 4.5);
    EXPECT_LT(all.model.mean(), 0.6 * all.plain.mean());
    EXPECT_LT(all.model.median(), 0.5 * all.plain.median());
    auto& two = errors.at("two ranks");
    EXPECT_LT(two.model.mean(), 16);
    EXPECT_LT(two.model.mean(), 0.4 * two.plain.mean());
}

TEST(NcclTimes, ExplainThemselves) {
    auto const time = nccl_time(nccl_hardware("H100"), {CollectiveOp::all_gather, 8, 1, 4096, 2});
    EXPECT_EQ(time.text(), "ring LL: 10.5 us + 0.0 us");
    EXPECT_THROW(nccl_time(nccl_hardware("H100"), {CollectiveOp::broadcast, 8, 1, 4096, 2}), InputError);
    EXPECT_THROW(nccl_time(nccl_hardware("H100"), {CollectiveOp::all_gather, 16, 2, 4096, 2}), InputError);
}

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What a run tells: the screen fits, summary.json has every documented field, and both agree with the timeline.
#include "tests/apps/apps_testing.hpp"

#include <gmock/gmock-matchers.h>

#include <numeric>
#include <regex>

namespace orrery::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Summary : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        directory_ = new TinyDirectory("  microbatches: 2\n  routing:\n    source: zipf\n    zipf_s: 1\n");
        finished_ = new Finished(orrery({"run", "tiny.yaml", "--out", "o"}, directory_->path()));
    }
    static void TearDownTestSuite() {
        delete directory_;
        delete finished_;
    }
    static nlohmann::json json() { return summary_of(directory_->path() / "o"); }
    static fs::path file() { return directory_->path() / "o/run.h5"; }

    static inline TinyDirectory* directory_ = nullptr;
    static inline Finished* finished_ = nullptr;
};

TEST_F(Summary, HasEveryDocumentedField) {
    auto const summary = json();
    std::size_t checked = 0;
    for (auto const& line : lines_of(read_text(fs::path(ORRERY_SOURCE_DIR) / "docs/summary.md"))) {
        std::smatch row;
        if (!std::regex_match(line, row, std::regex(R"(\| `([a-z0-9_.\[\]]+)` \| (\w+) \|.*)"))) continue;
        auto at = summary;
        std::istringstream path(row[1]);
        for (std::string key; std::getline(path, key, '.');) {
            bool const element = key.ends_with("[]");
            if (element) key.resize(key.size() - 2);
            ASSERT_TRUE(at.contains(key)) << row[1];
            at = nlohmann::json(at[key]);
            if (!element) continue;
            ASSERT_FALSE(at.empty()) << row[1];
            at = nlohmann::json(at[0]);
        }
        auto const type = row[2].str();
        bool const fits = type == "text"      ? at.is_string()
                          : type == "bool"    ? at.is_boolean()
                          : type == "integer" ? at.is_number_integer()
                          : type == "number"  ? at.is_number()
                          : type == "array"   ? at.is_array()
                                              : at.is_object();
        EXPECT_TRUE(fits) << row[1] << " is " << at << ", not " << type;
        ++checked;
    }
    EXPECT_GE(checked, 38U);
}

TEST_F(Summary, TheScreenFitsAndEndsWithTheDigest) {
    EXPECT_EQ(finished_->code, 0);
    auto const screen = finished_->screen();
    EXPECT_LE(screen.size(), 40U);
    for (auto const& line : screen) {
        EXPECT_LE(line.size(), 80U) << line;
    }
    EXPECT_THAT(screen.back(), ::testing::MatchesRegex("digest: [0-9a-f]+"));
    EXPECT_EQ(screen.back(), "digest: " + json()["digest"].get<std::string>());
    EXPECT_EQ(screen.back().size(), 40U);
}

TEST_F(Summary, TheScreenSaysWhatItMust) {
    auto const& text = finished_->out;
    for (auto const* part : {"Step time ",
                             "attention ",
                             "dispatch ",
                             "experts ",
                             "combine ",
                             "p50",
                             "p99",
                             "max",
                             "exp.",
                             "bound by",
                             "waiting for peers ",
                             "transfer ",
                             "hottest links",
                             "utilisation",
                             "Imbalance (max/mean): ranks ",
                             ", experts ",
                             " injected = ",
                             " delivered",
                             "Wall ",
                             "CPU ",
                             "memory ",
                             "o/run.h5"})
        EXPECT_THAT(text, HasSubstr(part));
    auto const links = json()["links"];
    for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(text, HasSubstr("  " + links[i]["name"].get<std::string>() + " "));
}

TEST_F(Summary, ShippedScenariosFitTheScreenToo) {
    for (auto const* name : {"single_switch_ep8", "cross_supernode"}) {
        auto const finished = orrery({"run", shipped(name).string(), "--out", name}, directory_->path());
        EXPECT_EQ(finished.code, 0) << finished.err;
        for (auto const& line : finished.screen()) {
            EXPECT_LE(line.size(), 80U) << line;
        }
        EXPECT_LE(finished.screen().size(), 40U);
    }
}

TEST_F(Summary, CountsAgreeWithTheTimeline) {
    auto const summary = json();
    auto const kinds = column<std::uint8_t>(file(), "operations", "kind");
    auto const ends = column<std::int64_t>(file(), "operations", "end");
    auto const starts = column<std::int64_t>(file(), "operations", "start");
    std::int64_t counted = 0;
    for (auto const& operation : summary["operations"]) {
        auto const name = operation["name"].get<std::string>();
        std::int64_t count = 0, sum = 0, longest = 0;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (name_of(static_cast<OpKind>(kinds[i])) != name) continue;
            ++count;
            sum += ends[i] - starts[i];
            longest = std::max(longest, ends[i] - starts[i]);
        }
        EXPECT_EQ(operation["count"], count) << name;
        EXPECT_NEAR(operation["mean_s"].get<double>(), static_cast<double>(sum) / static_cast<double>(count) * 1e-12,
                    1e-12);
        EXPECT_DOUBLE_EQ(operation["max_s"].get<double>(), static_cast<double>(longest) * 1e-12);
        // Of an exchange as a whole: single ranks may be done before, so the mean may be below it.
        EXPECT_LE(operation["bound_s"].get<double>(), operation["max_s"].get<double>() * (1 + 1e-9)) << name;
        EXPECT_LE(operation["p50_s"], operation["p99_s"]);
        EXPECT_LE(operation["p99_s"], operation["max_s"]);
        counted += count;
    }
    EXPECT_EQ(counted, static_cast<std::int64_t>(kinds.size()));
    auto const last = *std::max_element(ends.begin(), ends.end());
    EXPECT_DOUBLE_EQ(summary["step_time_s"].get<double>(), static_cast<double>(last) * 1e-12);
    EXPECT_GE(summary["simulated_time_s"], summary["step_time_s"]);
}

TEST_F(Summary, BytesAgreeWithTheTimeline) {
    auto const summary = json();
    auto const dispatch = column<std::int64_t>(file(), "pairs", "dispatch_bytes");
    auto const combine = column<std::int64_t>(file(), "pairs", "combine_bytes");
    auto const sum = std::accumulate(dispatch.begin(), dispatch.end(), std::int64_t{0}) +
                     std::accumulate(combine.begin(), combine.end(), std::int64_t{0});
    EXPECT_EQ(summary["conservation"]["injected_bytes"], sum);
    EXPECT_EQ(summary["conservation"]["delivered_bytes"], sum);
    EXPECT_EQ(summary["conservation"]["dropped_bytes"], 0);
    EXPECT_EQ(summary["conservation"]["in_flight_bytes"], 0);
    auto const payload = column<std::int64_t>(file(), "collectives", "payload_bytes");
    EXPECT_EQ(std::accumulate(payload.begin(), payload.end(), std::int64_t{0}), sum);
    // Two hops on one switch.
    auto const carried = column<std::int64_t>(file(), "links", "payload_bytes");
    EXPECT_EQ(std::accumulate(carried.begin(), carried.end(), std::int64_t{0}), 2 * sum);
}

TEST_F(Summary, ImbalanceAgreesWithTheTimeline) {
    auto const layers = column<std::uint16_t>(file(), "expert_loads", "layer");
    auto const ranks = column<std::uint32_t>(file(), "expert_loads", "rank");
    auto const tokens = column<std::int64_t>(file(), "expert_loads", "tokens");
    std::map<std::uint16_t, std::vector<double>> of_rank, of_expert;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        auto& loads = of_rank[layers[i]];
        loads.resize(8);
        loads[ranks[i]] += static_cast<double>(tokens[i]);
        of_expert[layers[i]].push_back(static_cast<double>(tokens[i]));
    }
    auto const mean_imbalance = [](auto const& by_layer) {
        double sum = 0;
        for (auto const& [layer, loads] : by_layer)
            sum += *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) /
                   std::accumulate(loads.begin(), loads.end(), 0.0);
        return sum / static_cast<double>(by_layer.size());
    };
    EXPECT_NEAR(json()["imbalance"]["ranks"].get<double>(), mean_imbalance(of_rank), 2e-6);
    EXPECT_NEAR(json()["imbalance"]["experts"].get<double>(), mean_imbalance(of_expert), 2e-6);
}

TEST_F(Summary, BinsOfABundleAddUpToItsBytes) {
    auto const bundle = column<std::uint32_t>(file(), "link_bins", "bundle");
    auto const bytes = column<std::int64_t>(file(), "link_bins", "wire_bytes");
    auto const wire = column<std::int64_t>(file(), "links", "wire_bytes");
    std::vector<std::int64_t> sum(wire.size(), 0);
    for (std::size_t i = 0; i < bundle.size(); ++i) sum[bundle[i]] += bytes[i];
    auto const transfers = json()["flows"].get<std::int64_t>();  // each may end up to a picosecond late
    for (std::size_t b = 0; b < wire.size(); ++b) {
        EXPECT_GT(wire[b], 0);
        EXPECT_GE(sum[b], wire[b] - 1);
        EXPECT_LE(sum[b], wire[b] + transfers / 8 + 1);
    }
}

TEST_F(Summary, IgnoredOptionsAreListedAndChangeNothing) {
    auto const plain = Simulated(directory_->scenario, {}).digest();
    for (auto const* set :
         {"workload.experts.shared_copies=4", "fabric.leaf_spine.spines=3", "fabric.cloudmatrix384.rdma.latency=1us"}) {
        auto const finished = orrery({"run", "tiny.yaml", "--out", "i", "--force", "--set", set}, directory_->path());
        EXPECT_EQ(finished.code, 0) << finished.err;
        EXPECT_EQ(finished.digest(), "digest: " + plain) << set;
        auto const ignored = summary_of(directory_->path() / "i")["ignored"];
        auto const path = std::string(set).substr(0, std::string(set).find('='));
        ASSERT_EQ(ignored.size(), 1U) << set;
        EXPECT_THAT(ignored[0].get<std::string>(), HasSubstr(path));
        EXPECT_THAT(finished.out, HasSubstr("Ignored or without effect:"));
    }
    EXPECT_EQ(json()["ignored"].size(), 0U);
    EXPECT_EQ("digest: " + plain, finished_->digest());  // in process and from the shell: one result
}

}  // namespace
}  // namespace orrery::testing

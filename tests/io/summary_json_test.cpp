// SPDX-License-Identifier: Apache-2.0
// summary.json: the documented fields, all of them and no others.
#include "core/check.hpp"
#include "io/summary/summary.hpp"
#include "tests/io/timeline_rows.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace orrery {
namespace {

using nlohmann::json;

Summary example() {
    Summary s;
    s.digest = "00112233445566778899aabbccddeeff";
    s.complete = true;
    s.processes = 2;
    s.simulated_time_s = 0.0581;
    s.peak_rss_bytes = 1LL << 40;
    s.conservation = {.injected_bytes = 10, .delivered_bytes = 7, .dropped_bytes = 2, .in_flight_bytes = 1};
    auto& dispatch = s.operations.emplace_back();
    dispatch.name = "dispatch";
    dispatch.bound_by = "x";
    s.links.push_back({.name = "sn0.n3.up", .bytes = 1234, .utilisation = 0.5, .max_queue_bytes = 42, .marks = 7});
    s.packets.pauses = 3;
    s.packets.slowdown.p99 = 2.5;
    s.imbalance = {1.25, 1.5};
    s.parallel.processes = {{.events = 5, .busy_s = 1.5, .waiting_s = 0.5},
                            {.events = 3, .busy_s = 0.5, .waiting_s = 1.5}};
    s.parallel.advice = "1 process would be as fast";
    s.ignored = {"network.mtu (flow level)"};
    return s;
}

void collect_keys(json const& value, std::string const& prefix, std::vector<std::string>& keys) {
    if (value.is_array()) {
        if (!value.empty()) collect_keys(value.front(), prefix + "[]", keys);
        return;
    }
    if (!value.is_object()) return;
    for (auto const& [key, member] : value.items()) {
        auto const path = prefix.empty() ? key : prefix + "." + key;
        keys.push_back(path);
        collect_keys(member, path, keys);
    }
}

std::string text_of(std::filesystem::path const& path) {
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

TEST(SummaryJson, ValuesComeBack) {
    test::TemporaryDirectory dir;
    auto const s = example();
    write_summary_json(dir.path() / "summary.json", s);
    auto const found = json::parse(text_of(dir.path() / "summary.json"));
    EXPECT_EQ(found["digest"], "00112233445566778899aabbccddeeff");
    EXPECT_EQ(found["complete"], true);
    EXPECT_EQ(found["processes"], 2);
    EXPECT_EQ(found["simulated_time_s"], 0.0581);
    EXPECT_EQ(found["peak_rss_bytes"], 1LL << 40);
    json const conservation = {
        {"injected_bytes", 10}, {"delivered_bytes", 7}, {"dropped_bytes", 2}, {"in_flight_bytes", 1}};
    EXPECT_EQ(found["conservation"], conservation);
    EXPECT_EQ(found["operations"][0]["bound_by"], "x");
    EXPECT_EQ(found["links"][0], json({{"name", "sn0.n3.up"},
                                       {"bytes", 1234},
                                       {"utilisation", 0.5},
                                       {"max_queue_bytes", 42},
                                       {"busy_s", 0.0},
                                       {"paused_s", 0.0},
                                       {"marks", 7},
                                       {"drops", 0}}));
    EXPECT_EQ(found["packets"]["pauses"], 3);
    EXPECT_EQ(found["packets"]["slowdown"]["p99"], 2.5);
    EXPECT_EQ(found["imbalance"], json({{"ranks", 1.25}, {"experts", 1.5}}));
    EXPECT_EQ(found["parallel"]["processes"][1]["waiting_s"], 1.5);
    EXPECT_EQ(found["parallel"]["advice"], "1 process would be as fast");
    EXPECT_EQ(found["ignored"], json(s.ignored));
    EXPECT_EQ(found["warnings"], json::array());
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "summary.json.tmp"));
}

TEST(SummaryJson, TheDocumentNamesEveryField) {
    test::TemporaryDirectory dir;
    write_summary_json(dir.path() / "summary.json", example());
    std::vector<std::string> keys;
    collect_keys(json::parse(text_of(dir.path() / "summary.json")), "", keys);
    auto const document = text_of(ORRERY_SOURCE_DIR "/docs/summary.md");
    for (auto const& key : keys) EXPECT_NE(document.find("| `" + key + "` |"), std::string::npos) << key;
    std::size_t documented = 0;
    for (std::size_t at = 0; (at = document.find("\n| `", at)) != std::string::npos; ++at) ++documented;
    EXPECT_EQ(documented, keys.size());
}

TEST(SummaryJson, TextThatIsNotUtf8IsNoReasonToLoseTheResult) {
    test::TemporaryDirectory dir;
    auto s = example();
    s.model = "model\xff";
    write_summary_json(dir.path() / "summary.json", s);
    EXPECT_EQ(json::parse(text_of(dir.path() / "summary.json"))["model"], "model\ufffd");
}

TEST(SummaryJson, AMissingDirectoryIsNamedWithTheReason) {
    try {
        write_summary_json("/nowhere/summary.json", example());
        FAIL() << "no error";
    } catch (InputError const& error) {
        EXPECT_STREQ(error.what(), "cannot write /nowhere/summary.json.tmp (No such file or directory)");
    }
}

TEST(SummaryJson, WhatMayDifferBetweenProcessCountsGoesToRun) {
    Manifest manifest;
    add_to_manifest(manifest, example());
    auto const keys_of = [](std::vector<ManifestEntry> const& entries) {
        std::vector<std::string> keys;
        for (auto const& entry : entries) keys.push_back(entry.key);
        return keys;
    };
    EXPECT_EQ(keys_of(manifest.run),
              (std::vector<std::string>{"processes", "windows", "wall_s", "cpu_s", "peak_rss_bytes", "busy_s",
                                        "waiting_s", "writing_s", "lookahead_s", "lookahead_reason", "lookahead_links",
                                        "events_per_window", "advice"}));
    EXPECT_EQ(std::get<std::string>(manifest.run[5].value), "1.5 0.5");
    EXPECT_EQ(manifest.summary.size(), 13U);
}

}  // namespace
}  // namespace orrery

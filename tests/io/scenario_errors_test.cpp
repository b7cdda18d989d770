// SPDX-License-Identifier: Apache-2.0
// Bad input and the exact text a user gets for it.
#include "tests/io/scenario_fixture.hpp"

#include <algorithm>
#include <chrono>

namespace orrery {
namespace {

class ScenarioErrors : public ScenarioTest {};

TEST_F(ScenarioErrors, UnknownKeyNamesTheNearest) {
    EXPECT_EQ(errors(valid_ + "  contxt: 4096\n"),
              "s.yaml:9:3: workload.contxt is unknown (workload has no such key) did you mean workload.context?");
    EXPECT_EQ(errors(valid_ + "zipf_s: 1\n"),
              "s.yaml:9:1: zipf_s is unknown (a scenario has no such key) did you mean workload.routing.zipf_s?");
    EXPECT_EQ(errors(valid_ + "qqqqqq: 1\n"),
              "s.yaml:9:1: qqqqqq is unknown (a scenario has no such key) "
              "known here: name, seed, fabric, device, workload, network, output");
}

TEST_F(ScenarioErrors, DuplicateKey) {
    EXPECT_EQ(errors(valid_ + "  ep: 64\n"), "s.yaml:9:3: ep is given twice (first on line 8) remove one of them");
}

TEST_F(ScenarioErrors, WrongKinds) {
    EXPECT_EQ(errors(valid_ + "  batch_per_rank: [1, 2]\n"),
              "s.yaml:9:19: workload.batch_per_rank = a list (must be a whole number) give one value");
    EXPECT_EQ(errors(valid_ + "  context: {a: 1}\n"),
              "s.yaml:9:12: workload.context = a group of keys (must be a whole number) give one value");
    EXPECT_EQ(errors(valid_ + "output: full\n"),
              "s.yaml:9:9: output = full (must be a group of keys) known there: detail, link_bin");
    EXPECT_EQ(errors(valid_ + "  context:\nseed: 1\n"),
              "s.yaml:9:3: workload.context has no value (a whole number is expected) give one or remove the key");
    EXPECT_EQ(errors(valid_ + "  context: many\n"),
              "s.yaml:9:12: workload.context = many (not a whole number) write it like 4096");
    EXPECT_EQ(errors(valid_ + "  context: 4096.5\n"),
              "s.yaml:9:12: workload.context = 4096.5 (not a whole number) write 4097");
    EXPECT_EQ(errors(valid_ + "  routing: {group_limited: yes}\n"),
              "s.yaml:9:28: workload.routing.group_limited = yes (must be true or false) write true");
    EXPECT_EQ(
        errors(
            "fabric: {kind: single_switch, degrade: [x, {links: \"*\", down: true}]}\nworkload: {model: model.json}\n"),
        "s.yaml:1:41: fabric.degrade[0] = x (must be a group of keys) known there: links, rate_factor, extra_latency, "
        "down, from, until");
    EXPECT_EQ(errors("fabric: {kind: single_switch, degrade: {links: x}}\nworkload: {model: model.json}\n"),
              "s.yaml:1:40: fabric.degrade = a group of keys (must be a list) write each item after a dash");
}

TEST_F(ScenarioErrors, OutOfRangeIsToldInUnits) {
    EXPECT_EQ(errors(valid_ + "  microbatches: 0\n"),
              "s.yaml:9:17: workload.microbatches = 0 (must be at least 1) write 1 or more");
    EXPECT_EQ(errors(valid_ + "output: {link_bin: 10ns}\n"),
              "s.yaml:9:20: output.link_bin = 10ns (must be at least 1us) write 1us or more");
    EXPECT_EQ(errors(valid_ + "device: {memory_rate: 10000TB/s}\n"),
              "s.yaml:9:23: device.memory_rate = 10000TB/s (must be at most 125TB/s) write 125TB/s or less");
    EXPECT_EQ(errors(valid_ + "device: {int8_efficiency: 85}\n"),
              "s.yaml:9:27: device.int8_efficiency = 85 (must be at most 1) did you mean 85%?");
    EXPECT_EQ(errors(valid_ + "  context: -5\n"),
              "s.yaml:9:12: workload.context = -5 (must not be negative) write it like 4096");
    EXPECT_EQ(
        errors(valid_ + "  context: 99999999999999999999999\n"),
        "s.yaml:9:12: workload.context = 99999999999999999999999 (must be at most 16777216) write 16777216 or less");
    EXPECT_EQ(errors(valid_ + "seed: 18446744073709551616\n"),
              "s.yaml:9:7: seed = 18446744073709551616 (too large) write 18446744073709551615 or less");
    EXPECT_EQ(errors(valid_ + "seed: 007\n"),
              "s.yaml:9:7: seed = 007 (leading zeros mean octal to some) write it without");
}

TEST_F(ScenarioErrors, Units) {
    EXPECT_EQ(errors(valid_ + "device: {memory_rate: 28GBs}\n"),
              "s.yaml:9:23: device.memory_rate = 28GBs (unknown unit GBs) did you mean 28GB/s?");
    EXPECT_EQ(errors(valid_ + "device: {kernel_overhead: 200}\n"),
              "s.yaml:9:27: device.kernel_overhead = 200 (has no unit) write 200us");
    EXPECT_EQ(errors(valid_ + "device: {int8_rate: 752}\n"),
              "s.yaml:9:21: device.int8_rate = 752 (has no unit) write 752TOPS");
}

TEST_F(ScenarioErrors, Choices) {
    EXPECT_EQ(errors(valid_ + "network: {model: flwo}\n"),
              "s.yaml:9:18: network.model = flwo (must be one of flow, packet, analytic) did you mean flow?");
    EXPECT_EQ(errors(valid_ + "network: {model: fluidum}\n"),
              "s.yaml:9:18: network.model = fluidum (must be one of flow, packet, analytic) choose one of these");
    // A condition on the refused kind is not judged: no second error about parameters of leaf_spine.
    EXPECT_EQ(errors("fabric: {kind: leafspine}\nworkload: {model: model.json}\n"),
              "s.yaml:1:16: fabric.kind = leafspine (must be one of ascend950, cloudmatrix384, dimensions, dragonfly, "
              "dragonfly_plus, fat_tree, file, full_mesh, "
              "graph, hyperx, leaf_spine, mesh, rail_optimised, single_switch, torus) "
              "did you mean leaf_spine?");
}

TEST_F(ScenarioErrors, RequiredKeys) {
    EXPECT_EQ(errors("name: x\n"),
              "s.yaml: fabric.kind is missing (required) choose one of ascend950, cloudmatrix384, dimensions, "
              "dragonfly, dragonfly_plus, fat_tree, file, full_mesh, "
              "graph, hyperx, leaf_spine, mesh, rail_optimised, single_switch, torus\n"
              "s.yaml: workload.model is missing (required when workload.kind is moe_step) add workload.model: HF "
              "config.json of the model.");
    EXPECT_EQ(errors("fabric: {kind: single_switch}\nworkload:\n  ep: 8\n"),
              "s.yaml:2:1: workload.model is missing (required when workload.kind is moe_step) add workload.model: HF "
              "config.json of the model.");
    EXPECT_EQ(errors(valid_ + "  routing:\n    source: histogram\n"),
              "s.yaml:9:3: workload.routing.file is missing (required when workload.routing.source is histogram) add "
              "workload.routing.file: Expert loads per layer (JSON weight or CSV), or per-token top-k (SGLang JSONL).");
    EXPECT_EQ(errors("fabric:\n  kind: single_switch\n  degrade:\n    - down: true\nworkload: {model: model.json}\n"),
              "s.yaml:4:7: fabric.degrade[0].links is missing (required) add fabric.degrade[0].links: "
              "Shell pattern over link names (orrery check --links lists them).");
}

TEST_F(ScenarioErrors, Files) {
    std::string const head = "fabric: {kind: single_switch}\nworkload: {model: ";
    EXPECT_EQ(errors(head + "modle.json}\n"),
              "s.yaml:2:19: workload.model = modle.json (no such file) did you mean model.json?");
    EXPECT_EQ(errors(head + ".}\n"), "s.yaml:2:19: workload.model = . (this is a directory) name a file in it");
    EXPECT_EQ(errors(head + "/dev/null}\n"),
              "s.yaml:2:19: workload.model = /dev/null (not a regular file) name a file");
    EXPECT_EQ(errors(head + "nowhere/deep/model.json}\n"),
              "s.yaml:2:19: workload.model = nowhere/deep/model.json (no directory nowhere) looked in " +
                  directory_.string());
    EXPECT_NE(errors(head + std::string(5000, 'x') + "}\n").find("(no such file)"), std::string::npos);
    // A file that cannot have an effect need not exist.
    EXPECT_EQ(errors(valid_ + "  routing: {file: gone.csv}\n"), "");
}

TEST_F(ScenarioErrors, TheScenarioItself) {
    EXPECT_EQ(errors(""),
              "s.yaml: the file is empty (a scenario needs fabric and workload) start from one in scenarios/");
    EXPECT_EQ(errors("# nothing\n"),
              "s.yaml: the file is empty (a scenario needs fabric and workload) start from one in scenarios/");
    EXPECT_EQ(errors("- a\n- b\n"),
              "s.yaml:1:1: the file holds a list (must be keys with values) write it like name: my run");
    EXPECT_EQ(errors("hello"),
              "s.yaml:1:1: the file holds one text (must be keys with values) write it like name: my run");
    EXPECT_EQ(errors(valid_ + "---\nname: other\n"),
              "s.yaml:10:1: a second document starts here (a scenario is one) remove the ---");
    EXPECT_EQ(errors(valid_ + "device: {\n"),
              "s.yaml:10:1: not YAML (end of map flow not found) check indentation, quotes and brackets here and on "
              "the line before");
    EXPECT_EQ(errors("fabric:\n\tkind: single_switch\nworkload:\n  \tep: 8\n"),
              "s.yaml:2:1: the line is indented with a tab (YAML allows only spaces) use two spaces per level\n"
              "s.yaml:4:3: the line is indented with a tab (YAML allows only spaces) use two spaces per level");
    EXPECT_EQ(errors(std::string("name: a\0b\n", 10)),
              "s.yaml:1:8: byte 0x00 is not text (a scenario is UTF-8) is this a scenario?");
    EXPECT_EQ(errors("name: \xff\n"), "s.yaml:1:7: byte 0xff is not text (a scenario is UTF-8) is this a scenario?");
    write("good.yaml", valid_);
    EXPECT_EQ(errors_of(directory_ / "god.yaml"), "god.yaml (no such file) did you mean good.yaml?");
    EXPECT_NE(errors_of(directory_).find("(this is a directory) name a file in it"), std::string::npos);
}

TEST_F(ScenarioErrors, RulesBetweenFields) {
    EXPECT_EQ(errors(valid_, {"fabric.leaf_spine.hosts_per_leaf=7"}),
              "--set fabric.leaf_spine.hosts_per_leaf=7: fabric.leaf_spine.hosts_per_leaf = 7 "
              "(does not divide fabric.leaf_spine.hosts = 64) nearest that do: 4 or 8");
    EXPECT_EQ(errors(valid_ + "  microbatches: 5\n"),
              "s.yaml:9:17: workload.microbatches = 5 (does not divide the 48 tokens of a rank: 48 sequences of 1) "
              "nearest that do: 4 or 6");
    EXPECT_EQ(
        errors(valid_, {"fabric.degrade[0].links=*", "fabric.degrade[0].from=5us", "fabric.degrade[0].until=2us"}),
        "--set fabric.degrade[0].until=2us: fabric.degrade[0].until = 2us (not after from = 5us) write a later "
        "time, or leave it out");
    EXPECT_EQ(errors(valid_, {"fabric.degrade[0].links=*", "fabric.degrade[0].from=5us", "fabric.degrade[0].down=true",
                              "network.model=analytic"}),
              "--set fabric.degrade[0].from=5us: fabric.degrade[0].from = 5us (the analytic model has no links that "
              "change in time) use network.model=flow or packet");
    EXPECT_EQ(errors(valid_ + "network: {flow: {error: sometimes}}\n"),
              "s.yaml:9:25: network.flow.error = sometimes (must be exact, auto or a fraction) write auto or 1%");
    EXPECT_EQ(errors(valid_ + "network: {flow: {error: 50%}}\n"),
              "s.yaml:9:25: network.flow.error = 50% (must be from 0.01% to 20%) write 1%, auto or exact");
    EXPECT_EQ(errors(valid_ + "network: {flow: {error: 0.5%}}\n"), "");
}

TEST_F(ScenarioErrors, AllInOneGoSortedByPosition) {
    EXPECT_EQ(errors("fabric: {kind: leaf_spine, leaf_spine: {hosts: 64, hosts_per_leaf: 7}}\n"
                     "workload:\n"
                     "  model: nothing.json\n"
                     "  ep: 0\n"
                     "  eep: 1\n"
                     "  ep: 3\n",
                     {"seed=-1", "sed=1"}),
              "s.yaml:1:68: fabric.leaf_spine.hosts_per_leaf = 7 (does not divide fabric.leaf_spine.hosts = 64) "
              "nearest that do: 4 or 8\n"
              "s.yaml:3:10: workload.model = nothing.json (no such file) looked in " +
                  directory_.string() +
                  "\n"
                  "s.yaml:4:7: workload.ep = 0 (must be at least 2) write 2 or more\n"
                  "s.yaml:5:3: workload.eep is unknown (workload has no such key) did you mean workload.ep?\n"
                  "s.yaml:6:3: ep is given twice (first on line 4) remove one of them\n"
                  "--set seed=-1: seed = -1 (must not be negative) write it like 1\n"
                  "--set sed=1: sed is unknown (a scenario has no such key) did you mean seed?");
}

TEST_F(ScenarioErrors, AnchorsAndTheirLimits) {
    EXPECT_EQ(errors(valid_ + "device: &d\n  name: *d\n"),
              "s.yaml:10:3: device.name has no value (a text is expected) give one or remove the key\n"
              "s.yaml:10:9: the alias stands inside its own anchor (it would never end) write the value out");
    EXPECT_EQ(errors(valid_ + "device:\n  <<: 5\n"),
              "s.yaml:10:3: << merges something that is not a map (only maps have keys) write <<: *anchor");
    EXPECT_EQ(errors(valid_ + "device:\n  name: *d\n").substr(0, 60),
              "s.yaml:10:9: not YAML (the referenced anchor is not defined)");
}

TEST_F(ScenarioErrors, HugeAndHostileFilesAreRefusedQuickly) {
    auto const start = std::chrono::steady_clock::now();
    EXPECT_EQ(errors(valid_ + std::string(10'000'000, '#')), "s.yaml (larger than 256KiB) is this a scenario?");
    EXPECT_EQ(errors("a: " + std::string(200'000, '[')),
              "s.yaml:1:1: nested too deeply (over 500 levels) is this a scenario?");
    EXPECT_NE(errors(std::string(200'000, '{')), "");
    std::string nested, bomb = "x0: &x0 {a: 1}\n", many;
    for (int i = 0; i < 300; ++i) nested += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
    for (int i = 1; i < 60; ++i) {
        std::string const before = "*x" + std::to_string(i - 1);
        bomb += "x" + std::to_string(i) + ": &x" + std::to_string(i) + " {<<: [" + before + ", " + before + "], b: [" +
                before + ", " + before + "]}\n";
    }
    for (int i = 0; i < 10'000; ++i) many += "unknown_key_" + std::to_string(i) + ": 1\n";
    EXPECT_NE(errors(nested), "");
    EXPECT_NE(errors(bomb), "");
    std::string const text = errors(many);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100);
    EXPECT_NE(text.find("\n... and many more"), std::string::npos) << text.substr(text.size() - 100);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What a good scenario becomes: defaults, origins, overrides, ignored options, texts that load again.
#include "core/random.hpp"
#include "io/scenario/condition.hpp"
#include "io/scenario/schema.hpp"
#include "io/scenario/value.hpp"
#include "tests/io/scenario_fixture.hpp"

#include <algorithm>
#include <memory>

namespace orrery {
namespace {

using Strings = std::vector<std::string>;

class ScenarioLoad : public ScenarioTest {};

TEST(ScenarioSchema, EveryFieldHasHelpAndEveryDefaultIsLegal) {
    int checked = 0;
    loader::visit_schema(
        *scenario::Scenario::descriptor(), "", [&](std::string const& path, loader::Field const& field) {
            loader::FieldFacts const facts = loader::facts_of(field);
            EXPECT_FALSE(facts.help.empty()) << path;
            if (!loader::is_message(field) && !facts.fallback.empty()) {
                auto const& factory = *google::protobuf::MessageFactory::generated_factory();
                auto& mutable_factory = const_cast<google::protobuf::MessageFactory&>(factory);
                std::unique_ptr<loader::Message> message(mutable_factory.GetPrototype(field.containing_type())->New());
                auto const refused = loader::assign(*message, field, facts.fallback);
                EXPECT_FALSE(refused) << path << " = " << facts.fallback << ": " << refused->reason;
                EXPECT_TRUE(loader::is_set(*message, field)) << path;
                // Printed and read again, the default is the same.
                std::string const stored = loader::stored_text(*message, field);
                EXPECT_FALSE(loader::assign(*message, field, loader::user_text(*message, field))) << path;
                EXPECT_EQ(loader::stored_text(*message, field), stored) << path;
                ++checked;
            }
            bool const number = !loader::is_message(field) && field.cpp_type() != loader::Field::CPPTYPE_STRING;
            EXPECT_TRUE(!number || field.has_presence()) << path << " must be optional";
            for (loader::Clause const& clause : loader::parse_condition(facts.applies_when)) {
                bool found = false;
                loader::visit_schema(*scenario::Scenario::descriptor(), "",
                                     [&](std::string const& other, loader::Field const& f) {
                                         if (other != clause.path) return;
                                         found = true;
                                         auto const choices = loader::facts_of(f).choices;
                                         for (std::string const& value : clause.values)
                                             EXPECT_EQ(std::count(choices.begin(), choices.end(), value), 1)
                                                 << path << " depends on " << value;
                                     });
                EXPECT_TRUE(found) << path << " depends on " << clause.path;
            }
        });
    EXPECT_GT(checked, 60);
}

TEST_F(ScenarioLoad, DefaultsFillWhatTheUserLeftOut) {
    LoadedScenario const loaded = load(valid_);
    auto const& s = loaded.scenario;
    EXPECT_EQ(s.name(), "test");
    EXPECT_EQ(s.seed(), 1U);
    EXPECT_EQ(s.fabric().leaf_spine().hosts(), 64U);
    EXPECT_EQ(s.fabric().leaf_spine().host_rate(), 400'000'000'000);
    EXPECT_FALSE(s.fabric().has_cloudmatrix384());
    EXPECT_EQ(s.device().memory_rate(), 12'800'000'000'000);
    EXPECT_EQ(s.workload().routing().source(), "uniform");
    EXPECT_TRUE(s.workload().routing().group_limited());
    EXPECT_EQ(s.network().flow().error(), "auto");
    EXPECT_FALSE(s.workload().operators().dispatch().has_launch());  // calibrated elsewhere
    EXPECT_EQ(s.workload().model(), (directory_ / "model.json").string());
    EXPECT_EQ(loaded.directory, directory_);
    EXPECT_TRUE(loaded.ignored.empty());
    std::string const file = (directory_ / "s.yaml").string();
    EXPECT_EQ(loaded.origin.at("workload.ep"), file + ":8:7");
    EXPECT_EQ(loaded.origin.size(), 5U);
    EXPECT_EQ(locate(loaded, "workload.ep"), file + ":8:7: workload.ep");
    EXPECT_EQ(locate(loaded, "workload.context"), "workload.context (default)");
}

TEST_F(ScenarioLoad, TheChosenFabricBringsItsPlanes) {
    LoadedScenario const loaded = load("fabric: {kind: cloudmatrix384}\nworkload: {model: model.json}\n");
    EXPECT_EQ(loaded.scenario.fabric().cloudmatrix384().sio_rate(), 2'160'000'000'000);
    EXPECT_EQ(loaded.scenario.fabric().cloudmatrix384().rdma().latency(), 5'000'000);
    EXPECT_FALSE(loaded.scenario.fabric().has_leaf_spine());
}

TEST_F(ScenarioLoad, AnchorsAliasesAndMergeKeys) {
    LoadedScenario const loaded = load(
        "fabric:\n"
        "  kind: single_switch\n"
        "  degrade:\n"
        "    - &slow {links: \"host0*\", rate_factor: 50%}\n"
        "    - {<<: *slow, links: \"host1*\"}\n"
        "    - *slow\n"
        "workload: {model: \"model.json\"}\n");
    auto const& degrade = loaded.scenario.fabric().degrade();
    ASSERT_EQ(degrade.size(), 3);
    EXPECT_EQ(degrade[0].links(), "host0*");
    EXPECT_EQ(degrade[1].links(), "host1*");
    EXPECT_EQ(degrade[1].rate_factor(), 0.5);
    EXPECT_EQ(degrade[2].links(), "host0*");
    EXPECT_EQ(degrade[2].extra_latency(), 0);
}

TEST_F(ScenarioLoad, SetOverridesTheFile) {
    LoadedScenario const loaded =
        load(valid_ + "  # the end\n",
             {"workload.ep=16", "fabric.degrade[0].links=[ab]*", "fabric.degrade[0].down=true",
              "fabric.degrade[1]={links: c, rate_factor: 0.5}", "name=a = b", "output.link_bin=1ms"});
    EXPECT_EQ(loaded.scenario.workload().ep(), 16U);
    EXPECT_EQ(loaded.origin.at("workload.ep"), "--set workload.ep=16");
    EXPECT_EQ(locate(loaded, "workload.ep"), "--set workload.ep=16: workload.ep");
    ASSERT_EQ(loaded.scenario.fabric().degrade().size(), 2);
    EXPECT_EQ(loaded.scenario.fabric().degrade(0).links(), "[ab]*");
    EXPECT_TRUE(loaded.scenario.fabric().degrade(0).down());
    EXPECT_EQ(loaded.scenario.fabric().degrade(1).rate_factor(), 0.5);
    EXPECT_EQ(loaded.scenario.name(), "a = b");
    EXPECT_EQ(loaded.scenario.output().link_bin(), 1'000'000'000);

    LoadedScenario const replaced = load(
        "fabric: {kind: single_switch, degrade: [{links: a, down: true}, {links: b, down: true}]}\n"
        "workload: {model: model.json}\n",
        {"fabric.degrade=[{links: c, rate_factor: 0.5}]"});
    ASSERT_EQ(replaced.scenario.fabric().degrade().size(), 1);
    EXPECT_EQ(replaced.scenario.fabric().degrade(0).links(), "c");
    EXPECT_FALSE(replaced.origin.contains("fabric.degrade[1].links"));
    EXPECT_FALSE(replaced.origin.contains("fabric.degrade[0].down"));
}

TEST_F(ScenarioLoad, SetErrors) {
    EXPECT_EQ(errors(valid_, {"workload.epp=3"}),
              "--set workload.epp=3: workload.epp is unknown (workload has no such key) did you mean workload.ep?");
    EXPECT_EQ(errors(valid_, {"wokload.ep=3"}),
              "--set wokload.ep=3: wokload is unknown (a scenario has no such key) did you mean workload?");
    EXPECT_EQ(errors(valid_, {"workload.ep"}),
              "--set workload.ep: not path=value (there is no path or no =) write it like --set workload.ep=64");
    EXPECT_EQ(errors(valid_, {"workload=3"}).substr(0, 64),
              "--set workload=3: workload = 3 (must be a group of keys) known t");
    EXPECT_EQ(
        errors(valid_, {"workload.ep.x=3"}),
        "--set workload.ep.x=3: workload.ep.x is not a path (workload.ep is a whole number) write workload.ep=value");
    EXPECT_EQ(errors(valid_, {"workload.ep[0]=3"}),
              "--set workload.ep[0]=3: workload.ep[0] is not a path (workload.ep is not a list) write workload.ep");
    EXPECT_EQ(errors(valid_, {"fabric.degrade.links=x"}),
              "--set fabric.degrade.links=x: fabric.degrade.links is not a path (fabric.degrade is a list) "
              "write fabric.degrade[0].links");
    EXPECT_EQ(errors(valid_, {"fabric.degrade[2].links=x"}),
              "--set fabric.degrade[2].links=x: fabric.degrade[2] does not exist (fabric.degrade has 0 items) "
              "use fabric.degrade[0] to append");
    EXPECT_EQ(
        errors(valid_, {"fabric.degrade[x].links=x"}),
        "--set fabric.degrade[x].links=x: fabric.degrade[x].links is not a path (an index is a number in brackets) "
        "write fabric.degrade[0]");
    EXPECT_EQ(errors(valid_, {"fabric.degrade[0].link=x"}),
              "--set fabric.degrade[0].link=x: fabric.degrade[0].link is unknown (fabric.degrade[0] has no such key) "
              "did you mean fabric.degrade[0].links?");
    EXPECT_EQ(errors(valid_, {"network.model="}),
              "--set network.model=: network.model =  (is empty) remove it to use flow");
}

TEST_F(ScenarioLoad, PathsOfSetAreRelativeToTheCurrentDirectory) {
    auto const before = std::filesystem::current_path();
    std::filesystem::create_directories(directory_ / "elsewhere");
    write("elsewhere/other.json", "{}");
    std::filesystem::current_path(directory_ / "elsewhere");
    LoadedScenario const loaded = load(valid_, {"workload.model=other.json"});
    std::string const error = errors(valid_, {"workload.model=model.json"});
    std::filesystem::current_path(before);
    EXPECT_EQ(loaded.scenario.workload().model(), (directory_ / "elsewhere/other.json").string());
    EXPECT_NE(error.find("workload.model = model.json (no such file)"), std::string::npos) << error;
}

TEST_F(ScenarioLoad, OptionsWithoutEffectAreNamed) {
    LoadedScenario const loaded =
        load(valid_ +
                 "  routing: {zipf_s: 1.2, file: gone.csv}\n"
                 "  experts: {shared_copies: 8}\n"
                 "network: {model: analytic, flow: {error: exact}}\n",
             {"fabric.single_switch.hosts=4", "fabric.cloudmatrix384.rdma.latency=7us", "fabric.degrade[0].links=a",
              "fabric.degrade[1]={links: b, down: true, rate_factor: 0.5}"});
    Strings const expected{
        "fabric.cloudmatrix384.rdma.latency = 7us has no effect (fabric.kind is leaf_spine, not cloudmatrix384)",
        "fabric.single_switch.hosts = 4 has no effect (fabric.kind is leaf_spine, not single_switch)",
        "workload.experts.shared_copies = 8 has no effect (workload.experts.shared is local, not dedicated)",
        "workload.routing.zipf_s = 1.2 has no effect (workload.routing.source is uniform, not zipf)",
        "workload.routing.file = " + (directory_ / "gone.csv").string() +
            " has no effect (workload.routing.source is uniform, not histogram or trace)",
        "network.flow.error = exact has no effect (network.model is analytic, not flow)",
        "fabric.degrade[0].links = a has no effect (nothing is changed)",
        "fabric.degrade[1].rate_factor = 0.5 has no effect (fabric.degrade[1].down is true)",
    };
    EXPECT_EQ(loaded.ignored, expected);
    EXPECT_TRUE(plane_fields_set(loaded, "rdma").empty());  // already ignored
}

TEST_F(ScenarioLoad, FieldsOfAPlane) {
    LoadedScenario const loaded = load(
        "fabric: {kind: cloudmatrix384, cloudmatrix384: {nodes: 4, rdma: {latency: 7us, efficiency: 90%}}}\n"
        "workload: {model: model.json}\n",
        {"fabric.cloudmatrix384.vpc.latency=3us"});
    EXPECT_EQ(plane_fields_set(loaded, "rdma"),
              (Strings{"fabric.cloudmatrix384.rdma.efficiency", "fabric.cloudmatrix384.rdma.latency"}));
    EXPECT_EQ(plane_fields_set(loaded, "vpc"), (Strings{"fabric.cloudmatrix384.vpc.latency"}));
    EXPECT_TRUE(plane_fields_set(loaded, "ub").empty());
}

TEST_F(ScenarioLoad, TheResolvedTextLoadsToTheSameScenario) {
    for (std::string const kind : {"cloudmatrix384", "leaf_spine", "single_switch"}) {
        LoadedScenario const loaded = load(
            "fabric: {kind: " + kind + "}\nworkload: {model: model.json}\n",
            {"name=a \"quoted\" # name: with \\ and \xc3\xa9", "fabric.degrade[0]={links: \"*x\", rate_factor: 0.3}",
             "fabric.degrade[1]={links: y, extra_latency: 1.5us}", "workload.routing.zipf_s=1.25",
             "workload.operators.combine.per_peer=90ns", "device.int8_efficiency=77.4%"});
        std::string const text = resolved_text(loaded);
        LoadedScenario const again = load(text);
        EXPECT_EQ(canonical_text(again.scenario), canonical_text(loaded.scenario)) << text;
        EXPECT_EQ(again.scenario.SerializeAsString(), loaded.scenario.SerializeAsString());
    }
}

TEST_F(ScenarioLoad, TheResolvedTextTellsUnitsOriginAndSource) {
    std::string const text = resolved_text(load(valid_, {"device.memory_rate=2TB/s", "workload.routing.zipf_s=1"}));
    auto const has = [&](std::string const& line) { return text.find(line) != std::string::npos; };
    EXPECT_TRUE(has("  memory_rate: 2TB/s                          # --set device.memory_rate=2TB/s. Peak HBM"))
        << text;
    EXPECT_TRUE(
        has("  ep: 32                                      # " + (directory_ / "s.yaml").string() + ":8:7. Expert-"));
    EXPECT_TRUE(has("    host_rate: 400Gb/s                        # default. Host to leaf."));
    EXPECT_TRUE(has("  int8_rate: 752TOPS                          # default. Peak INT8"));
    EXPECT_TRUE(has("[msmodeling device.py A3_752T_128G_DIE]"));
    EXPECT_TRUE(has("  # single_switch: no effect (fabric.kind is leaf_spine, not single_switch)"));
    EXPECT_TRUE(has(
        "zipf_s: 1                                 # --set workload.routing.zipf_s=1. no effect (workload.routing"));
    EXPECT_TRUE(has("      # launch: not set. From the start"));
}

TEST_F(ScenarioLoad, TheCanonicalTextIsOneLinePerField) {
    std::string const text = canonical_text(load(valid_).scenario);
    EXPECT_EQ(text.substr(0, 94),
              "name=test\nseed=1\nfabric.kind=leaf_spine\nfabric.leaf_spine.hosts=64\nfabric.leaf_spine.hosts_per");
    EXPECT_NE(text.find("\ndevice.kernel_overhead=5000000\n"), std::string::npos);
    EXPECT_EQ(text, canonical_text(load("{workload: {ep: 32, model: model.json}, name: test, "
                                        "fabric: {leaf_spine: {hosts: 64, host_rate: 50GB/s}, kind: leaf_spine}}")
                                       .scenario));
}

TEST_F(ScenarioLoad, MutatedFilesNeverCrash) {
    std::string const base = valid_ +
                             "  routing: &r {source: zipf, zipf_s: 1.5}\n"
                             "device: {memory_rate: 1.6TB/s, int8_efficiency: 80%, name: \"a device whose name is "
                             "long, so that many changes of one byte leave a legal scenario\"}\n"
                             "network:\n  flow:\n    error: 1%\n";
    RandomSequence random(7, RandomStream::test, 2);
    int loaded = 0, refused = 0;
    for (int round = 0; round < 2'500; ++round) {
        std::string text = base;
        for (std::uint32_t n = 1 + random.below(2); n > 0; --n) {
            std::size_t const at = random.below(static_cast<std::uint32_t>(text.size()));
            std::string const marks = "{}[]:,-#&*!|>'\"%@?~<\n\t 09.=\\";
            switch (random.below(5)) {
                case 0:
                    text[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    text[at] = marks[random.below(static_cast<std::uint32_t>(marks.size()))];
                    break;
                case 2:
                    text.insert(at, 1, marks[random.below(static_cast<std::uint32_t>(marks.size()))]);
                    break;
                case 3:
                    text.erase(at, 1 + random.below(20));
                    break;
                default:
                    text.insert(at, base.substr(random.below(static_cast<std::uint32_t>(base.size())), 30));
                    break;
            }
            if (text.empty()) text = "x";
        }
        try {
            LoadedScenario const scenario = load(text);
            // Whatever was accepted prints to something that is accepted.
            ASSERT_EQ(canonical_text(load(resolved_text(scenario)).scenario), canonical_text(scenario.scenario))
                << text;
            ++loaded;
        } catch (InputError const&) {
            ++refused;
        }
    }
    EXPECT_GT(loaded, 50);
    EXPECT_GT(refused, 1'000);
}

TEST_F(ScenarioLoad, RandomBytesAndRandomSetsNeverCrash) {
    RandomSequence random(7, RandomStream::test, 3);
    for (int round = 0; round < 1'000; ++round) {
        std::string bytes, set = "fabric.degrade[0]";
        for (std::uint32_t n = random.below(200); n > 0; --n) bytes += static_cast<char>(random.below(256));
        for (std::uint32_t n = random.below(12); n > 0; --n) set += "[]={}.links:0 \"&*\xc3"[random.below(18)];
        EXPECT_THROW(load(bytes), InputError);
        try {
            load(valid_, {set});
        } catch (InputError const&) {
        }
    }
}

TEST(ScenarioReference, HoldsEveryField) {
    std::string const text = reference_markdown();
    loader::visit_schema(
        *scenario::Scenario::descriptor(), "", [&](std::string const& path, loader::Field const& field) {
            EXPECT_NE(text.find("| `" + field.name() + "` |"), std::string::npos) << path;
            EXPECT_TRUE(!loader::is_message(field) || text.find("`" + path) != std::string::npos) << path;
        });
    EXPECT_NE(text.find("| `die_link_rate` | a rate | `28GB/s` | 125kB/s to 12.5TB/s | One die to one L1 chip. |  | "
                        "224 Gb/s per port, arXiv:2506.12708 |"),
              std::string::npos);
    EXPECT_NE(text.find("## `workload.operators.dispatch`, `workload.operators.combine`"), std::string::npos);
}

}  // namespace
}  // namespace orrery

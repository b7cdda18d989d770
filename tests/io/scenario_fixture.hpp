// SPDX-License-Identifier: Apache-2.0
// A directory of its own for every test, with a scenario that loads and helpers to break it.
#pragma once

#include "core/check.hpp"
#include "io/scenario/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace orrery {

class ScenarioTest : public testing::Test {
  protected:
    void SetUp() override {
        auto const* info = testing::UnitTest::GetInstance()->current_test_info();
        directory_ = std::filesystem::temp_directory_path() /
                     ("orrery_" + std::to_string(::getpid()) + "_" + info->test_suite_name() + "_" + info->name());
        std::filesystem::remove_all(directory_);
        std::filesystem::create_directories(directory_);
        write("model.json", "{}");
        write("loads.json", "{}");
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::filesystem::path write(std::string const& name, std::string const& text) const {
        std::filesystem::remove(directory_ / name);  // ext4 flushes a file that is truncated and rewritten
        std::ofstream(directory_ / name, std::ios::binary) << text;
        return directory_ / name;
    }

    LoadedScenario load(std::string const& text, std::vector<std::string> const& sets = {}) const {
        return load_scenario(write("s.yaml", text), sets);
    }

    // The error text without the directory in front of file names; empty if it loads.
    std::string errors(std::string const& text, std::vector<std::string> const& sets = {}) const {
        return errors_of(write("s.yaml", text), sets);
    }
    std::string errors_of(std::filesystem::path const& file, std::vector<std::string> const& sets = {}) const {
        try {
            load_scenario(file, sets);
        } catch (InputError const& error) {
            std::string what = error.what();
            std::string const prefix = directory_.string() + "/";
            for (auto at = what.find(prefix); at != std::string::npos; at = what.find(prefix))
                what.erase(at, prefix.size());
            return what;
        }
        return {};
    }

    std::filesystem::path directory_;
    std::string const valid_ =
        "name: test\n"
        "fabric:\n"
        "  kind: leaf_spine\n"
        "  leaf_spine:\n"
        "    hosts: 64\n"
        "workload:\n"
        "  model: model.json\n"
        "  ep: 32\n";
};

}  // namespace orrery

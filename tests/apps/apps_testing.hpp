// SPDX-License-Identifier: Apache-2.0
// For tests of the program: a directory of its own, jobs and simulations in process, and the real binary.
#pragma once

#include "apps/run/job.hpp"
#include "apps/run/simulation.hpp"
#include "io/timeline/hdf5.hpp"
#include "tests/collected_rows.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace orrery::testing {

namespace fs = std::filesystem;
using namespace literals;

// Gone with the object.
class TempDirectory {
  public:
    TempDirectory() {
        auto pattern = (fs::temp_directory_path() / "orrery-apps-XXXXXX").string();
        ORRERY_ENSURE(::mkdtemp(pattern.data()) != nullptr, "no temporary directory");
        path_ = pattern;
    }
    ~TempDirectory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TempDirectory(TempDirectory const&) = delete;
    TempDirectory& operator=(TempDirectory const&) = delete;

    fs::path const& path() const { return path_; }
    fs::path write(std::string const& name, std::string const& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }
    // Everything below it, relative, sorted; directories end in '/'.
    std::vector<std::string> entries() const {
        std::vector<std::string> all;
        for (auto const& entry : fs::recursive_directory_iterator(path_))
            all.push_back(fs::relative(entry.path(), path_).string() + (entry.is_directory() ? "/" : ""));
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    fs::path path_;
};

inline std::string read_text(fs::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

inline fs::path shipped(std::string const& name) {
    return fs::path(ORRERY_SOURCE_DIR) / "scenarios" / (name + ".yaml");
}

// 32 experts, top-4, two MoE layers after a dense one: an HF config.json that prices in no time.
inline std::string const tiny_model = R"({
  "model_type": "qwen3_moe", "num_hidden_layers": 3, "hidden_size": 1024, "num_attention_heads": 16,
  "num_key_value_heads": 4, "head_dim": 64, "num_experts": 32, "num_experts_per_tok": 4,
  "moe_intermediate_size": 512, "intermediate_size": 2048, "decoder_sparse_step": 1, "mlp_only_layers": [0],
  "vocab_size": 32000})";

// Eight ranks of that model on one switch; `more` is appended to the workload.
inline std::string tiny_scenario(std::string const& more = "") {
    return "name: tiny\nseed: 1\nfabric:\n  kind: single_switch\n  single_switch:\n    hosts: 8\n"
           "workload:\n  model: tiny.json\n  batch_per_rank: 24\n  context: 1024\n  ep: 8\n" +
           more;
}

// A directory with tiny.json and tiny.yaml in it.
class TinyDirectory : public TempDirectory {
  public:
    explicit TinyDirectory(std::string const& more = "") {
        write("tiny.json", tiny_model);
        scenario = write("tiny.yaml", tiny_scenario(more));
    }
    fs::path scenario;
};

inline Job make_job(fs::path const& scenario, std::vector<std::string> const& sets = {}) {
    return Job(load_scenario(scenario, sets));
}

using Rows = CollectedRows;

// The whole job in this process.
struct Simulated {
    explicit Simulated(Job const& job) {
        std::vector<std::uint32_t> const owner(job.lp_count(), 0);
        LocalExchange alone;
        Simulation simulation(job, owner, alone, rows, {});
        outcome = simulation.run();
        share = simulation.share();
    }
    Simulated(fs::path const& scenario, std::vector<std::string> const& sets) : Simulated(make_job(scenario, sets)) {}

    Time step() const { return share.last_finish; }
    std::string digest() const { return share.digest.hex(); }
    double rank_imbalance() const {
        return static_cast<double>(share.imbalance.ranks_ppm) / static_cast<double>(share.imbalance.samples) * 1e-6;
    }

    Rows rows;
    RunOutcome outcome;
    Simulation::Share share;
};

// What a run of the binary left.
struct Finished {
    int code = -1;  // 128 + signal when killed
    std::string out, err;
    double seconds = 0;
    std::vector<std::string> screen() const { return lines_of(out); }
    std::string digest() const { return screen().empty() ? "" : screen().back(); }
};

// The binary, started in `cwd` with its streams in files outside it. `launcher`: what stands before it.
class Program {
  public:
    Program(std::vector<std::string> arguments, fs::path const& cwd, std::vector<std::string> launcher = {}) {
        launcher.emplace_back(ORRERY_PROGRAM);
        launcher.insert(launcher.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (auto& word : launcher) argv.push_back(word.data());
        argv.push_back(nullptr);
        auto const out = (streams_.path() / "out").string(), err = (streams_.path() / "err").string();
        pid_ = ::fork();
        if (pid_ != 0) return;
        // As root, in containers, with more processes than cores; ctest sets the same.
        for (auto const* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                 "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
            ::setenv(name, "1", 0);
        if (::chdir(cwd.c_str()) != 0 || std::freopen(out.c_str(), "w", stdout) == nullptr ||
            std::freopen(err.c_str(), "w", stderr) == nullptr || std::freopen("/dev/null", "r", stdin) == nullptr)
            ::_exit(126);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ~Program() {
        if (pid_ > 0) wait();
    }
    Program(Program const&) = delete;
    Program& operator=(Program const&) = delete;

    pid_t pid() const { return pid_; }
    Finished wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        Finished result;
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        result.out = read_text(streams_.path() / "out");
        result.err = read_text(streams_.path() / "err");
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        return result;
    }

  private:
    TempDirectory streams_;
    pid_t pid_ = -1;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline Finished orrery(std::vector<std::string> arguments, fs::path const& cwd,
                       std::vector<std::string> launcher = {}) {
    return Program(std::move(arguments), cwd, std::move(launcher)).wait();
}

inline nlohmann::json summary_of(fs::path const& directory) {
    return nlohmann::json::parse(read_text(directory / "summary.json"));
}

// A whole column of a timeline.
template <class T>
std::vector<T> column(fs::path const& file, std::string const& group, std::string const& name) {
    auto const h5 = hdf5::File::open(file, hdf5::ReadMode::closed);
    auto const data = h5.open_group(group).open_dataset(name);
    ORRERY_ENSURE(data.type().size() == sizeof(T), "{} holds {}", data.where(), data.type().name());
    std::vector<T> values(data.rows());
    data.read(0, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace orrery::testing

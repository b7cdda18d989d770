// SPDX-License-Identifier: Apache-2.0
// What the flow model costs as flows grow: whole exchanges, cost per completion, and whole scenarios.
//
// Hosts sit on a two-level non-blocking tree at 400 Gb/s: only their two ports can bind, so a flow has two links.
#include "bench/exchange.hpp"
#include "bench/isolated.hpp"
#include "bench/rows.hpp"
#include "core/random.hpp"
#include "netmodels/flow/coalescer.hpp"
#include "netmodels/flow/fold.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace orrery {
namespace {

using namespace literals;
using bench::Bar;
using bench::message;
using bench::Sizes;

constexpr Rate port = 400_Gbps;

// All to all between `hosts`.
class AllToAll {
  public:
    AllToAll(std::uint32_t hosts, Sizes sizes, std::int64_t error_ppm)
        : kernel_(std::vector<Rate>(std::size_t{2} * hosts, port)), coalescer_(error_ppm) {
        bench::for_each_message(hosts, sizes, [&](std::uint32_t s, std::uint32_t t, std::int64_t bytes) {
            std::array<std::uint32_t, 2> const links = {1 + s, 1 + hosts + t};
            kernel_.add(links, 1, bytes, static_cast<std::uint64_t>(s) << 32 | t);
            coalescer_.started(links, 1, bytes);
        });
        settle(Time{});
    }

    // One step of the run: the next completions, then new shares when it is time for them.
    void step() {
        auto const now = std::min(kernel_.next_completion(), share_at_);
        done_.clear();
        kernel_.complete_until(now, done_);
        if (!done_.empty()) coalescer_.finished(done_.front().when);
        completed_ += static_cast<std::int64_t>(done_.size());
        for (auto const& one : done_) sum_s_ += one.when.seconds();
        share_at_ = std::min(share_at_, coalescer_.due(now));
        if (share_at_ <= now) settle(now);
    }
    // A step that shares anew from nothing.
    void plain_step() {
        auto const now = kernel_.next_completion();
        done_.clear();
        kernel_.complete_until(now, done_);
        completed_ += static_cast<std::int64_t>(done_.size());
        kernel_.settle_afresh(now);
    }
    bool over() const { return kernel_.active_flows() == 0; }
    std::int64_t completed() const { return completed_; }
    Time now() const { return now_; }
    double mean_completion_s() const { return sum_s_ / static_cast<double>(completed_); }  // of step() alone
    void exact_from_here() {
        settle(std::max(now_, share_at_ == Time::infinity() ? now_ : share_at_));
        coalescer_ = Coalescer(0);
    }

  private:
    void settle(Time now) {
        kernel_.settle(now);
        coalescer_.settled(now, kernel_);
        share_at_ = Time::infinity();
        now_ = now;
    }

    MaxMinKernel kernel_;
    Coalescer coalescer_;
    std::vector<MaxMinKernel::Completion> done_;
    std::int64_t completed_ = 0;
    double sum_s_ = 0;
    Time share_at_ = Time::infinity(), now_;
};

std::string text(char const* what, std::uint32_t hosts) {
    return fmt::format("{}, {} hosts", what, hosts);
}

void whole(bench::Rows& rows, std::string const& name, std::uint32_t hosts, Sizes sizes, std::int64_t error_ppm,
           double cpu_bar, double memory_bar) {
    auto const run = bench::isolated([&](auto& values) {
        AllToAll exchange(hosts, sizes, error_ppm);
        while (!exchange.over()) exchange.step();
        values[0] = static_cast<double>(exchange.completed());
        values[1] = exchange.now().seconds() * 1e6;
    });
    rows.add(name, "flows completed", run.values[0], Bar::at_least, static_cast<double>(hosts) * (hosts - 1));
    rows.add(name, "simulated us", run.values[1]);
    rows.add(name, "user CPU s", run.cpu_s, Bar::at_most, cpu_bar);
    rows.add(name, "peak MB", run.peak_mb, memory_bar > 0 ? Bar::at_most : Bar::none, memory_bar);
}

// The same exchange in SimGrid (peers/simgrid_all_to_all.cpp), as a program of its own, and what it costs over ours.
void simgrid(bench::Rows& rows, std::filesystem::path const& program, Sizes sizes, std::uint32_t hosts) {
    char const* const named = sizes == Sizes::equal ? "equal" : "varied";
    auto const name = fmt::format("SimGrid, {}, {} hosts", named, hosts);
    auto const theirs = bench::isolated([&](auto& values) {
        auto* const output = popen(fmt::format("'{}' {} {}", program.string(), hosts, named).c_str(), "r");
        if (output == nullptr) return;
        auto const read = std::fscanf(output, "%lf %lf", &values[0], &values[1]);
        values[2] = pclose(output) == 0 && read == 2 ? 1 : 0;
    });
    // Ours takes milliseconds: as often as fills a quarter of a second.
    auto const ours = bench::isolated([&](auto& values) {
        for (auto const began = bench::cpu_seconds(); bench::cpu_seconds() < began + 0.25; ++values[2]) {
            AllToAll exchange(hosts, sizes, 0);
            while (!exchange.over()) exchange.step();
            values[0] = exchange.now().seconds();
            values[1] = exchange.mean_completion_s();
        }
    });
    auto const off = [&](std::size_t i) { return std::abs(theirs.values[i] / ours.values[i] - 1); };
    rows.add(name, "ran", theirs.values[2], Bar::at_least, 1);
    rows.add(name, "simulated us", theirs.values[0] * 1e6);
    rows.add(name, "simulated, off ours", off(0), Bar::at_most, 1e-6);
    // Their links between leaves and spines can bind for a moment when sizes vary; ours cannot.
    rows.add(name, "mean completion, off ours", off(1), Bar::at_most, sizes == Sizes::equal ? 1e-6 : 1e-3);
    rows.add(name, "user CPU s", theirs.cpu_s);
    rows.add(name, "user CPU, over ours", theirs.cpu_s / (ours.cpu_s / ours.values[2]));
    rows.add(name, "peak MB", theirs.peak_mb);
}

void against_simgrid(bench::Rows& rows) {
    auto const program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "simgrid_all_to_all";
    if (!std::filesystem::exists(program)) {
        fmt::print(stderr, "The cases of SimGrid are left out: it was not found when this was built.\n");
        return;
    }
    simgrid(rows, program, Sizes::equal, 64);
    simgrid(rows, program, Sizes::equal, 128);
    simgrid(rows, program, Sizes::varied, 64);
}

// The same exchange by rule: the ports of a leaf are one node of the graph, the flows from leaf to leaf another.
FlowGraph equal_exchange(std::uint32_t hosts, std::uint32_t per_leaf) {
    FlowGraph graph;
    auto const leaves = hosts / per_leaf;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        graph.add_link(port.bits_per_s());               // up: 4 * leaf
        graph.add_link(port.bits_per_s());               // down
        graph.add_link((port * per_leaf).bits_per_s());  // to the spines
        graph.add_link((port * per_leaf).bits_per_s());  // from the spines
    }
    for (std::uint32_t a = 0; a < leaves; ++a)
        for (std::uint32_t b = 0; b < leaves; ++b) {
            FlowGraph::Kind const kind{.bytes = message};
            auto const pairs = per_leaf * per_leaf;
            if (a == b)
                graph.add_flow(
                    kind, std::vector<FlowGraph::Crossing>{{4 * a, 1, per_leaf - 1}, {4 * a + 1, 1, per_leaf - 1}});
            else
                graph.add_flow(
                    kind,
                    std::vector<FlowGraph::Crossing>{
                        {4 * a, 1, per_leaf}, {4 * a + 2, 1, pairs}, {4 * b + 3, 1, pairs}, {4 * b + 1, 1, per_leaf}});
        }
    return graph;
}

void folded(bench::Rows& rows, std::uint32_t hosts, double cpu_bar, double memory_bar) {
    auto const name = text("equal, folded", hosts);
    auto const run = bench::isolated([&](auto& values) {
        auto const graph = equal_exchange(hosts, 32);
        auto const folding = fold(graph, graph.flows());
        std::vector<Rate> rates;
        for (auto const link : folding->link_representative)
            rates.push_back(Rate::from_bits_per_s(graph.capacity(link)));
        MaxMinKernel kernel(rates);
        std::vector<MaxMinKernel::Crossing> crossings;
        for (auto const& c : folding->classes) {
            crossings.clear();
            for (auto const& [link, weight] : folding->crossings_of(c)) crossings.push_back({link + 1, weight});
            kernel.add(std::span<MaxMinKernel::Crossing const>{crossings}, 1, message, 0);
        }
        Time now;
        std::vector<MaxMinKernel::Completion> done;
        for (kernel.settle(now); kernel.active_flows() > 0; kernel.settle(now)) {
            now = kernel.next_completion();
            kernel.complete_until(now, done);
        }
        values[0] = static_cast<double>(folding->classes.size());
        values[1] = now.seconds() * 1e6;
        values[2] = transfer_time(message * (hosts - 1), port).seconds() * 1e6;
    });
    rows.add(name, "flow classes", run.values[0], Bar::at_most, 2);
    rows.add(name, "simulated us", run.values[1], Bar::at_most, run.values[2] + 1e-5);
    rows.add(name, "user CPU s", run.cpu_s, Bar::at_most, cpu_bar);
    rows.add(name, "peak MB", run.peak_mb, memory_bar > 0 ? Bar::at_most : Bar::none, memory_bar);
}

void permutation(bench::Rows& rows, std::uint32_t hosts) {
    auto const name = text("permutation, varied", hosts);
    auto const run = bench::isolated([&](auto& values) {
        MaxMinKernel kernel(std::vector<Rate>(std::size_t{2} * hosts, port));
        RandomSequence draw(1, RandomStream::test, 7);
        for (std::uint32_t s = 0; s < hosts; ++s) {
            std::array<std::uint32_t, 2> const links = {1 + s, 1 + hosts + (s + hosts / 3) % hosts};
            kernel.add(links, 1, message / 2 + draw.below(static_cast<std::uint32_t>(message)), s);
        }
        std::vector<MaxMinKernel::Completion> done;
        for (kernel.settle(Time{}); kernel.active_flows() > 0;) {
            auto const now = kernel.next_completion();
            kernel.complete_until(now, done);
            kernel.settle(now);
        }
        values[0] = static_cast<double>(done.size());
    });
    rows.add(name, "flows completed", run.values[0], Bar::at_least, hosts);
    rows.add(name, "user CPU s", run.cpu_s, Bar::at_most, 2);
    rows.add(name, "peak MB", run.peak_mb);
}

// Cost of one completion halfway through an exchange of varied sizes, incremental and from nothing.
struct Cost {
    double flows = 0, step_us = 0, plain_us = 0;
};
Cost cost_halfway(std::uint32_t hosts, int steps, int plain_steps) {
    auto const run = bench::isolated([&](auto& values) {
        AllToAll exchange(hosts, Sizes::varied, 50'000);
        auto const flows = static_cast<std::int64_t>(hosts) * (hosts - 1);
        while (exchange.completed() < flows / 2) exchange.step();
        exchange.exact_from_here();
        auto began = bench::cpu_seconds();
        for (int i = 0; i < steps; ++i) exchange.step();
        values[0] = (bench::cpu_seconds() - began) / steps * 1e6;
        began = bench::cpu_seconds();
        for (int i = 0; i < plain_steps; ++i) exchange.plain_step();
        values[1] = (bench::cpu_seconds() - began) / plain_steps * 1e6;
        values[2] = static_cast<double>(flows);
    });
    return {run.values[2], run.values[0], run.values[1]};
}

void growth(bench::Rows& rows) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (auto const hosts : {64U, 128U, 256U, 512U, 1024U}) {
        auto const cost = cost_halfway(hosts, hosts <= 256 ? 1000 : 200, hosts <= 256 ? 100 : 20);
        auto const name = text("one completion, varied", hosts);
        rows.add(name, "us", cost.step_us);
        rows.add(name, "from nothing over incremental", cost.plain_us / cost.step_us);
        auto const lx = std::log(cost.flows), ly = std::log(cost.step_us);
        n += 1, x += lx, y += ly, xx += lx * lx, xy += lx * ly;
    }
    rows.add("one completion, varied", "exponent over flows", (n * xy - x * y) / (n * xx - x * x), Bar::at_most, 0.999);
}

// A number of summary.json: the first after its key.
double number_after(std::string const& json, std::string const& key) {
    auto const at = json.find('"' + key + '"');
    return at == std::string::npos ? NAN : std::strtod(json.c_str() + json.find(':', at) + 1, nullptr);
}

void scenario(bench::Rows& rows, std::string const& name, char const* file, int processes, double cpu_bar,
              double memory_bar) {
    auto const directory =
        std::filesystem::temp_directory_path() / fmt::format("orrery-flow-scale-{}", static_cast<long>(getpid()));
    auto const command = fmt::format(
        "'{0}/scripts/mpirun.sh' -n {1} '{2}' run '{0}/scenarios/{3}' --out '{4}' --quiet "
        ">/dev/null",
        ORRERY_SOURCE_DIR, processes, ORRERY_PROGRAM, file, directory.string());
    bool const ran = std::system(command.c_str()) == 0;
    std::ifstream in(directory / "summary.json");
    std::string const json{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove_all(directory);
    rows.add(name, "ran", ran ? 1 : 0, Bar::at_least, 1);
    rows.add(name, "flows", number_after(json, "flows"));
    rows.add(name, "CPU s, all processes", number_after(json, "cpu_s"), Bar::at_most, cpu_bar);
    rows.add(name, "peak MB, all processes", number_after(json, "peak_rss_bytes") * 1e-6, Bar::at_most, memory_bar);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
    using namespace orrery;
    bench::Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();
    whole(rows, text("equal, unfolded", 1024), 1024, Sizes::equal, 0, 0.3, 200);
    folded(rows, 1024, 0.2, 0);
    folded(rows, 8192, 2, 500);
    whole(rows, text("varied, exact", 64), 64, Sizes::varied, 0, 0.1, 0);
    whole(rows, text("varied, exact", 256), 256, Sizes::varied, 0, 2, 0);
    whole(rows, text("varied, error 1 %", 1024), 1024, Sizes::varied, 10'000, 15, 400);
    permutation(rows, 65'536);
    against_simgrid(rows);
    growth(rows);
    scenario(rows, "33,024 ranks, EP64, zipf", "superpod_32k.yaml", 2, 60, 4000);
    scenario(rows, "decode step, EP320", "cloudmatrix384_decode.yaml", 1, 10, 400);
    return rows.finish();
}

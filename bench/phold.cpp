// SPDX-License-Identifier: Apache-2.0
// PHOLD (Fujimoto 1990) on one process: what the event queue and the window loop cost when the model costs nothing.
#include "bench/phold_lp.hpp"
#include "bench/rows.hpp"
#include "core/exchange.hpp"
#include "core/window_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace orrery {
namespace {

using bench::Phold;
using bench::PholdLp;

struct Measured {
    double seconds = 0;
    RunOutcome outcome;
    Digest digest;
};

Measured measure(int population, Time until, Time width) {
    Phold const phold{.population = population};
    std::vector<std::unique_ptr<PholdLp>> lps;
    std::vector<LocalLp> local;
    for (std::uint32_t lp = 0; lp < Phold::lp_count; ++lp) {
        lps.push_back(std::make_unique<PholdLp>(LpId(lp), phold));
        local.push_back({LpId(lp), lps.back().get()});
    }
    std::vector<std::uint32_t> const owner(Phold::lp_count, 0);
    LocalExchange alone;
    WindowOptions options;
    options.lookahead = Phold::lookahead;
    options.width = width;
    options.until = until;
    WindowLoop loop(options, local, owner, alone);
    double const started = bench::cpu_seconds();
    Measured result{.seconds = 0, .outcome = loop.run(), .digest = {}};
    result.seconds = bench::cpu_seconds() - started;
    for (std::uint32_t lp = 0; lp < Phold::lp_count; ++lp) result.digest.add(lp, lps[lp]->digest());
    return result;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
    using namespace orrery;
    bench::Rows rows(argc, argv);
    if (rows.usage_error()) return rows.finish();
    struct Case {
        char const* name;
        int population;
        Time until;
        double bar;
    };
    // The second case leaves the cache (8 MB of events), so its bar is lower.
    for (auto const& [name, population, until, bar] : {Case{"phold 8192 x 1", 1, Time::from_ps(500'000'000), 3e6},
                                                       Case{"phold 8192 x 16", 16, Time::from_ps(40'000'000), 2e6}}) {
        // Best of three: what else runs on the machine only ever slows.
        auto run = measure(population, until, Phold::lookahead);
        for (int again = 0; again < 2; ++again)
            run.seconds = std::min(run.seconds, measure(population, until, Phold::lookahead).seconds);
        auto const halves = measure(population, until, Time::from_ps(Phold::lookahead.ps() / 2));
        rows.add(name, "events", static_cast<double>(run.outcome.events));
        rows.add(name, "events per CPU second", static_cast<double>(run.outcome.events) / run.seconds,
                 bench::Bar::at_least, bar);
        // A benchmark that computes something else is worth nothing.
        rows.add(name, "digest independent of width", run.digest == halves.digest ? 1 : 0, bench::Bar::at_least, 1);
    }
    return rows.finish();
}

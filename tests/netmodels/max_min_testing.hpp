// SPDX-License-Identifier: Apache-2.0
// For tests of max-min shares: random networks with their history, and one driver for the kernel and its references.
#pragma once

#include "core/random.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery::testing {

struct FlowStart {
    Time at;
    std::vector<MaxMinKernel::Crossing> crossings;
    std::uint32_t weight = 1;
    std::int64_t bytes = 0;
    Rate cap = Rate::unlimited();
    std::uint64_t cookie = 0;
};

struct CapacityChange {
    Time at;
    std::uint32_t link = 0;
    Rate rate;
};

// Links count from 1. Events of one instant take effect together, in any order.
struct History {
    std::vector<Rate> capacity;
    std::vector<FlowStart> starts;
    std::vector<CapacityChange> changes;
};

// All that can be seen of a run.
struct Trace {
    std::vector<Time> done;  // by cookie; infinity: never
    std::vector<Time> settled;
    std::vector<std::int64_t> levels, loads;  // of every link, after every settle
    std::vector<std::uint64_t> starved;       // at the end
    enum class End { finished, out_of_range } end = End::finished;
};

// Runs a history to its end. Shares change at multiples of `epoch` only. after_settle(now, active) is called with the
// indices of the starts that move.
template <class Shares, class AfterSettle>
Trace run_history(Shares& shares, History const& history, Time epoch, AfterSettle const& after_settle) {
    Trace trace;
    trace.done.assign(history.starts.size(), Time::infinity());
    auto starts = history.starts;
    auto changes = history.changes;
    auto const by_time = [](auto const& a, auto const& b) { return a.at < b.at; };
    std::stable_sort(starts.begin(), starts.end(), by_time);
    std::stable_sort(changes.begin(), changes.end(), by_time);
    auto start = starts.begin();
    auto change = changes.begin();
    auto settle_at = Time::infinity();
    std::vector<MaxMinKernel::Completion> completions;
    for (;;) {
        auto now = settle_at;
        if (start != starts.end()) now = std::min(now, start->at);
        if (change != changes.end()) now = std::min(now, change->at);
        try {
            now = std::min(now, shares.next_completion());
        } catch (InputError const&) {
            trace.end = Trace::End::out_of_range;
            break;
        }
        if (now == Time::infinity()) break;
        completions.clear();
        shares.complete_until(now, completions);
        bool moved = !completions.empty();
        for (auto const& c : completions) trace.done[c.cookie] = c.when;
        for (; start != starts.end() && start->at == now; ++start, moved = true)
            shares.add(start->crossings, start->weight, start->bytes, start->cookie, start->cap);
        for (; change != changes.end() && change->at == now; ++change, moved = true)
            shares.set_capacity(change->link, change->rate);
        if (moved)
            settle_at = std::min(settle_at, Time::from_ps((now.ps() + epoch.ps() - 1) / epoch.ps() * epoch.ps()));
        if (settle_at > now) continue;
        settle_at = Time::infinity();
        shares.settle(now);
        trace.settled.push_back(now);
        for (std::uint32_t link = 1; link <= history.capacity.size(); ++link) {
            trace.levels.push_back(shares.level(link));
            trace.loads.push_back(shares.load(link));
        }
        std::vector<std::size_t> active;
        for (std::size_t f = 0; f < history.starts.size(); ++f)
            if (history.starts[f].at <= now && trace.done[history.starts[f].cookie] == Time::infinity())
                active.push_back(f);
        after_settle(now, active);
    }
    trace.starved = shares.starved();
    return trace;
}

template <class Shares>
Trace run_history(Shares& shares, History const& history, Time epoch = Time::from_ps(1)) {
    return run_history(shares, history, epoch, [](Time, std::vector<std::size_t> const&) {});
}

template <class Shares>
Trace run_history_of(History const& history, Time epoch = Time::from_ps(1)) {
    Shares shares(history.capacity);
    return run_history(shares, history, epoch);
}

// Empty when two traces are the same, to the picosecond and to the bit.
inline std::string difference(Trace const& a, Trace const& b) {
    for (std::size_t f = 0; f < std::min(a.done.size(), b.done.size()); ++f)
        if (a.done[f] != b.done[f])
            return fmt::format("flow {} is done at {} ps against {} ps", f, a.done[f].ps(), b.done[f].ps());
    if (a.settled != b.settled) return "shares change at other times";
    for (std::size_t i = 0; i < a.levels.size(); ++i) {
        auto const links = a.levels.size() / a.settled.size();
        if (a.levels[i] != b.levels[i] || a.loads[i] != b.loads[i])
            return fmt::format("link {} has level {}, load {} against level {}, load {} at {} ps", i % links + 1,
                               a.levels[i], a.loads[i], b.levels[i], b.loads[i], a.settled[i / links].ps());
    }
    if (a.starved != b.starved) return "other flows starve";
    if (a.end != b.end) return "one of them leaves the range of time";
    return {};
}

// What a random network is made of. `tied` draws from few values, so that links fill and flows finish together.
enum class Scale : std::uint8_t { usual, tied, tiny, huge };

class RandomHistory {
  public:
    struct Most {
        std::uint32_t links = 40, flows = 60;
    };
    RandomHistory(std::uint64_t seed, Scale scale) : RandomHistory(seed, scale, Most{}) {}
    RandomHistory(std::uint64_t seed, Scale scale, Most most)
        : draw_(seed, RandomStream::test, 7), scale_(scale), most_(most) {}

    History make() {
        History history;
        auto const links = 1 + draw_.below(most_.links);
        for (std::uint32_t l = 0; l < links; ++l) history.capacity.push_back(rate());
        auto const flows = 1 + draw_.below(most_.flows);
        for (std::uint32_t f = 0; f < flows; ++f) {
            FlowStart start{.at = time(), .crossings = {}, .weight = weight(), .bytes = bytes(), .cookie = f};
            // Two links are the kernel's usual case, many are several paths with a part of the weight on each.
            auto const hops = std::min(links, draw_.below(2) ? 2U : 1 + draw_.below(7));
            bool const parts = draw_.below(4) == 0;
            while (start.crossings.size() < hops) {
                auto const link = 1 + draw_.below(links);
                if (std::none_of(start.crossings.begin(), start.crossings.end(),
                                 [&](auto const& c) { return c.link == link; }))
                    start.crossings.push_back({link, parts ? 1 + draw_.below(start.weight) : start.weight});
            }
            if (draw_.below(5) == 0) start.cap = rate();
            history.starts.push_back(std::move(start));
        }
        if (draw_.below(2)) add_changes(history);
        return history;
    }

  private:
    std::int64_t wide(std::uint32_t bound) { return 1 + std::int64_t{draw_.below(bound)}; }

    Rate rate() {
        switch (scale_) {
            case Scale::usual:
                return Rate::from_bits_per_s(1'000'000'000 + wide(400'000'000) * 1'000);
            case Scale::tied:
                return Rate::from_bits_per_s(100'000'000'000 << draw_.below(3));
            case Scale::tiny:
                return Rate::from_bits_per_s(wide(1'000));
            case Scale::huge:
                return Rate::from_bits_per_s(100'000'000'000'000 - wide(1'000'000) * (draw_.below(2) ? 1 : 90'000'000));
        }
        return {};
    }
    Time time() {
        switch (scale_) {
            case Scale::usual:
                return Time::from_ps(draw_.below(3) ? wide(1'000'000'000) : 0);
            case Scale::tied:
                return Time::from_ps(std::int64_t{draw_.below(4)} * 50'000'000);
            case Scale::tiny:
                return Time::from_ps(draw_.below(3) ? wide(1'000'000'000) * 1'000'000 : 0);
            case Scale::huge:
                return Time::from_ps(draw_.below(3) ? wide(1'000'000) : 0);
        }
        return {};
    }
    std::uint32_t weight() {
        if (scale_ == Scale::tied) return 1U << draw_.below(2);
        if (draw_.below(2)) return 1;
        return 1 + draw_.below(scale_ == Scale::usual ? 20 : 4'000);
    }
    std::int64_t bytes() {
        switch (scale_) {
            case Scale::usual:
                return wide(5'000'000);
            case Scale::tied:
                return 65'536 << draw_.below(3);
            case Scale::tiny:
                return wide(100);
            case Scale::huge:
                return draw_.below(8) ? wide(2'000'000) : wide(1'000'000'000) * 1'000;
        }
        return 1;
    }

    // Links become faster and slower; some fail, and of those most come back.
    void add_changes(History& history) {
        auto const count = 1 + draw_.below(10);
        for (std::uint32_t i = 0; i < count; ++i) {
            auto const link = 1 + draw_.below(static_cast<std::uint32_t>(history.capacity.size()));
            auto const at = time();
            bool const fails = draw_.below(2) == 0;
            set(history, {at, link, fails ? Rate{} : rate()});
            if (fails && draw_.below(4) != 0) set(history, {at + time() + Time::from_ps(1), link, rate()});
        }
    }
    // One change of a link per instant, so that their order has no say.
    static void set(History& history, CapacityChange change) {
        auto const same = [&](CapacityChange const& c) { return c.at == change.at && c.link == change.link; };
        if (std::none_of(history.changes.begin(), history.changes.end(), same)) history.changes.push_back(change);
    }

    RandomSequence draw_;
    Scale scale_;
    Most most_;
};

inline constexpr Scale every_scale[] = {Scale::usual, Scale::tied, Scale::tiny};

inline std::string scale_name(Scale scale) {
    char const* const names[] = {"usual", "tied", "tiny", "huge"};
    return names[static_cast<int>(scale)];
}

// An epoch that several events of such a history share.
inline Time scale_period(Scale scale) {
    std::int64_t const ps[] = {30'000'000, 30'000'000, 50'000'000'000'000, 100'000};
    return Time::from_ps(ps[static_cast<int>(scale)]);
}

}  // namespace orrery::testing

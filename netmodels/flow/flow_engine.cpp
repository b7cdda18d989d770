// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/flow_engine.hpp"

#include "netmodels/topology/fabric.hpp"

#include <algorithm>

namespace orrery {

FlowEngine::FlowEngine(Fabric const& fabric, DomainMap const& map, DomainId domain, Settings const& settings,
                       Time bin_width)
    : map_(&map),
      bundles_(map.bundles(domain)),
      capacity_(fabric.capacities(bundles_)),
      kernel_(capacity_),
      meter_(bundles_, bin_width, MaxMinKernel::rate_scale),
      coalescer_(settings.error_ppm),
      slow_start_(settings.initial_window_bytes, settings.round_trip) {
    auto least = capacity_;
    for (auto const& [at, bundle, capacity] : settings.timetable) {
        if (fabric.bundles()[bundle.index()].domain != domain) continue;
        auto const local = map.local(bundle);
        timetable_.push_back({at, local, capacity});
        least[local] = std::min(least[local], capacity);
    }
    for (std::size_t b = 0; b < bundles_.size(); ++b)
        binds_.push_back(fabric.bundles()[bundles_[b].index()].offered > least[b] ? 1 : 0);
    kernel_.observe(this);
}

void FlowEngine::start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
                       std::int64_t wire_bytes, std::uint64_t cookie) {
    static_cast<void>(now);                                  // it moves no byte before settle()
    std::array<std::uint32_t, RouteHops::size() + 1> links;  // an engine and the hops
    std::uint32_t count = 0;
    auto narrowest = Rate::unlimited();
    auto const add = [&](std::uint32_t link) {
        ORRERY_ENSURE(count < links.size(), "a transfer with more than {} bottleneck candidates", links.size());
        links[count++] = link;
    };
    if (engine != no_engine) add(engine);
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
        auto const local = map_->local(hops[hop]);
        narrowest = std::min(narrowest, capacity_[local]);
        // The first hop always takes part, so that every transfer has a link and a load to account for.
        if (binds_[local] || hop == 0) add(local + 1);
    }
    offers_.flows.push_back({.first_link = static_cast<std::uint32_t>(offers_.links.size()),
                             .link_count = count,
                             .weight = weight,
                             .bytes = wire_bytes,
                             .cap = cap < narrowest ? cap : Rate::unlimited(),
                             .cookie = cookie});
    offers_.links.insert(offers_.links.end(), links.begin(), links.begin() + count);
}

// Hands the solver what began at this instant.
void FlowEngine::take_offers(Time now) {
    constexpr std::size_t worth_folding = 256;
    if (offers_.flows.empty()) return;
    transfers_ += static_cast<std::int64_t>(offers_.flows.size());
    most_transfers_ = std::max(most_transfers_, transfers_);
    if (folded_) {
        folded_->unfold(now, kernel_);
        folded_.reset();
    } else if (folds_ == Folds::yes && !slow_start_.on() && offers_.flows.size() >= worth_folding &&
               kernel_.active_flows() == 0 && lone_.empty()) {
        folded_ = FoldedFlows::make(offers_, kernel_, *this);
    }
    if (!folded_ && folds_ == Folds::yes && !slow_start_.on() && timetable_.empty()) separate_lone_flows(now);
    auto const& begun = folded_ ? folded_->classes() : offers_;
    for (auto const& flow : begun.flows) {
        coalescer_.started(begun.links_of(flow), flow.weight, flow.bytes);
        if (folded_) continue;
        auto const number =
            kernel_.add(begun.links_of(flow), flow.weight, flow.bytes, flow.cookie, slow_start_.first(flow.cap));
        if (slow_start_.on()) slow_start_.began(now, number, flow.cookie, std::min(flow.cap, narrowest(flow)));
    }
    offers_.clear();
}

// Offers that meet nobody on their links stay out of the solver, and flows that were alone until now go into it.
void FlowEngine::separate_lone_flows(Time now) {
    // Flows that the solver got at this instant, from a fold, show no load yet: it takes all that begins with them.
    bool const loads_are_known = !kernel_.needs_settle();
    auto const meet = [this](std::uint32_t link) {
        if (link >= offered_on_.size()) offered_on_.resize(link + 1, 0);
        if (offered_on_[link]++ == 0) met_.push_back(link);
    };
    for (auto const& flow : offers_.flows)
        for (auto const link : offers_.links_of(flow)) {
            meet(link);
            if (!lone_.on(link)) continue;
            auto const given = lone_.give(link, now, kernel_);
            coalescer_.started(given.links, 1, given.bytes);
            for (auto const other : given.links) meet(other);
        }
    auto const alone = [&](OfferedFlows::Flow const& flow) {
        if (!loads_are_known || flow.weight != 1 || flow.cap != Rate::unlimited() || narrowest(flow) == Rate{})
            return false;
        auto const links = offers_.links_of(flow);
        return std::all_of(links.begin(), links.end(),
                           [&](auto link) { return offered_on_[link] == 1 && kernel_.load(link) == 0; });
    };
    auto const is_alone = [&](OfferedFlows::Flow const& flow) {
        if (!alone(flow)) return false;
        lone_.start(now, offers_.links_of(flow), flow.bytes, flow.cookie, narrowest(flow));
        return true;
    };
    auto& flows = offers_.flows;
    flows.erase(std::remove_if(flows.begin(), flows.end(), is_alone), flows.end());
    for (auto const link : met_) offered_on_[link] = 0;
    met_.clear();
}

// Where a ramp may end: beyond the fastest link of its way a cap is of no use.
Rate FlowEngine::narrowest(OfferedFlows::Flow const& flow) const {
    auto rate = Rate::unlimited();
    for (auto const link : offers_.links_of(flow)) rate = std::min(rate, kernel_.capacity(link));
    return rate;
}

void FlowEngine::follow_timetable(Time now) {
    if (next_change_ == timetable_.size() || timetable_[next_change_].at > now) return;
    if (folded_) {
        folded_->unfold(now, kernel_);
        folded_.reset();
    }
    for (; next_change_ < timetable_.size() && timetable_[next_change_].at <= now; ++next_change_) {
        auto const& change = timetable_[next_change_];
        kernel_.set_capacity(change.bundle + 1, change.capacity);
    }
    links_changed_ = true;
}

void FlowEngine::settle(Time now) {
    follow_timetable(now);
    take_offers(now);
    if (!solver().needs_settle()) return;
    pending_settle_ = links_changed_ ? now : coalescer_.due(now);
    if (pending_settle_ <= now) share(now);
}

void FlowEngine::share(Time now) {
    solver().settle(now);
    coalescer_.settled(now, solver());
    pending_settle_ = Time::infinity();
    links_changed_ = false;
    ++shares_;
}

Time FlowEngine::next() const {
    auto next = std::min({pending_settle_, solver().next_completion(), slow_start_.next(), lone_.next()});
    if (transfers_ > 0 && next_change_ < timetable_.size()) next = std::min(next, timetable_[next_change_].at);
    return next;
}

void FlowEngine::advance(Time now, std::vector<TransferDone>& done) {
    completions_.clear();
    if (folded_) {
        folded_->complete_until(now, completions_);
    } else {
        kernel_.complete_until(now, completions_);
    }
    bool const solved = !completions_.empty();
    lone_.complete_until(now, completions_);
    if (solved) std::sort(completions_.begin(), completions_.end());
    transfers_ -= static_cast<std::int64_t>(completions_.size());
    for (auto const& completion : completions_) done.push_back({completion.cookie, completion.when});
    if (solved) coalescer_.finished(completions_.front().when);
    if (slow_start_.next() <= now) {
        slow_start_.advance(now, kernel_);
        links_changed_ = true;
    }
    if (pending_settle_ <= now) share(now);
    if (folded_ && folded_->active_classes() == 0 && !folded_->kernel().needs_settle()) folded_.reset();
}

std::vector<std::uint64_t> FlowEngine::starved() const {
    return folded_ ? folded_->starved() : kernel_.starved();
}

TransferEngine::Figures FlowEngine::figures() const {
    auto const now = kernel_.memory_bytes() + lone_.memory_bytes() + (folded_ ? folded_->memory_bytes() : 0) +
                     offers_.flows.capacity() * sizeof(OfferedFlows::Flow) + offers_.links.capacity() * 4;
    return {.shares = shares_,
            .longest_wait_ppm = coalescer_.longest_wait_ppm(),
            .most_transfers = most_transfers_,
            .memory_bytes = static_cast<std::int64_t>(now)};
}

void FlowEngine::state(StateStream& stream) {
    if (stream.value(folded_ != nullptr)) {
        MaxMinKernel::LoadObserver& loads = *this;
        if (!folded_) folded_ = std::make_unique<FoldedFlows>(loads);
        stream(*folded_);
    }
    stream(kernel_, meter_, coalescer_, slow_start_, next_change_, links_changed_, offers_, lone_, transfers_,
           most_transfers_, shares_, pending_settle_);
}

void FlowEngine::load_changes(std::uint32_t link, Time now, std::int64_t load) {
    if (link == 0 || link > bundles_.size()) return;  // an engine or the cap of one transfer
    meter_.change(link - 1, now, load);
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The rule of collectives in its plainest form, on one analytic engine: what the simulator's machinery must agree with.
#pragma once

#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/topology/fabric.hpp"
#include "workloads/collectives/algorithm.hpp"

#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

namespace orrery::testing {

// Member m sits on rank m; all begin at 0. Returns the arrival of the last message.
class CollectiveCarrier {
  public:
    CollectiveCarrier(Fabric const& fabric, CollectivePlan const& plan)
        : fabric_(&fabric),
          plan_(&plan),
          map_(fabric),
          engine_(fabric, map_, DomainId{0}, Time::from_ps(1'000'000'000'000)),
          states_(std::size_t{plan.shape().members} * plan.lanes()) {}

    Time run() {
        begin_what_can();
        while (!arrivals_.empty() || engine_.next() != Time::infinity()) {
            auto const next = std::min(engine_.next(), arrivals_.empty() ? Time::infinity() : arrivals_.begin()->first);
            now_ = next;
            done_.clear();
            engine_.advance(now_, done_);
            for (auto const& done : done_) {
                auto const& message = messages_[done.cookie];
                arrivals_.emplace(done.when + message.latency, done.cookie);
            }
            while (!arrivals_.empty() && arrivals_.begin()->first == now_) {
                auto const message = messages_[arrivals_.begin()->second];
                arrivals_.erase(arrivals_.begin());
                --state(message.source, message.lane).unfinished_sends;
                ++state(message.target, message.lane).received[message.step];
                ++arrived_;
            }
            begin_what_can();
        }
        for (auto const& state : states_)
            if (state.step != plan_->steps()) return Time::infinity();  // it hangs
        return now_;
    }
    std::int64_t messages() const { return arrived_; }
    std::vector<std::int64_t> const& bytes_sent() const { return bytes_sent_; }

  private:
    struct State {
        std::uint32_t step = 0;
        bool begun = false;
        std::uint32_t unfinished_sends = 0;
        std::map<std::uint32_t, std::uint32_t> received;  // per step
    };
    struct Message {
        std::uint32_t source, target, lane, step;
        Time latency;
    };

    State& state(std::uint32_t member, std::uint32_t lane) { return states_[member * plan_->lanes() + lane]; }

    void begin_what_can() {
        bool again = true;
        while (again) {
            again = false;
            for (std::uint32_t member = 0; member < plan_->shape().members; ++member)
                for (std::uint32_t lane = 0; lane < plan_->lanes(); ++lane) again |= go_on(member, lane);
        }
    }
    bool go_on(std::uint32_t member, std::uint32_t lane) {
        auto& mine = state(member, lane);
        if (mine.step == plan_->steps()) return false;
        if (!mine.begun) {
            auto const follows = plan_->follows();
            if (follows > 0 && lane >= follows && state(member, lane - follows).step <= mine.step) return false;
            begin(member, lane, mine);
        }
        if (mine.unfinished_sends > 0 || mine.received[mine.step] < plan_->receives(member, lane, mine.step))
            return false;
        ++mine.step;
        mine.begun = false;
        return true;
    }
    void begin(std::uint32_t member, std::uint32_t lane, State& mine) {
        mine.begun = true;
        SendList list;
        plan_->sends(member, lane, mine.step, list);
        mine.unfinished_sends = static_cast<std::uint32_t>(list.sends().size());
        bytes_sent_.resize(plan_->shape().members);
        for (auto const& send : list.sends()) {
            auto const route = fabric_->route(RankId{member}, RankId{send.peer});
            auto hops = route.bundles();
            if (send.way == Way::to_switch) hops = hops.first(hops.size() / 2);
            if (send.way == Way::from_switch) hops = hops.subspan(hops.size() / 2);
            engine_.start(now_, hops, TransferEngine::no_engine, route.cap, 1, send.bytes, messages_.size());
            messages_.push_back({member, send.peer, lane, mine.step, route.latency});
            if (send.way != Way::from_switch) bytes_sent_[member] += send.bytes;
        }
    }

    Fabric const* fabric_;
    CollectivePlan const* plan_;
    DomainMap map_;
    AnalyticEngine engine_;
    std::vector<State> states_;  // per member and lane
    std::vector<Message> messages_;
    std::multimap<Time, std::uint64_t> arrivals_;
    std::vector<TransferDone> done_;
    std::vector<std::int64_t> bytes_sent_;
    std::int64_t arrived_ = 0;
    Time now_;
};

}  // namespace orrery::testing

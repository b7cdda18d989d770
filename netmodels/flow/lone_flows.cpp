// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/lone_flows.hpp"

#include <algorithm>

namespace orrery {

void LoneFlows::start(Time now, std::span<std::uint32_t const> links, std::int64_t bytes, std::uint64_t cookie,
                      Rate rate) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(flows_.size()));
        flows_.emplace_back();
    }
    auto const number = free_.back();
    free_.pop_back();
    auto& flow = flows_[number];
    flow.cookie = cookie;
    flow.since = now;
    flow.done = now + transfer_time(bytes, rate);
    flow.bytes = bytes;
    flow.level = rate.bits_per_s() * MaxMinKernel::rate_scale;
    flow.links.assign(links.begin(), links.end());
    ++active_;
    due_.push_back({flow.done, cookie, number});
    std::push_heap(due_.begin(), due_.end());
    for (auto const link : links) {
        if (link >= holder_.size()) holder_.resize(link + 1, nobody);
        holder_[link] = number;
        loads_->load_changes(link, now, flow.level);
    }
}

LoneFlows::Given LoneFlows::give(std::uint32_t link, Time now, MaxMinKernel& solver) {
    auto const number = holder_[link];
    auto const& flow = flows_[number];
    auto const service = static_cast<UInt128>(flow.bytes) * MaxMinKernel::service_per_byte;
    auto const served = static_cast<UInt128>(flow.level) * static_cast<std::uint64_t>((now - flow.since).ps());
    std::vector<MaxMinKernel::Crossing> crossings;
    for (auto const crossed : flow.links) crossings.push_back({crossed, 1});
    leave(number, now);
    solver.add_service(crossings, 1, service - std::min(service, served), flow.cookie);
    return {flow.links, flow.bytes};
}

void LoneFlows::leave(std::uint32_t number, Time now) {
    auto& flow = flows_[number];
    for (auto const link : flow.links) {
        holder_[link] = nobody;
        loads_->load_changes(link, now, 0);
    }
    flow.done = flow.since - Time::from_ps(1);
    free_.push_back(number);
    --active_;
}

void LoneFlows::pop() {
    std::pop_heap(due_.begin(), due_.end());
    due_.pop_back();
}

Time LoneFlows::next() {
    while (!due_.empty() && !stands(due_.front())) pop();
    return due_.empty() ? Time::infinity() : due_.front().when;
}

void LoneFlows::complete_until(Time now, std::vector<MaxMinKernel::Completion>& done) {
    while (next() <= now) {
        auto const due = due_.front();
        pop();
        leave(due.flow, due.when);
        done.push_back({due.cookie, due.when});
    }
}

}  // namespace orrery

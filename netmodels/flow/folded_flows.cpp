// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/folded_flows.hpp"

#include <algorithm>

namespace orrery {
namespace {

// Indices grouped by class: first[c] .. first[c + 1] of `members`.
void group(std::span<std::uint32_t const> classes, std::size_t count, std::vector<std::uint32_t>& first,
           std::vector<std::uint32_t>& members) {
    first.assign(count + 1, 0);
    for (auto const c : classes) ++first[c + 1];
    for (std::size_t c = 1; c <= count; ++c) first[c] += first[c - 1];
    members.resize(classes.size());
    auto next = first;
    for (std::uint32_t i = 0; i < classes.size(); ++i) members[next[classes[i]]++] = i;
}

std::vector<Rate> class_rates(Folding const& folding, std::vector<std::uint32_t> const& links,
                              MaxMinKernel const& whole) {
    std::vector<Rate> rates;
    for (auto const link : folding.link_representative) rates.push_back(whole.capacity(links[link]));
    return rates;
}

}  // namespace

std::unique_ptr<FoldedFlows> FoldedFlows::make(OfferedFlows& offers, MaxMinKernel const& whole,
                                               MaxMinKernel::LoadObserver& loads) {
    FlowGraph graph;
    std::vector<std::uint32_t> links, local;  // of the graph -> of the kernel, and back
    std::vector<FlowGraph::Crossing> crossings;
    for (auto const& flow : offers.flows) {
        crossings.clear();
        for (auto const link : offers.links_of(flow)) {
            if (link >= local.size()) local.resize(link + 1, no_flow);
            if (local[link] == no_flow) {
                local[link] = graph.add_link(whole.capacity(link).bits_per_s());
                links.push_back(link);
            }
            crossings.push_back({local[link], flow.weight, flow.weight});
        }
        graph.add_flow({.bytes = flow.bytes, .weight = flow.weight, .cap = flow.cap}, crossings);
    }
    auto folding = fold(graph, graph.flows() / 16);
    if (!folding) return nullptr;
    return std::unique_ptr<FoldedFlows>(
        new FoldedFlows(std::exchange(offers, {}), std::move(*folding), links, whole, loads));
}

FoldedFlows::FoldedFlows(OfferedFlows offers, Folding folding, std::vector<std::uint32_t> const& links,
                         MaxMinKernel const& whole, MaxMinKernel::LoadObserver& loads)
    : offers_(std::move(offers)), kernel_(class_rates(folding, links, whole)), loads_(&loads) {
    group(folding.class_of_flow, folding.classes.size(), first_member_, members_);
    group(folding.class_of_link, folding.link_representative.size(), first_link_member_, link_members_);
    for (auto& link : link_members_) link = links[link];
    std::vector<MaxMinKernel::Crossing> crossings;
    for (std::uint32_t c = 0; c < folding.classes.size(); ++c) {
        auto flow = offers_.flows[folding.classes[c].representative];
        crossings.clear();
        flow.first_link = static_cast<std::uint32_t>(classes_.links.size());
        flow.link_count = folding.classes[c].crossing_count;
        for (auto const& [link_class, weight] : folding.crossings_of(folding.classes[c])) {
            crossings.push_back({link_class + 1, weight});
            classes_.links.push_back(link_class + 1);
        }
        classes_.flows.push_back(flow);
        number_.push_back(
            kernel_.add(std::span<MaxMinKernel::Crossing const>{crossings}, flow.weight, flow.bytes, c, flow.cap));
    }
    kernel_.observe(this);
}

void FoldedFlows::load_changes(std::uint32_t link, Time now, std::int64_t load) {
    if (link + 1 > first_link_member_.size()) return;  // the cap of a class
    for (auto i = first_link_member_[link - 1]; i < first_link_member_[link]; ++i)
        loads_->load_changes(link_members_[i], now, load);
}

void FoldedFlows::complete_until(Time now, std::vector<MaxMinKernel::Completion>& done) {
    classes_done_.clear();
    kernel_.complete_until(now, classes_done_);
    auto const first = done.size();
    for (auto const& [flow_class, when] : classes_done_) {
        number_[flow_class] = no_flow;
        for (auto const member : members(static_cast<std::uint32_t>(flow_class)))
            done.push_back({offers_.flows[member].cookie, when});
    }
    std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end());
}

std::vector<std::uint64_t> FoldedFlows::starved() const {
    std::vector<std::uint64_t> cookies;
    for (auto const flow_class : kernel_.starved())
        for (auto const member : members(static_cast<std::uint32_t>(flow_class)))
            cookies.push_back(offers_.flows[member].cookie);
    std::sort(cookies.begin(), cookies.end());
    return cookies;
}

FoldedFlows::FoldedFlows(MaxMinKernel::LoadObserver& loads) : kernel_(std::span<Rate const>{}), loads_(&loads) {
    kernel_.observe(this);
}

void FoldedFlows::unfold(Time now, MaxMinKernel& whole) {
    std::vector<MaxMinKernel::Crossing> crossings;
    for (std::uint32_t c = 0; c < number_.size(); ++c) {
        if (number_[c] == no_flow) continue;
        auto const left = kernel_.service_left(number_[c], now);
        for (auto const member : members(c)) {
            auto const& flow = offers_.flows[member];
            crossings.clear();
            for (auto const link : offers_.links_of(flow)) crossings.push_back({link, flow.weight});
            whole.add_service(crossings, flow.weight, left, flow.cookie, flow.cap);
        }
    }
}

std::size_t FoldedFlows::memory_bytes() const {
    return kernel_.memory_bytes() + offers_.flows.capacity() * sizeof(OfferedFlows::Flow) +
           (offers_.links.capacity() + members_.capacity() + link_members_.capacity()) * 4;
}

}  // namespace orrery

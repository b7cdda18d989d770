// SPDX-License-Identifier: Apache-2.0
// Flows that started together, solved class by class for as long as nothing else comes in between.
#pragma once

#include "netmodels/flow/fold.hpp"
#include "netmodels/flow/max_min_kernel.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace orrery {

// Flows as a FlowEngine is offered them, before the solver knows of them.
struct OfferedFlows {
    struct Flow {
        std::uint32_t first_link, link_count;  // in links
        std::uint32_t weight;
        std::int64_t bytes;
        Rate cap;
        std::uint64_t cookie;
    };
    std::vector<Flow> flows;
    std::vector<std::uint32_t> links;  // of the kernel

    std::span<std::uint32_t const> links_of(Flow const& flow) const {
        return std::span{links}.subspan(flow.first_link, flow.link_count);
    }
    void clear() {
        flows.clear();
        links.clear();
    }
    void state(StateStream& stream) { stream(flows, links); }
};

class FoldedFlows final : private MaxMinKernel::LoadObserver {
  public:
    // Takes the offers when they fold to a sixteenth or less, else leaves them and returns nothing. `whole` is the
    // kernel that owns the links; loads are told in its numbering.
    static std::unique_ptr<FoldedFlows> make(OfferedFlows& offers, MaxMinKernel const& whole,
                                             MaxMinKernel::LoadObserver& loads);

    // Empty, for state() to restore.
    explicit FoldedFlows(MaxMinKernel::LoadObserver& loads);
    void state(StateStream& stream) {
        stream(offers_, kernel_, classes_, number_, first_member_, members_, first_link_member_, link_members_);
    }

    std::uint32_t active_classes() const { return kernel_.active_flows(); }
    MaxMinKernel& kernel() { return kernel_; }
    // One flow per class, on the links of kernel().
    OfferedFlows const& classes() const { return classes_; }
    // As MaxMinKernel's, in terms of the flows.
    void complete_until(Time now, std::vector<MaxMinKernel::Completion>& done);
    std::vector<std::uint64_t> starved() const;
    // Gives every flow that is not done to `whole`, where it goes on as if it had always been there.
    void unfold(Time now, MaxMinKernel& whole);
    std::size_t memory_bytes() const;

  private:
    FoldedFlows(OfferedFlows offers, Folding folding, std::vector<std::uint32_t> const& links,
                MaxMinKernel const& whole, MaxMinKernel::LoadObserver& loads);
    void load_changes(std::uint32_t link, Time now, std::int64_t load) override;
    std::span<std::uint32_t const> members(std::uint32_t flow_class) const {
        return std::span{members_}.subspan(first_member_[flow_class],
                                           first_member_[flow_class + 1] - first_member_[flow_class]);
    }

    static constexpr std::uint32_t no_flow = 0xffffffff;
    OfferedFlows offers_;
    MaxMinKernel kernel_;  // link i + 1: link class i
    MaxMinKernel::LoadObserver* loads_;
    OfferedFlows classes_;
    std::vector<std::uint32_t> number_;                            // per class: its flow in kernel_, or no_flow
    std::vector<std::uint32_t> first_member_, members_;            // per class, into offers_
    std::vector<std::uint32_t> first_link_member_, link_members_;  // per link class, links of the whole kernel
    std::vector<MaxMinKernel::Completion> classes_done_;
};

}  // namespace orrery

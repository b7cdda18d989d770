// SPDX-License-Identifier: Apache-2.0
// Flows that share no link with another one: they take the whole of their narrowest link, and need no solver.
#pragma once

#include "netmodels/flow/max_min_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// A message of a ring, a pipeline or a tree mostly meets nobody on its ports. A flow stays here for as long as that
// holds; when another one begins on one of its links, both go to the solver, where this one goes on as if it had always
// been there: the same integers, so the result does not depend on where a flow is kept. Weight one, no cap.
class LoneFlows {
  public:
    explicit LoneFlows(MaxMinKernel::LoadObserver& loads) : loads_(&loads) {}

    bool empty() const { return active_ == 0; }
    // Is one of them on that link?
    bool on(std::uint32_t link) const { return link < holder_.size() && holder_[link] != nobody; }
    // `rate` is that of the narrowest of the links, none of which carries anything else.
    void start(Time now, std::span<std::uint32_t const> links, std::int64_t bytes, std::uint64_t cookie, Rate rate);
    // Gives the flow on that link to `solver`; what it was, for who counts starts.
    struct Given {
        std::span<std::uint32_t const> links;  // until the next call
        std::int64_t bytes = 0;
    };
    Given give(std::uint32_t link, Time now, MaxMinKernel& solver);

    Time next();
    // Appends what is done at or before `now`, in order (when, cookie).
    void complete_until(Time now, std::vector<MaxMinKernel::Completion>& done);
    void state(StateStream& stream) { stream(flows_, free_, due_, holder_, active_); }
    std::size_t memory_bytes() const {
        return flows_.capacity() * sizeof(Flow) + due_.capacity() * sizeof(Due) + holder_.capacity() * 4;
    }

  private:
    static constexpr std::uint32_t nobody = 0xffffffff;
    struct Flow {
        std::uint64_t cookie = 0;
        Time since, done;  // done: before `since` when the slot is free
        std::int64_t bytes = 0;
        std::int64_t level = 0;  // of the solver's: 2^-12 b/s
        std::vector<std::uint32_t> links;
        void state(StateStream& stream) { stream(cookie, since, done, bytes, level, links); }
    };
    struct Due {
        Time when;
        std::uint64_t cookie = 0;
        std::uint32_t flow = 0;
        friend bool operator<(Due const& a, Due const& b) {  // the earliest in front of a heap
            return a.when != b.when ? a.when > b.when : a.cookie > b.cookie;
        }
    };
    // Is that entry of the heap about a flow that is still here?
    bool stands(Due const& due) const {
        auto const& flow = flows_[due.flow];
        return flow.done == due.when && flow.cookie == due.cookie && flow.done >= flow.since;
    }
    void pop();
    void leave(std::uint32_t number, Time now);

    MaxMinKernel::LoadObserver* loads_;
    std::vector<Flow> flows_;  // slots, reused
    std::vector<std::uint32_t> free_;
    std::vector<Due> due_;               // heap; entries of flows that were given away stay until their time
    std::vector<std::uint32_t> holder_;  // per link
    std::uint32_t active_ = 0;
};

}  // namespace orrery

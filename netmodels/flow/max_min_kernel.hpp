// SPDX-License-Identifier: Apache-2.0
// Weighted max-min fair shares of links, exact in fixed point, advanced by one virtual clock per bottleneck link.
#pragma once

#include "core/units.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// A flow crosses up to six links. Its rate is weight * level, where level is that of its bottleneck: the first of its
// links to fill up when the levels of all flows rise together (progressive filling; Bertsekas & Gallager, Data
// Networks, sec. 6.5.2). Every flow bound by one link progresses at that link's level, so a link needs one clock, not
// one per flow: a flow carries the reading of the clock at which it will be done.
//
// Rounding rule: levels are integers in units of 2^-12 b/s per unit of weight, rounded down, so that no link is ever
// over-subscribed by a bit; a completion is the first picosecond at which the flow's last 2^-20 byte per unit of weight
// has been served. Among links that fill at the same level the lowest index fills first. The result is a function of
// the set of flows and their remaining service, not of the order in which they were added.
//
// Cost: settle() visits every flow of the affected component once per link it crosses; two flows are in one component
// when links connect them. next_completion() and add() are O(log links) and O(links of the flow).
class MaxMinKernel {
  public:
    static constexpr std::uint32_t max_links_per_flow = 6;

    struct Completion {
        std::uint64_t cookie;
        Time when;
    };

    explicit MaxMinKernel(std::span<Rate const> capacities);

    // A link beyond the fabric's: an engine that feeds several flows. Freed indices are reused.
    std::uint32_t open_link(Rate capacity);
    void close_link(std::uint32_t link);  // must carry no flow

    // Adds a flow; it moves no byte before the next settle(). `cookie` names it in Completion. A finite cap bounds the
    // flow's own rate and takes one of its links.
    void add(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes, std::uint64_t cookie,
             Rate cap = Rate::unlimited());
    // Re-shares every component that a start or a finish has touched since the last call.
    void settle(Time now);
    bool needs_settle() const { return !touched_.empty(); }

    // The earliest completion under the present shares; infinity when nothing moves.
    Time next_completion() const;
    // Removes every flow that is done at or before `now`, in order (when, cookie). Shares stay as they are until
    // settle().
    void complete_until(Time now, std::vector<Completion>& done);

    std::uint32_t active_flows() const { return active_flows_; }
    // Flows that have weight on a link whose rate is zero: they will never finish.
    std::vector<std::uint64_t> starved() const;

    // What a link carries now, in 2^-12 b/s.
    std::int64_t load(std::uint32_t link) const { return load_[link]; }
    // Called for every link whose load changes, with the load that holds from now on.
    class LoadObserver {
      public:
        virtual ~LoadObserver() = default;
        virtual void load_changes(std::uint32_t link, Time now, std::int64_t load) = 0;
    };
    void observe(LoadObserver* observer) { observer_ = observer; }

    std::uint64_t settles() const { return settles_; }
    std::uint64_t visits() const { return visits_; }

    // Service units: one byte is 8e12 * 2^12 units, so that rate (2^-12 b/s) * time (ps) is exact.
    static constexpr std::int64_t rate_scale = 4096;
    static constexpr std::uint64_t tag_unit = 31'250'000'000U;  // service units in 2^-20 byte: 8e12 * 2^12 / 2^20

  private:
    struct Entry {
        std::uint32_t flow;
        std::uint32_t weight;  // zero: the flow is gone
    };
    struct Due {
        Time when;
        std::uint32_t link;
        std::uint32_t stamp;
    };

    void touch(std::uint32_t link);
    std::uint32_t find(std::uint32_t link);
    void unite(std::uint32_t a, std::uint32_t b);
    void water_fill(std::span<std::uint32_t const> links, Time now);
    void freeze(std::uint32_t link, std::int64_t level);
    void advance_clock(std::uint32_t link, Time now);
    void schedule(std::uint32_t link, Time now);
    void push_due(Due due);
    void compact(std::uint32_t link);
    void reset_component();
    void remove(std::uint32_t flow, Time now);
    void set_load(std::uint32_t link, std::int64_t load, Time now);

    // Links. Index 0 is a sentinel that ends the list of a flow with fewer than six links.
    std::vector<std::int64_t> capacity_, load_, fixed_, level_;
    std::vector<std::int64_t> weight_;    // of the active flows that cross the link
    std::vector<std::int64_t> unfrozen_;  // scratch of water_fill
    std::vector<std::uint8_t> full_;      // scratch of water_fill
    std::vector<std::uint8_t> private_;   // the cap of one flow: closed with it
    std::vector<UInt128> clock_;          // service per unit of weight, in service units
    std::vector<Time> clock_time_;
    std::vector<std::uint64_t> next_tag_;  // smallest tag among the flows bound by the link
    std::vector<std::uint32_t> stamp_;     // invalidates entries of due_
    std::vector<std::vector<Entry>> entries_;
    std::vector<std::uint32_t> dead_;  // entries of weight zero
    // A closed link is free for reuse once its component has fallen idle: reused at once it would join two components.
    std::vector<std::uint8_t> closed_;
    std::vector<std::uint32_t> free_links_;

    // Components: union-find with a circular list of members; reset when the component falls idle.
    std::vector<std::uint32_t> parent_, next_member_, component_flows_, component_size_;
    std::vector<std::uint8_t> is_touched_;
    std::vector<std::uint32_t> touched_;

    // Flows.
    std::vector<std::array<std::uint32_t, max_links_per_flow>> flow_links_, flow_slots_;
    std::vector<std::uint32_t> flow_weight_, flow_bound_;
    std::vector<std::uint64_t> flow_tag_, flow_cookie_;
    std::vector<std::uint32_t> free_flows_;
    std::uint32_t active_flows_ = 0;

    mutable std::vector<Due> due_;  // binary heap, earliest first; an index: looking drops its stale entries
    struct Level {
        std::int64_t level;
        std::uint32_t link;
    };
    std::vector<Level> filling_;          // scratch heap of water_fill
    std::vector<std::uint32_t> members_;  // scratch of settle
    LoadObserver* observer_ = nullptr;
    std::uint64_t settles_ = 0, visits_ = 0;
};

}  // namespace orrery

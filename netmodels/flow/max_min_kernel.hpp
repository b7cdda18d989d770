// SPDX-License-Identifier: Apache-2.0
// Weighted max-min fair shares of links, exact in fixed point, updated only where a start or a finish moves them.
#pragma once

#include "core/units.hpp"
#include "netmodels/flow/due_table.hpp"
#include "netmodels/flow/level_order.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace orrery {

// Shares. Every link has a *level*; a flow's level is the lowest among its links', its rate is weight * level, and it
// takes crossing weight * level of each link. Level of a link: raise the levels of all flows together; the link is full
// at the highest integer level at which its flows still fit, where a flow whose level is lower elsewhere takes what it
// has there (progressive filling; Bertsekas & Gallager, Data Networks, sec. 6.5.2). A link that never fills has none.
//
// Rounding rule. Levels are integers in units of 2^-12 b/s per unit of weight, rounded down, so no link is ever
// over-subscribed by a bit. Links that fill at the same level fill together: none hands its rounding remainder to the
// flows of another. That makes the levels a function of the set of flows and links alone, not of any order, the same
// for links that are alike (docs/flow-model.md has the proof), and so both incremental updates and folding are exact to
// the bit. A flow's service is rounded once, up, when it starts; it is done at the first picosecond at which the
// integral of its level, an integer, has reached its service.
//
// Clocks. Flows bound by one link progress at its level, so a link keeps one clock, the integral of its level, and a
// flow the reading at which it will be done. When its bottleneck changes, the reading moves with it, exactly.
//
// Cost. settle() looks at the links whose level moves and at the flows bound by them, not at the others (docs/
// flow-model.md has figures). A completion costs O(log flows of the link). Per flow of two links: about 130 B.
class MaxMinKernel {
  public:
    struct Completion {
        std::uint64_t cookie;
        Time when;
        friend bool operator<(Completion const& a, Completion const& b) {
            return a.when != b.when ? a.when < b.when : a.cookie < b.cookie;
        }
    };
    // A link of a flow, each at most once, and what the flow takes there per unit of level. A flow sprayed or striped
    // over several paths lists all their links, each with its part of the flow's weight.
    struct Crossing {
        std::uint32_t link;
        std::uint32_t weight;
    };

    // Links are numbered from 1 in the order of `capacities`; 0 is no link.
    explicit MaxMinKernel(std::span<Rate const> capacities);

    // A link beyond the fabric's: an engine that feeds several flows. Freed indices are reused.
    std::uint32_t open_link(Rate capacity);
    void close_link(std::uint32_t link);  // must carry no flow
    // From the next settle() on.
    void set_capacity(std::uint32_t link, Rate capacity);
    // Makes it a link whose level is told, not computed: the far end of flows that another kernel shares too.
    void impose_level(std::uint32_t link, std::int64_t level);

    // Adds a flow and returns its number, free again when it is done; it moves no byte before the next settle().
    // `cookie` names it in Completion. A finite cap bounds the flow's own rate: it is a link of its own.
    std::uint32_t add(std::span<Crossing const> crossings, std::uint32_t weight, std::int64_t bytes,
                      std::uint64_t cookie, Rate cap = Rate::unlimited());
    // The same for a flow that takes its whole weight of each of its links.
    std::uint32_t add(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes,
                      std::uint64_t cookie, Rate cap = Rate::unlimited());
    // The same for a flow that has been under way elsewhere: what is left of its service, as service_left() told it.
    std::uint32_t add_service(std::span<Crossing const> crossings, std::uint32_t weight, UInt128 service,
                              std::uint64_t cookie, Rate cap = Rate::unlimited());
    // Of a flow that was added with a cap; from the next settle() on.
    void set_cap(std::uint32_t flow, Rate cap);
    // Is that flow, by the number add() returned and its cookie, still there?
    bool is_active(std::uint32_t flow, std::uint64_t cookie) const {
        return flows_[flow].places > 0 && flows_[flow].cookie == cookie;
    }
    // No link is faster than this.
    static constexpr Rate fastest() { return Rate::from_bits_per_s(unbounded / rate_scale / 2); }
    // What an active flow, by the number add() returned, has still to be served, in level * ps.
    UInt128 service_left(std::uint32_t flow, Time now);
    // Shares the links anew after starts, finishes and changes of capacity. Call complete_until(now) first.
    void settle(Time now);
    // The same from nothing, visiting every flow: the yardstick for settle().
    void settle_afresh(Time now);
    bool needs_settle() const { return !seeds_.empty() || !pending_.empty(); }

    // The earliest completion under the present shares; infinity when nothing moves.
    Time next_completion() const;
    // Removes every flow that is done at or before `now`, in order (when, cookie). Shares stay as they are until
    // settle().
    void complete_until(Time now, std::vector<Completion>& done);

    std::uint32_t active_flows() const { return active_flows_; }
    // Flows whose level is zero, because a link is down or too many share it: they will not finish as things are.
    std::vector<std::uint64_t> starved() const;

    // What a link carries now, in 2^-12 b/s.
    std::int64_t load(std::uint32_t link) const { return load_[link]; }
    Rate capacity(std::uint32_t link) const { return Rate::from_bits_per_s(links_[link].capacity / rate_scale); }
    // Its level in 2^-12 b/s per unit of weight; `unbounded` when it does not fill.
    std::int64_t level(std::uint32_t link) const { return shares_[link].level; }
    // Called for every link whose load changes, with the load that holds from now on.
    class LoadObserver {
      public:
        virtual ~LoadObserver() = default;
        virtual void load_changes(std::uint32_t link, Time now, std::int64_t load) = 0;
    };
    void observe(LoadObserver* observer) { observer_ = observer; }

    struct Counters {
        std::uint64_t settles = 0;      // calls with something to do
        std::uint64_t relaxations = 0;  // levels computed
        std::uint64_t visits = 0;       // flows looked at for them
        std::uint64_t afresh = 0;       // settles that gave up halfway and visited every flow
    };
    Counters const& counters() const { return counters_; }
    // Links opened and everything under way, for a kernel made with the same capacities. Between two settles.
    void state(StateStream& stream);
    // Bytes held in its arrays.
    std::size_t memory_bytes() const;

    static constexpr std::uint32_t most_links = 1U << 26;
    static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
    // Levels are in 2^-12 b/s, clocks in level * ps: one byte is 8e12 * 2^12 of those.
    static constexpr std::int64_t rate_scale = 4096;
    static constexpr std::uint64_t service_per_byte = 8'000'000'000'000U * rate_scale;

  private:
    static constexpr UInt128 never = ~UInt128{0};
    // An entry is *own* where its flow's level is the link's, and *held* where it is lower. Entries of a link are kept
    // own first. A flow that crosses no other link has no entry: it is always own, and nobody needs to find it.
    struct Entry {
        std::uint32_t other;  // of a flow with two links and one weight: the other one; else 0
        std::uint32_t weight;
    };
    struct EntryList {
        std::vector<Entry> entries;
        std::vector<std::uint32_t> flows;  // of the same slots; apart, since the hot loop does not read it
        void state(StateStream& stream) { stream(entries, flows); }
    };
    // What the flows of other links read and write: two to a cache line.
    struct Share {
        std::int64_t level = unbounded;
        std::uint64_t held = 0;     // what held entries take; wraps while a settle is under way
        std::int64_t ceiling = -1;  // no held entry has a higher level
        std::int64_t own = 0;       // weight of own entries
    };
    static_assert(sizeof(Share) == 32);
    struct Link {
        std::int64_t capacity = 0;
        std::int64_t total = 0;  // weight of all entries
        std::uint32_t own_count = 0;
        std::uint32_t branching = 0;   // entries with other == 0
        std::uint32_t lone_count = 0;  // flows that cross no other link
        std::int64_t lone = 0;         // their weight
        bool touched = false;          // in touched_
        bool seeded = false;           // in seeds_
        bool stale_heap = false;       // a flow left it or was bound elsewhere
        bool is_private = false;
        bool imposed = false;  // then capacity is the level
    };
    struct Place {  // of an entry: where a flow finds itself
        std::uint32_t link;
        std::uint32_t slot;  // the weight, of a flow with this link alone
    };
    struct Flow {
        std::uint64_t tag_high = 0, tag_low = 0;  // reading of its clock at which it is done
        std::uint64_t cookie = 0;
        std::uint32_t first_place = 0;
        std::uint32_t places = 0;  // zero: free
        std::uint32_t weight = 0;
        std::uint32_t bound = 0;  // the link whose clock the tag refers to; 0: the tag is its remaining service
    };
    struct Due {  // entry of a link's heap of its flows
        std::uint64_t tag_high, tag_low;
        std::uint32_t flow;
    };
    // One word, so that the queue compares once: the upper bits of the expected level, then the link.
    using Queued = std::uint64_t;
    struct Held {
        std::int64_t level;
        std::uint32_t weight;
    };
    struct Near {  // a held entry that a falling link may meet
        std::int64_t level;
        std::uint32_t slot;
    };

    static UInt128 tag_of(Flow const& flow) { return static_cast<UInt128>(flow.tag_high) << 64 | flow.tag_low; }
    static UInt128 tag_of(Due const& due) { return static_cast<UInt128>(due.tag_high) << 64 | due.tag_low; }
    static void set_tag(Flow& flow, UInt128 tag) {
        flow.tag_high = static_cast<std::uint64_t>(tag >> 64);
        flow.tag_low = static_cast<std::uint64_t>(tag);
    }

    // Flows and entries (max_min_kernel.cpp).
    void seed(std::uint32_t link);
    void insert(std::uint32_t flow);
    std::int64_t level_of(std::uint32_t flow) const;  // the lowest among its links
    void append_entry(std::uint32_t link, Entry entry, std::uint32_t flow, std::uint32_t place, bool own);
    void remove(std::uint32_t flow, Time now);
    void erase_entry(std::uint32_t link, std::uint32_t slot);
    Place& place_of(std::uint32_t flow, std::uint32_t link);
    std::uint32_t make_own(std::uint32_t link, std::uint32_t slot);
    std::uint32_t make_held(std::uint32_t link, std::uint32_t slot);
    std::uint32_t swap_entries(std::uint32_t link, std::uint32_t a, std::uint32_t b);
    std::uint32_t allocate_places(std::uint32_t count);

    // Clocks (max_min_clocks.cpp).
    void advance_clock(std::uint32_t link, Time now);
    void bind(std::uint32_t flow, std::uint32_t link, Time now);
    void schedule(std::uint32_t link);
    void drop_stale(std::uint32_t link);
    void push_due(std::uint32_t link, std::uint32_t flow);
    UInt128 wait_of(std::uint32_t link) const;
    DueTable::Due next_due() const;
    void set_load(std::uint32_t link, std::int64_t load, Time now);

    // Levels (max_min_levels.cpp).
    enum class Fallback : std::uint8_t { none, guess };
    void begin_settle(Time now);
    void relax_all(Time now, Fallback fallback);
    std::uint32_t take();
    void finish_settle(Time now);
    void relax(std::uint32_t link);
    void enqueue(std::uint32_t link);
    void touch(std::uint32_t link);
    std::int64_t estimate(std::uint32_t link) const;
    // The lowest level among the other links of the flow in that slot.
    std::int64_t level_elsewhere(std::uint32_t link, std::uint32_t slot) const {
        auto const other = lists_[link].entries[slot].other;
        return other != 0 ? shares_[other].level : lowest_elsewhere(link, slot);
    }
    std::int64_t lowest_elsewhere(std::uint32_t link, std::uint32_t slot) const;
    std::int64_t level_by_scan(std::uint32_t link);
    void apply(std::uint32_t link, std::int64_t to);
    void apply_all(std::uint32_t link, std::int64_t level);
    template <bool rise>
    void move_own(std::uint32_t link, std::int64_t from, std::int64_t to);
    void move_one(std::uint32_t link, std::uint32_t slot, std::int64_t from, std::int64_t to);
    void claim_held(std::uint32_t link, std::int64_t level);
    void claim(std::uint32_t link, std::uint32_t slot, std::int64_t level);
    void fall(std::uint32_t link, std::int64_t level);
    bool change_elsewhere(std::uint32_t link, std::uint32_t slot, std::int64_t from, std::int64_t to);
    bool change_at(std::uint32_t link, std::uint32_t flow, std::uint32_t weight, std::int64_t from, std::int64_t to);
    // From many changes (max_min_guess.cpp).
    void guess_levels(Time now);
    void fill(std::uint32_t link, std::int64_t level);
    void classify(std::uint32_t link);

    void rebind_to_level(std::uint32_t flow, std::int64_t level);

    std::vector<Link> links_;
    std::vector<Share> shares_;
    std::vector<std::uint8_t> queued_;  // in order_, queue_ or slack_
    std::vector<EntryList> lists_;
    std::vector<std::int64_t> load_;
    std::vector<UInt128> clock_;     // integral of the level
    std::vector<UInt128> next_tag_;  // of the first flow in the link's heap; `never` when there is none
    std::vector<Time> clock_time_;
    mutable std::vector<std::vector<Due>> heaps_;
    mutable DueTable due_;
    std::vector<std::uint32_t> free_links_;

    std::vector<Flow> flows_;
    std::vector<Place> places_;
    std::size_t entry_count_ = 0;
    std::vector<std::uint32_t> free_flows_;
    std::vector<std::vector<std::uint32_t>> free_places_;  // by count
    std::vector<std::uint32_t> pending_;                   // added since the last settle
    std::vector<std::uint32_t> seeds_;                     // links whose flows or capacity changed since then
    std::uint32_t active_flows_ = 0;
    static constexpr std::uint32_t never_many = 1U << 30;
    std::uint32_t changes_ = 0;  // flows that came or went since the last settle
    std::uint32_t many_changes_ = never_many;

    Time now_;
    LevelOrder order_;                  // links to relax that have a level, lowest first
    std::vector<Queued> queue_;         // heap: links to relax that have none yet, lowest expected level first
    std::vector<std::uint32_t> slack_;  // links to relax that do not fill unless held flows grew
    std::vector<std::uint32_t> touched_;
    std::vector<Held> scan_;           // scratch of level_by_scan
    std::vector<Near> near_;           // scratch of fall
    std::vector<Crossing> crossings_;  // scratch of add
    LoadObserver* observer_ = nullptr;
    Counters counters_;
};

}  // namespace orrery

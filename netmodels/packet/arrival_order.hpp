// SPDX-License-Identifier: Apache-2.0
// The arrivals of one window, dealt to the places where they arrive and put in order there.
#pragma once

#include "netmodels/packet/calendar.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery {

// What sorting needs of an arrival: its time, then the fair draw. The packet stays where it is.
struct Arrival {
    std::uint64_t key = 0;    // offset into the window, upper half of the draw
    std::uint32_t index = 0;  // in the calendar's window

    std::int64_t offset() const { return static_cast<std::int64_t>(key >> 32); }
};

// A counting sort by place, then a sort of each place's few. Nothing is touched of places that nothing arrives at.
class ArrivalOrder {
  public:
    ArrivalOrder(std::uint32_t places, FairTie const& tie) : tie_(tie), count_(places, 0), touched_(places) {}

    // Deals the open window of the calendar.
    template <class PlaceOf>
    void deal(PacketCalendar& calendar, PlaceOf const& place_of) {
        std::size_t touched = 0;
        std::uint32_t total = 0;
        calendar.for_each_open([&](std::uint32_t, Packet const& packet) {
            auto const place = place_of(packet);
            touched_[touched] = place;
            touched += count_[place] == 0 ? 1 : 0;
            ++count_[place];
            ++total;
        });
        places_ = touched;
        arrivals_.resize(total);
        std::uint32_t first = 0;
        for (std::size_t t = 0; t < touched; ++t) first += std::exchange(count_[touched_[t]], first);
        calendar.for_each_open([&](std::uint32_t index, Packet const& packet) {
            arrivals_[count_[place_of(packet)]++] = {std::uint64_t{packet.offset} << 32 | tie_.draw(packet) >> 32,
                                                     index};
        });
    }

    // Visits the places in the order in which they were met: `soon(place)` two places ahead and `next(place)` one
    // ahead, to ask for what they will need, then `walk(place, first, last)`.
    template <class Soon, class Next, class Walk>
    void visit(PacketCalendar& calendar, Soon const& soon, Next const& next, Walk const& walk) {
        std::uint32_t begin = 0;
        for (std::size_t t = 0; t < places_; ++t) {
            auto const place = touched_[t];
            auto const end = std::exchange(count_[place], 0);
            if (t + 2 < places_) soon(touched_[t + 2]);
            if (t + 1 < places_) {
                next(touched_[t + 1]);
                auto const after = count_[touched_[t + 1]];
                for (auto i = end; i < std::min(after, end + 2); ++i)
                    __builtin_prefetch(&calendar.at(arrivals_[i].index));
            }
            auto* const first = arrivals_.data() + begin;
            auto* const last = arrivals_.data() + end;
            sort(calendar, first, last);
            walk(place, first, last);
            begin = end;
        }
    }

    std::int64_t memory_bytes() const {
        return static_cast<std::int64_t>((count_.size() + touched_.size()) * 4 +
                                         arrivals_.capacity() * sizeof(Arrival));
    }

  private:
    static constexpr std::ptrdiff_t few = 64;

    void sort(PacketCalendar& calendar, Arrival* first, Arrival* last) {
        if (last - first > few)
            std::sort(first, last, [](Arrival const& a, Arrival const& b) { return a.key < b.key; });
        else
            sort_few(first, last);
        // Equal draws: two packets of one origin over different links, or a collision of half a draw.
        for (auto* at = first; at + 1 < last; ++at) {
            if (at[0].key != at[1].key) [[likely]]
                continue;
            auto* end = at + 2;
            while (end < last && end->key == at->key) ++end;
            std::sort(at, end, [&](Arrival const& a, Arrival const& b) {
                return tie_(calendar.at(a.index), calendar.at(b.index));
            });
        }
    }

    // They are nearly in order: what is out of place is mostly a pair within one part of the window, in an order that
    // no branch predictor knows. So pairs are exchanged without a branch first.
    static void sort_few(Arrival* first, Arrival* last) {
        for (auto* at = first; at + 1 < last; ++at) {
            auto const a = at[0], b = at[1];
            bool const swap = b.key < a.key;
            at[0] = {swap ? b.key : a.key, swap ? b.index : a.index};
            at[1] = {swap ? a.key : b.key, swap ? a.index : b.index};
        }
        for (auto* at = first + 1; at < last; ++at) {
            if (at[-1].key <= at->key) [[likely]]
                continue;
            auto const arrival = *at;
            auto* hole = at;
            for (; hole != first && arrival.key < hole[-1].key; --hole) *hole = hole[-1];
            *hole = arrival;
        }
    }

    FairTie tie_;
    std::vector<std::uint32_t> count_, touched_;  // by place; the places met
    std::size_t places_ = 0;
    std::vector<Arrival> arrivals_;
};

}  // namespace orrery

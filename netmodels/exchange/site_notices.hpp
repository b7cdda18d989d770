// SPDX-License-Identifier: Apache-2.0
// What the sites of a domain write to each other, packed into the five words of an event.
#pragma once

#include "core/check.hpp"
#include "core/event.hpp"
#include "core/lp.hpp"

#include <array>
#include <cstdint>

namespace orrery {

// All of them arrive one notice latency after they were sent, and before the site's own tick of that instant.
enum SiteNotice : std::uint16_t {
    // Readers of a pull that begin. body: key, up to four words: member + 1 (16 bits), picoseconds after the event
    // (48 bits). Before the levels: those of the reader's site mean nothing to a site without transfers to it.
    begins_notice = 34,
    // Four levels of the sender's bundles. body: four indices of 16 bits (0xffff: none), four levels.
    levels_notice = 35,
    // The level of a sender's loop. body: key, member, level.
    loop_notice = 36,
    // Transfers that the sender has served. body: key, up to four words: source, target (16 bits each), how many
    // picoseconds before the event it was (32 bits, never zero).
    served_notice = 37,
    // The sender's part of an instance is over, to the instance's home. body: key, last end, payload, longest time a
    // bundle needs, that bundle.
    part_notice = 38,
    // An instance is over, to the domain's home, in two events. body: key, first start, last start, last end, payload;
    // key, bound of the ports, its bundle, shortest loop, longest loop.
    instance_times_notice = 39,
    instance_bound_notice = 40,
};

// Fills events with words and sends them as they are full.
template <std::size_t first>
class NoticePacker {
  public:
    using Body = std::array<std::uint64_t, 5>;

    NoticePacker(Outbox& out, LpId target, Time when, SiteNotice kind, Body const& blank)
        : out_(&out), target_(target), when_(when), kind_(kind), blank_(blank), body_(blank) {}
    NoticePacker(NoticePacker const&) = delete;
    NoticePacker& operator=(NoticePacker const&) = delete;
    ~NoticePacker() = default;

    // The slot for the next word; body() may be marked meanwhile.
    std::size_t add(std::uint64_t word) {
        if (used_ == 5 - first) flush();
        body_[first + used_] = word;
        return used_++;
    }
    Body& body() { return body_; }
    void flush() {
        if (used_ > 0) out_->send(target_, when_, kind_, body_);
        body_ = blank_;
        used_ = 0;
    }

  private:
    Outbox* out_;
    LpId target_;
    Time when_;
    SiteNotice kind_;
    Body blank_, body_;
    std::size_t used_ = 0;
};

// A served transfer and how long before the event that tells of it.
struct ServedWord {
    std::uint32_t source = 0, target = 0;
    Time before;

    std::uint64_t pack() const {
        ORRERY_ENSURE(before > Time{} && before.ps() <= 0xffff'ffff, "a notice {} ps after its cause", before.ps());
        return static_cast<std::uint64_t>(source) << 48 | static_cast<std::uint64_t>(target) << 32 |
               static_cast<std::uint64_t>(before.ps());
    }
    static ServedWord unpack(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word >> 48), static_cast<std::uint32_t>(word >> 32) & 0xffff,
                Time::from_ps(static_cast<std::int64_t>(word & 0xffff'ffff))};
    }
};

// A reader that begins, and how long after the event that tells of it.
struct BeginWord {
    std::uint32_t member = 0;
    Time after;

    std::uint64_t pack() const {
        ORRERY_ENSURE(after >= Time{} && after.ps() >> 48 == 0, "a reader begins {} ps ahead", after.ps());
        return static_cast<std::uint64_t>(member + 1) << 48 | static_cast<std::uint64_t>(after.ps());
    }
    static BeginWord unpack(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word >> 48) - 1,
                Time::from_ps(static_cast<std::int64_t>(word & 0xffff'ffff'ffff))};
    }
};

}  // namespace orrery

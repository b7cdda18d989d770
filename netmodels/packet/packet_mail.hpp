// SPDX-License-Identifier: Apache-2.0
// Packets for other processes, two to a record of the exchange, in bundles of one window of arrival.
#pragma once

#include "core/event.hpp"
#include "netmodels/packet/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace orrery {

// An exchange moves records of 64 bytes without looking into them, and those of one process stay together and in
// order. A bundle is one record that names a window, then its packets as they will lie in the receiver's calendar:
// neither side converts a time, and nothing is sorted. That a flow is complete goes in a record of its own.
class PacketMail {
  public:
    explicit PacketMail(std::uint32_t processes) : lanes_(processes), out_(processes) {}

    // A packet that arrives in `window`, at leg.offset.
    void add(std::uint32_t process, std::int64_t window, PacketLoad const& load, PacketLeg const& leg) {
        auto& lane = lane_of(process, window);
        if (lane.packets % 2 == 0) lane.records.emplace_back();
        Packet packet;
        packet.set_out(load, leg);
        std::memcpy(half(lane.records.back(), lane.packets % 2), &packet, sizeof packet);
        ++lane.packets;
    }
    // Every byte of the flow in a slot of that process has arrived by `when` (ps).
    void complete(std::uint32_t process, std::uint32_t slot, std::int64_t when) {
        auto& record = out_[process].emplace_back();
        record.kind = flow_complete;
        record.body = {slot, static_cast<std::uint64_t>(when)};
    }

    // All that was added since the last call, by process.
    std::vector<std::vector<Event>>& seal() {
        for (std::size_t process = 0; process < lanes_.size(); ++process)
            for (auto& lane : lanes_[process]) {
                if (lane.packets == 0) continue;
                lane.records.front().kind = bundle;
                lane.records.front().body = {static_cast<std::uint64_t>(lane.window), lane.packets};
                auto& out = out_[process];
                if (out.size() < lane.records.size()) out.swap(lane.records);  // the longer one stays where it is
                out.insert(out.end(), lane.records.begin(), lane.records.end());
                lane.packets = 0;
            }
        return out_;
    }
    std::vector<std::vector<Event>>& sealed() { return out_; }

    // Calls packet(window, Packet const&) and done(slot, when) for all that processes have sent.
    template <class OnPacket, class OnDone>
    static void open(std::span<Event const> records, OnPacket const& packet, OnDone const& done) {
        for (std::size_t at = 0; at < records.size();) {
            auto const& head = records[at++];
            if (head.kind == flow_complete) {
                done(static_cast<std::uint32_t>(head.body[0]), static_cast<std::int64_t>(head.body[1]));
                continue;
            }
            auto const window = static_cast<std::int64_t>(head.body[0]);
            auto const count = static_cast<std::size_t>(head.body[1]);
            for (std::size_t i = 0; i < count; ++i) {
                Packet one;
                std::memcpy(&one, half(records[at + i / 2], i % 2), sizeof one);
                packet(window, one);
            }
            at += (count + 1) / 2;
        }
    }

  private:
    enum Kind : std::uint16_t { bundle = 1, flow_complete = 2 };
    static_assert(sizeof(Event) == 2 * sizeof(Packet));
    struct Lane {
        std::int64_t window = 0;
        std::uint64_t packets = 0;
        std::vector<Event> records;  // the first one for the head
    };

    static std::byte* half(Event& record, std::size_t which) {
        return reinterpret_cast<std::byte*>(&record) + which * sizeof(Packet);
    }
    static std::byte const* half(Event const& record, std::size_t which) {
        return reinterpret_cast<std::byte const*>(&record) + which * sizeof(Packet);
    }
    Lane& lane_of(std::uint32_t process, std::int64_t window) {
        auto& lanes = lanes_[process];
        for (auto& lane : lanes)
            if (lane.packets > 0 && lane.window == window) [[likely]]
                return lane;
        for (auto& lane : lanes)
            if (lane.packets == 0) return begun(lane, window);
        return begun(lanes.emplace_back(), window);
    }
    static Lane& begun(Lane& lane, std::int64_t window) {
        lane.window = window;
        lane.records.assign(1, Event{});
        return lane;
    }

    std::vector<std::vector<Lane>> lanes_;  // by process: one for each window, of which there are two or three
    std::vector<std::vector<Event>> out_;   // by process
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/messages.hpp"

#include "netmodels/topology/fabric.hpp"

namespace orrery {

void MessageDomain::handle(Event const& event, Outbox& out) {
    Entry entry{.message = RankMessage::unpack(event.body), .latency = {}};
    auto const& message = entry.message;
    auto const way = domain_->fabric().route(place_[message.source], place_[message.target]);
    entry.latency = way.latency;
    if (message.bytes == 0) return over(entry, event.when, out);
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(under_way_.size()));
        under_way_.emplace_back();
    }
    auto const slot = free_.back();
    free_.pop_back();
    under_way_[slot] = entry;
    for (auto const hop : way.bundles()) domain_->count_bundle(domain_->map().local(hop), message.bytes, message.bytes);
    domain_->begin(*this,
                   {.hops = way.bundles(), .cap = way.cap, .wire_bytes = message.bytes, .payload_bytes = message.bytes},
                   slot, event.when);
    domain_->want_tick(event.when, out);
}

void MessageDomain::transfer_done(TransferDone const& done, Outbox& out) {
    auto const slot = static_cast<std::uint32_t>(done.cookie);
    domain_->delivered(under_way_[slot].message.bytes);
    over(under_way_[slot], done.when, out);
    free_.push_back(slot);
}

void MessageDomain::over(Entry const& entry, Time last_byte_left, Outbox& out) {
    auto const& message = entry.message;
    auto const when = last_byte_left + entry.latency + timing_.back;
    domain_->note(static_cast<std::uint64_t>(message.source) << 32 | message.target);
    domain_->note(when);
    out.send(LpId{message.source}, when, message_sent, message.pack());
    out.send(LpId{message.target}, when, message_arrived, message.pack());
}

std::vector<RankMessage> MessageDomain::starved() const {
    std::vector<RankMessage> messages;
    for (auto const slot : domain_->starved(*this)) messages.push_back(under_way_[slot].message);
    return messages;
}

}  // namespace orrery

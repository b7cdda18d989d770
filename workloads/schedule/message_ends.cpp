// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/message_ends.hpp"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

constexpr auto by_peer_and_tag = [](auto const& a, auto const& b) {
    return std::tie(a.peer, a.tag) < std::tie(b.peer, b.tag);
};

template <class Channel>
void keep_one_of_each(std::vector<Channel>& channels) {
    std::sort(channels.begin(), channels.end(), by_peer_and_tag);
    auto const alike = [](auto const& a, auto const& b) { return a.peer == b.peer && a.tag == b.tag; };
    channels.erase(std::unique(channels.begin(), channels.end(), alike), channels.end());
    channels.shrink_to_fit();
}

// Takes the entry of that number out of a short list.
template <class Entry>
std::optional<Entry> take(std::vector<Entry>& entries, std::uint32_t ordinal) {
    auto const at =
        std::find_if(entries.begin(), entries.end(), [=](Entry const& entry) { return entry.ordinal == ordinal; });
    if (at == entries.end()) return std::nullopt;
    auto const entry = *at;
    entries.erase(at);  // the first one, as a rule
    return entry;
}

}  // namespace

MessageEnds::MessageEnds(RankProgram const& program) {
    for (auto const& task : program.tasks()) {
        if (task.kind == TaskKind::send) sends_.push_back({task.peer, task.tag, 0});
        if (task.kind == TaskKind::receive) receives_.push_back({task.peer, task.tag, 0, {}, {}});
    }
    keep_one_of_each(sends_);
    keep_one_of_each(receives_);
}

template <class Channel>
Channel& MessageEnds::channel(std::vector<Channel>& channels, std::uint32_t peer, std::uint32_t tag) {
    auto const at = std::lower_bound(channels.begin(), channels.end(), SendChannel{peer, tag, 0}, by_peer_and_tag);
    ORRERY_ENSURE(at != channels.end() && at->peer == peer && at->tag == tag,
                  "a message with rank {}, tag {} that no task names", peer, tag);
    return *at;
}

std::uint32_t MessageEnds::sent(std::uint32_t peer, std::uint32_t tag) {
    return channel(sends_, peer, tag).next++;
}

std::optional<MessageEnds::Arrival> MessageEnds::expect(std::uint32_t peer, std::uint32_t tag, std::uint32_t task) {
    auto& from = channel(receives_, peer, tag);
    auto const ordinal = from.next++;
    auto arrival = take(from.arrived, ordinal);
    if (!arrival) from.waiting.push_back({ordinal, task});
    return arrival;
}

std::optional<std::uint32_t> MessageEnds::arrived(std::uint32_t peer, std::uint32_t tag, Arrival const& arrival) {
    auto& from = channel(receives_, peer, tag);
    if (auto const waiting = take(from.waiting, arrival.ordinal)) return waiting->task;
    from.arrived.push_back(arrival);
    return std::nullopt;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Definitions of EventQueue; included by core/window_loop_impl.hpp so that the hot path inlines.
#pragma once

#include "core/event_queue.hpp"

namespace orrery {

template <class Order>
EventQueue<Order>::EventQueue(Time width) : width_(width) {
    ORRERY_ENSURE(width > Time{}, "a window is {} ps wide", width.ps());
}

template <class Order>
void EventQueue<Order>::push(Event const& event) {
    auto const index = event.when.ps() / width_.ps();
    ORRERY_ENSURE(event.when >= Time{} && event.when < Time::infinity() && index >= current_,
                  "LP {} is handed an event at {} ps, in a window before the current one ({})", event.target.value(),
                  event.when.ps(), current_);
    ++size_;
    if (index == current_) {
        added_.push_back(event);
        std::push_heap(added_.begin(), added_.end(), later);
    } else if (index - current_ <= bucket_count) {
        put(event, index);
    } else {
        far_.push_back(event);
        std::push_heap(far_.begin(), far_.end(), later);
    }
}

template <class Order>
void EventQueue<Order>::put(Event const& event, std::int64_t index) {
    auto const place = static_cast<std::size_t>(index % bucket_count);
    auto& bucket = ring_[place];
    if (bucket.events.empty()) {
        occupied_[place / 64] |= std::uint64_t{1} << (place % 64);
        if (!spare_.empty()) {
            bucket.events = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    bucket.events.push_back(event);
    bucket.earliest = std::min(bucket.earliest, event.when);
}

template <class Order>
void EventQueue<Order>::open(Window const& window) {
    ORRERY_ENSURE(window.index > current_ && next() >= window.begin,
                  "window {} opened after window {} with events left", window.index, current_);
    current_ = window.index;
    if (sorted_events_.capacity() > 0) {
        sorted_events_.clear();
        spare_.push_back(std::move(sorted_events_));
    }
    auto const place = static_cast<std::size_t>(current_ % bucket_count);
    auto& bucket = ring_[place];
    sorted_events_ = std::move(bucket.events);
    bucket.events = {};
    bucket.earliest = Time::infinity();
    occupied_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    // The place just emptied now stands for the window one turn of the ring ahead.
    while (!far_.empty()) {
        auto const index = far_.front().when.ps() / width_.ps();
        if (index - current_ > bucket_count) break;
        std::pop_heap(far_.begin(), far_.end(), later);
        if (index == current_)
            sorted_events_.push_back(far_.back());
        else
            put(far_.back(), index);
        far_.pop_back();
    }
    sort_current();
}

// Sorts 16-byte keys instead of 64-byte events; only ties look at the events.
template <class Order>
void EventQueue<Order>::sort_current() {
    cursor_ = 0;
    keys_.resize(sorted_events_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = {sorted_events_[i].when, static_cast<std::uint32_t>(i)};
    std::sort(keys_.begin(), keys_.end(), [&](Key const& a, Key const& b) {
        if (a.when != b.when) return a.when < b.when;
        return Order{}(sorted_events_[a.position], sorted_events_[b.position]);
    });
}

template <class Order>
Event const* EventQueue<Order>::top() const {
    Event const* const first = cursor_ < keys_.size() ? &sorted_events_[keys_[cursor_].position] : nullptr;
    if (added_.empty()) return first;
    return first && !Order{}(added_.front(), *first) ? first : &added_.front();
}

template <class Order>
void EventQueue<Order>::pop() {
    --size_;
    if (added_.empty() || top() != &added_.front()) {
        ++cursor_;
        return;
    }
    std::pop_heap(added_.begin(), added_.end(), later);
    added_.pop_back();
}

template <class Order>
Time EventQueue<Order>::next() const {
    if (Event const* const event = top()) return event->when;
    // Ring places in order of time: from the one after the current window's, once around.
    auto const start = static_cast<std::size_t>((current_ + 1) % bucket_count);
    for (std::size_t step = 0; step <= words; ++step) {
        auto const word = (start / 64 + step) % words;
        auto bits = occupied_[word];
        if (step == 0) bits &= ~std::uint64_t{0} << (start % 64);
        if (step == words) bits &= ~(~std::uint64_t{0} << (start % 64));
        if (bits != 0) return ring_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))].earliest;
    }
    return far_.empty() ? Time::infinity() : far_.front().when;
}

template <class Order>
template <class Visit>
void EventQueue<Order>::for_each(Visit const& visit) const {
    for (auto at = cursor_; at < keys_.size(); ++at) visit(sorted_events_[keys_[at].position]);
    for (auto const& event : added_) visit(event);
    for (auto const& bucket : ring_)
        for (auto const& event : bucket.events) visit(event);
    for (auto const& event : far_) visit(event);
}

}  // namespace orrery

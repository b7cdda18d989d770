// SPDX-License-Identifier: Apache-2.0
// An LP made of two functions, for tests of one fact.
#pragma once

#include "core/lp.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace orrery::test {

class SimpleLp final : public LogicalProcess {
  public:
    using Start = std::function<void(Outbox&)>;
    using Handle = std::function<void(Event const&, Outbox&)>;

    explicit SimpleLp(
        Start start_with, Handle handle_with = [](Event const&, Outbox&) {})
        : start_(std::move(start_with)), handle_(std::move(handle_with)) {}
    void start(Outbox& out) override { start_(out); }
    void handle(Event const& event, Outbox& out) override {
        chain_.add(static_cast<std::uint64_t>(event.when.ps()));
        handled.push_back(event);
        handle_(event, out);
    }
    DigestChain digest() const override { return chain_; }
    void state(StateStream& stream) override { stream(handled, chain_); }

    std::vector<Event> handled;

  private:
    Start start_;
    Handle handle_;
    DigestChain chain_;
};

inline void nothing(Outbox&) {}

}  // namespace orrery::test

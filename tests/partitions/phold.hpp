// SPDX-License-Identifier: Apache-2.0
// PHOLD on a coarse clock: many events at one instant, so that every tie-break matters. Shared by the engine's tests.
#pragma once

#include "core/lp.hpp"
#include "core/random.hpp"
#include "core/window_loop.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace orrery::test {

inline constexpr std::uint32_t lp_count = 40;
inline constexpr Time lookahead = Time::from_ps(7'000);
inline constexpr Time tick = Time::from_ps(1'000);
inline constexpr Time horizon = Time::from_ps(700'000);

// State depends on the order of events: x -> mix(x + event), and what is sent depends on x.
class PholdLp final : public LogicalProcess {
  public:
    explicit PholdLp(LpId id) : id_(id), draws_(1, RandomStream::test, id.value()) {}

    void start(Outbox& out) override {
        for (std::uint64_t i = 0; i < 3; ++i) out.schedule(tick * static_cast<std::int64_t>(i), 0, {i});
        out.send(LpId((id_.value() + 1) % lp_count), lookahead, 1, {id_.value()});
    }
    void handle(Event const& event, Outbox& out) override {
        state_ = DigestChain::mix(state_ + event.body[0] * 3 + event.source.value() * 5 + event.kind);
        for (auto const word : {static_cast<std::uint64_t>(event.when.ps()), std::uint64_t{event.source.value()},
                                std::uint64_t{event.sequence}, event.body[0], state_})
            chain_.add(word);
        ++handled_;
        if (event.when >= horizon || event.kind == 2) return;
        auto const target = LpId(draws_.below(lp_count));
        auto const later = tick * static_cast<std::int64_t>(draws_.below(4));
        // Rarely far ahead: over the ring of the queue, after a gap of empty windows.
        auto const far = draws_.below(64) == 0 ? horizon * 20 : Time{};
        auto const kind = static_cast<std::uint16_t>(state_ & 1);
        if (target == id_)
            out.schedule(event.when + later, kind, {state_});
        else
            out.send(target, event.when + lookahead + later + far, kind, {state_});
        if (state_ % 5 == 0) out.schedule(event.when, 2, {state_});  // at once, sorted behind what waits
    }
    DigestChain digest() const override { return chain_; }
    void state(StateStream& stream) override { stream(draws_, state_, handled_, chain_); }
    std::int64_t handled() const { return handled_; }

  private:
    LpId id_;
    RandomSequence draws_;
    std::uint64_t state_ = 1;
    std::int64_t handled_ = 0;
    DigestChain chain_;
};

// The LPs that one process owns, and what came of them.
struct OwnedPhold {
    OwnedPhold(std::span<std::uint32_t const> owner, std::uint32_t process) {
        for (std::uint32_t lp = 0; lp < owner.size(); ++lp) {
            if (owner[lp] != process) continue;
            lps.push_back(std::make_unique<PholdLp>(LpId(lp)));
            local.push_back({LpId(lp), lps.back().get()});
        }
    }
    Digest digest() const {
        Digest sum;
        for (std::size_t i = 0; i < lps.size(); ++i) sum.add(local[i].id.value(), lps[i]->digest());
        return sum;
    }

    std::vector<std::unique_ptr<PholdLp>> lps;
    std::vector<LocalLp> local;
};

}  // namespace orrery::test

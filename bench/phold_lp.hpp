// SPDX-License-Identifier: Apache-2.0
// An LP of PHOLD (Fujimoto 1990), as in ROSS' phold model: lookahead 0.1 of the mean increment.
#pragma once

#include "core/lp.hpp"
#include "core/random.hpp"

#include <cmath>
#include <cstdint>

namespace orrery::bench {

struct Phold {
    static constexpr std::uint32_t lp_count = 8'192;
    static constexpr Time lookahead = Time::from_ps(100'000);
    static constexpr double mean_increment_ps = 900'000;

    int population = 1;       // events of each LP
    double remote_share = 1;  // of events that go to a uniformly drawn LP; the rest stay where they are
};

class PholdLp final : public LogicalProcess {
  public:
    PholdLp(LpId id, Phold const& phold) : draws_(7, RandomStream::test, id.value()), id_(id), phold_(&phold) {}

    void start(Outbox& out) override {
        for (int i = 0; i < phold_->population; ++i) out.schedule(Phold::lookahead + increment(), 0, {});
    }
    void handle(Event const& event, Outbox& out) override {
        chain_.add(static_cast<std::uint64_t>(event.when.ps()) ^ event.source.value());
        bool const stays = phold_->remote_share < 1 && draws_.unit() >= phold_->remote_share;
        LpId const target = stays ? id_ : LpId(draws_.below(Phold::lp_count));
        Time const when = event.when + Phold::lookahead + increment();
        if (target == id_)
            out.schedule(when, 0, {});
        else
            out.send(target, when, 0, {});
    }
    DigestChain digest() const override { return chain_; }
    void state(StateStream& stream) override { stream(draws_, chain_); }

  private:
    Time increment() {
        return Time::from_ps(static_cast<std::int64_t>(-Phold::mean_increment_ps * std::log1p(-draws_.unit())));
    }
    RandomSequence draws_;
    DigestChain chain_;
    LpId id_;
    Phold const* phold_;
};

}  // namespace orrery::bench

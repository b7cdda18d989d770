// SPDX-License-Identifier: Apache-2.0
// For tests of programs: one rank against domains that answer after a fixed time, run to the end.
#pragma once

#include "core/window_loop.hpp"
#include "workloads/programs/moe_rank.hpp"

#include <memory>
#include <vector>

namespace orrery::testing {

using namespace literals;

struct Operations final : TimelineSink {
    void add(OperationRow const& row) override { rows.push_back(row); }
    void add(CollectiveRow const&) override {}
    void add(ExpertLoadRow const& row) override { loads.push_back(row); }
    void add(LinkBinRow const&) override {}
    void add(PacketBinRow const&) override {}
    void add(PairRow const&) override {}

    std::vector<OperationRow> rows;
    std::vector<ExpertLoadRow> loads;
};

// Ends every exchange a fixed time after its post, and notes what was posted.
class FakeDomain final : public LogicalProcess {
  public:
    struct Posted {
        Time when, started;
        ExchangeKey key;
    };
    struct Answer {
        Time dispatch, combine;  // from the post to the end; infinity: never
        Time latest_peer;        // how long after the rank's own start the last peer started
        std::uint32_t messages = 0, active = 0;
    };
    explicit FakeDomain(Answer answer) : answer_(answer) {}

    void start(Outbox&) override {}
    void handle(Event const& event, Outbox& out) override {
        auto const key = ExchangeKey::unpack(event.body[0]);
        auto const started = Time::from_ps(static_cast<std::int64_t>(event.body[1]));
        posted.push_back({event.when, started, key});
        auto const after = key.kind == OpKind::dispatch ? answer_.dispatch : answer_.combine;
        if (after == Time::infinity()) return;
        out.send(event.source, event.when + after, exchange_done,
                 {event.body[0], static_cast<std::uint64_t>((started + answer_.latest_peer).ps()),
                  static_cast<std::uint64_t>(answer_.messages) << 32 | answer_.active, 0, 0});
    }
    DigestChain digest() const override { return {}; }
    void state(StateStream& stream) override { stream(posted); }

    std::vector<Posted> posted;

  private:
    Answer answer_;
};

// One rank, LP 0, whose exchanges go to every domain listed.
class OneRank {
  public:
    OneRank(StepPlan const& plan, std::vector<FakeDomain::Answer> const& answers) {
        std::vector<LocalLp> local;
        for (std::uint32_t d = 0; d < answers.size(); ++d) {
            ids_.push_back(LpId{d + 1});
            domains.push_back(std::make_unique<FakeDomain>(answers[d]));
        }
        rank = std::make_unique<MoeRank>(RankId{17}, 2, plan, ids_, static_cast<std::uint32_t>(ids_.size()), sink);
        local.push_back({LpId{0}, rank.get()});
        for (std::uint32_t d = 0; d < answers.size(); ++d) local.push_back({ids_[d], domains[d].get()});
        std::vector<std::uint32_t> const owner(local.size(), 0);
        LocalExchange alone;
        WindowLoop(WindowOptions{.lookahead = 1_us}, local, owner, alone).run();
    }

    OperationRow const& row(OpKind kind, std::uint32_t microbatch = 0, std::uint32_t layer = 0) const {
        for (auto const& r : sink.rows)
            if (r.kind == kind && r.microbatch == microbatch && r.layer == layer) return r;
        ORRERY_ENSURE(false, "no {} of layer {}, micro-batch {}", name_of(kind), layer, microbatch);
    }

    Operations sink;
    std::vector<std::unique_ptr<FakeDomain>> domains;
    std::unique_ptr<MoeRank> rank;

  private:
    std::vector<LpId> ids_;
};

inline StepPlan::Costs costs() {
    return {.gate = 10_us,
            .shared_expert = 40_us,
            .dense_ffn = 70_us,
            .dispatch_launch = 5_us,
            .combine_launch = 3_us,
            .experts = [](std::uint32_t messages, std::uint32_t active) { return 1_us * messages + 10_us * active; }};
}

}  // namespace orrery::testing

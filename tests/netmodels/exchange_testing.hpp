// SPDX-License-Identifier: Apache-2.0
// For tests of exchanges: traffic written by hand, ranks that do nothing but post, and what came of it.
#pragma once

#include "core/window_loop.hpp"
#include "netmodels/analytic/analytic_engine.hpp"
#include "netmodels/exchange/exchange_domain.hpp"
#include "netmodels/exchange/exchange_site.hpp"
#include "netmodels/flow/flow_engine.hpp"
#include "tests/collected_rows.hpp"
#include "tests/netmodels/topology_testing.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace orrery::testing {

using Matrix = std::vector<std::vector<std::uint32_t>>;  // [source][target] messages

// One group whose every exchange has the same messages.
class HandTraffic final : public ExchangeTraffic {
  public:
    HandTraffic(ExchangePlan plan, Matrix matrix, std::uint32_t first)
        : plan_(plan), matrix_(std::move(matrix)), first_(first) {}

    std::uint32_t members(std::uint32_t) const override { return static_cast<std::uint32_t>(matrix_.size()); }
    RankId first_rank(std::uint32_t) const override { return RankId{first_}; }
    ExchangePlan const& plan(OpKind) const override { return plan_; }
    void open(ExchangeKey, std::uint32_t) override { ++opened; }
    void close(ExchangeKey, std::uint32_t) override { ++closed; }
    void state(std::uint32_t, StateStream&) override {}
    void sent_by(ExchangeKey, std::uint32_t source, std::vector<Share>& out) const override {
        out.clear();
        for (std::uint32_t peer = 0; peer < matrix_.size(); ++peer)
            if (matrix_[source][peer] > 0) out.push_back({peer, matrix_[source][peer]});
    }
    void received_by(ExchangeKey, std::uint32_t target, std::vector<Share>& out) const override {
        out.clear();
        for (std::uint32_t peer = 0; peer < matrix_.size(); ++peer)
            if (matrix_[peer][target] > 0) out.push_back({peer, matrix_[peer][target]});
    }
    std::uint32_t messages(ExchangeKey, std::uint32_t source, std::uint32_t target) const override {
        return matrix_[source][target];
    }
    Received received(ExchangeKey, std::uint32_t target) const override {
        std::uint32_t sum = 0;
        for (auto const& row : matrix_) sum += row[target];
        return {sum, sum > 0 ? 1U : 0U};
    }

    int opened = 0, closed = 0;

  private:
    ExchangePlan plan_;
    Matrix matrix_;
    std::uint32_t first_;
};

using Rows = CollectedRows;

// Posts one dispatch at its start, to all that carry a pair of it.
class Poster final : public LogicalProcess {
  public:
    Poster(std::vector<LpId> carriers, Time start, Time launch)
        : carriers_(std::move(carriers)), start_(start), launch_(launch) {}

    void start(Outbox& out) override {
        if (start_ < Time::infinity()) out.schedule(start_, 1, {});
    }
    void handle(Event const& event, Outbox& out) override {
        if (event.kind == exchange_done) {
            done = event.when;
            ++parts_done;
            last_peer_start = Time::from_ps(static_cast<std::int64_t>(event.body[1]));
            messages = static_cast<std::uint32_t>(event.body[2] >> 32);
            return;
        }
        ExchangeKey const key{0, 3, 0, OpKind::dispatch};
        for (auto const carrier : carriers_)
            out.send(carrier, start_ + launch_, exchange_post,
                     {key.pack(), static_cast<std::uint64_t>(start_.ps()), 0, 0, 0});
    }
    DigestChain digest() const override { return {}; }
    void state(StateStream& stream) override { stream(done, last_peer_start, parts_done, messages); }

    Time done;
    Time last_peer_start;
    std::size_t parts_done = 0;
    std::uint32_t messages = 0;

  private:
    std::vector<LpId> carriers_;
    Time start_, launch_;
};

enum class Network { flow, delayed, analytic };

// One exchange of one group that starts at rank `first` of the fabric, run to its end on construction.
class OneExchange {
  public:
    struct Setup {
        scenario::FabricSpec fabric;
        ExchangePlan plan;
        Matrix matrix;
        std::vector<Time> starts = {};  // empty: all at zero; infinity: never posts
        std::uint32_t first = 0;
        Network network = Network::flow;
        std::int64_t error_ppm = 0;
        Time bin = 10_us;
    };

    explicit OneExchange(Setup setup)
        : fabric_(make_fabric(setup.fabric, 1)), map_(*fabric_), traffic(setup.plan, setup.matrix, setup.first) {
        auto const members = static_cast<std::uint32_t>(setup.matrix.size());
        layouts_.emplace_back(*fabric_, RankId{setup.first}, members);
        std::vector<DomainId> ids;
        for (auto const& part : layouts_.front().parts()) ids.push_back(part.domain);
        auto const lp_of = [&](DomainId domain) {
            auto const at = std::find(ids.begin(), ids.end(), domain) - ids.begin();
            return LpId{members + static_cast<std::uint32_t>(at)};
        };
        bool const delayed = setup.network == Network::delayed;
        if (delayed) sites_.emplace(*fabric_, layouts_, std::vector<RankId>{RankId{setup.first}});
        std::vector<LocalLp> local;
        for (std::uint32_t m = 0; m < members; ++m) {
            std::vector<LpId> mine;
            for (auto const domain : layouts_.front().domains_of(m)) {
                if (!delayed)
                    mine.push_back(lp_of(domain));
                else
                    for (auto const site : sites_->concerned(0, domain)) mine.push_back(LpId{members + site.value()});
            }
            posters.push_back(
                std::make_unique<Poster>(mine, setup.starts.empty() ? Time{} : setup.starts[m], setup.plan.launch));
            local.push_back({LpId{m}, posters.back().get()});
        }
        auto const lookahead = std::min({setup.plan.launch, setup.plan.finish, delayed ? sites_->notice() : 1_ms});
        for (std::uint32_t s = 0; delayed && s < sites_->count(); ++s) {
            sites.push_back(std::make_unique<ExchangeSite>(
                SiteId{s}, ExchangeSite::Setup{.fabric = fabric_.get(),
                                               .map = &*sites_,
                                               .layouts = &layouts_,
                                               .traffic = &traffic,
                                               .sink = &rows,
                                               .first_rank = RankId{setup.first},
                                               .first_site = LpId{members},
                                               .pairs = CountPairs::yes,
                                               .epoch = setup.error_ppm == 0 ? Time{} : 2_us,
                                               .bin_width = setup.bin,
                                               .lookahead = lookahead,
                                               .finish = setup.plan.finish}));
            local.push_back({LpId{members + s}, sites.back().get()});
        }
        for (auto const id : ids) {
            if (delayed) break;
            std::unique_ptr<TransferEngine> engine;
            if (setup.network == Network::flow)
                engine = std::make_unique<FlowEngine>(*fabric_, map_, id,
                                                      FlowEngine::Settings{.error_ppm = setup.error_ppm}, setup.bin);
            else
                engine = std::make_unique<AnalyticEngine>(*fabric_, map_, id, setup.bin);
            domains.push_back(std::make_unique<DomainLp>(id, *fabric_, map_, std::move(engine), rows));
            exchanges.push_back(
                &domains.back()->add<ExchangeDomain>(layouts_, traffic, RankId{setup.first}, CountPairs::yes));
            local.push_back({lp_of(id), domains.back().get()});
        }
        std::vector<std::uint32_t> const owner(local.size(), 0);
        LocalExchange alone;
        WindowLoop loop({.lookahead = lookahead}, local, owner, alone);
        auto const outcome = loop.run();
        last = outcome.last;
        events = outcome.events;
        auto const end = Time::from_ps((last.ps() / setup.bin.ps() + 1) * setup.bin.ps());
        for (auto const& site : sites) {
            site->traffic().emit_until(end, rows);
            site->emit_pairs(rows);
            flows += site->counters().flows;
            injected += site->counters().injected_bytes;
            delivered += site->counters().delivered_bytes;
        }
        for (auto const* exchange : exchanges) exchange->emit_pairs(rows);
        for (auto const& domain : domains) {
            domain->engine().traffic().emit_until(end, rows);
            flows += domain->counters().flows;
            injected += domain->counters().injected_bytes;
            delivered += domain->counters().delivered_bytes;
        }
    }

    Time done(std::uint32_t member) const { return posters[member]->done; }
    Fabric const& fabric() const { return *fabric_; }
    GroupLayout const& layout() const { return layouts_.front(); }
    // Wire bytes that every bundle carried, by BundleId.
    std::vector<std::int64_t> bundle_bytes() const {
        std::vector<std::int64_t> bytes(fabric_->bundles().size(), 0);
        for (auto const& domain : domains) {
            auto const bundles = map_.bundles(domain->domain());
            for (std::size_t b = 0; b < bundles.size(); ++b) bytes[bundles[b].index()] = domain->bundle_bytes()[b];
        }
        auto payload = bytes;
        for (auto const& site : sites) site->add_bundle_bytes(bytes, payload);
        return bytes;
    }

  private:
    std::unique_ptr<Fabric> fabric_;
    DomainMap map_;
    std::vector<GroupLayout> layouts_;
    std::optional<SiteMap> sites_;

  public:
    SiteMap const& site_map() const { return *sites_; }

    HandTraffic traffic;
    Rows rows;
    std::vector<std::unique_ptr<Poster>> posters;
    std::vector<std::unique_ptr<DomainLp>> domains;
    std::vector<ExchangeDomain*> exchanges;            // of the domains
    std::vector<std::unique_ptr<ExchangeSite>> sites;  // with Network::delayed, instead of domains
    std::int64_t events = 0;
    std::int64_t flows = 0, injected = 0, delivered = 0;
    Time last;
};

// 50,000 B on the wire of a 400 Gb/s port: one microsecond per message.
inline ExchangePlan push_plan() {
    return {.style = ExchangeStyle::push,
            .loop = ExchangeLoop::overlapped,
            .shares = ExchangeShares::by_bytes,
            .message_bytes = 35'000,
            .wire_bytes = 50'000,
            .launch = 10_us,
            .per_message = {},
            .per_peer = {},
            .finish = 8_us,
            .cores = 1};
}

inline Matrix nothing(std::size_t members) {
    return Matrix(members, std::vector<std::uint32_t>(members, 0));
}

inline Matrix everyone(std::size_t members, std::uint32_t messages) {
    return Matrix(members, std::vector<std::uint32_t>(members, messages));
}

inline std::int64_t off_diagonal(Matrix const& matrix) {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < matrix.size(); ++s)
        for (std::size_t t = 0; t < matrix.size(); ++t) sum += s == t ? 0 : matrix[s][t];
    return sum;
}

// Rates are integers, so a fluid time may be late by a few picoseconds, never early.
inline void expect_time(Time got, Time expected, Time slack = 5_ps) {
    EXPECT_GE(got, expected) << to_string(got) << " instead of " << to_string(expected);
    EXPECT_LE(got, expected + slack) << to_string(got) << " instead of " << to_string(expected);
}

}  // namespace orrery::testing

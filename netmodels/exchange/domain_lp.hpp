// SPDX-License-Identifier: Apache-2.0
// The logical process of one domain of the network: an engine that moves bytes, and the protocols that use it.
#pragma once

#include "core/lp.hpp"
#include "netmodels/exchange/transfer_engine.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace orrery {

struct TransferCounters {
    std::int64_t flows = 0;
    std::int64_t injected_bytes = 0, delivered_bytes = 0;  // payload

    void add(TransferCounters const& other) {
        flows += other.flows;
        injected_bytes += other.injected_bytes;
        delivered_bytes += other.delivered_bytes;
    }
};

// What makes transfers: exchanges, messages, collectives.
class DomainProtocol {
  public:
    virtual ~DomainProtocol() = default;
    // Of the events it handles; no other protocol of the domain has them.
    virtual std::vector<std::uint16_t> event_kinds() const = 0;
    virtual void handle(Event const& event, Outbox& out) = 0;
    // One of its own transfers, under the cookie it gave it.
    virtual void transfer_done(TransferDone const& done, Outbox& out) = 0;
    virtual void state(StateStream& stream) = 0;
};

// Everything that begins at one instant is offered to the engine before it shares anew: the tick of an instant is its
// last event.
class DomainLp final : public LogicalProcess {
  public:
    // Fabric, map and sink outlive the domain.
    DomainLp(DomainId domain, Fabric const& fabric, DomainMap const& map, std::unique_ptr<TransferEngine> engine,
             TimelineSink& sink);

    // Builds a Protocol(domain, args...) that lives in this domain.
    template <class Protocol, class... Args>
    Protocol& add(Args&&... args) {
        auto owned = std::make_unique<Protocol>(*this, std::forward<Args>(args)...);
        auto& protocol = *owned;
        adopt(std::move(owned));
        return protocol;
    }

    void start(Outbox&) override {}
    void handle(Event const& event, Outbox& out) override;
    DigestChain digest() const override;
    void state(StateStream& stream) override;

    DomainId domain() const { return domain_; }
    Fabric const& fabric() const { return *fabric_; }
    DomainMap const& map() const { return *map_; }
    TransferEngine& engine() { return *engine_; }
    TransferEngine const& engine() const { return *engine_; }
    TimelineSink& sink() { return *sink_; }
    TransferCounters const& counters() const { return counters_; }
    // Wire bytes over each bundle of the domain so far, in the order of DomainMap::bundles().
    std::vector<std::int64_t> const& bundle_bytes() const { return bundle_bytes_; }
    // The payload among them.
    std::vector<std::int64_t> const& bundle_payload() const { return bundle_payload_; }

    // The time of the event that is being handled.
    Time now() const { return now_; }

    // For protocols. Cookies have 62 bits; the caller sees to transfers of no byte.
    struct Transfer {
        std::span<BundleId const> hops;
        Rate cap = Rate::unlimited();
        std::uint32_t engine = TransferEngine::no_engine;
        std::uint32_t weight = 1;
        std::int64_t wire_bytes = 0, payload_bytes = 0;
    };
    void begin(DomainProtocol const& protocol, Transfer const& transfer, std::uint64_t cookie, Time now);
    void delivered(std::int64_t payload_bytes) { counters_.delivered_bytes += payload_bytes; }
    void count_bundle(std::uint32_t local, std::int64_t wire_bytes, std::int64_t payload_bytes) {
        bundle_bytes_[local] += wire_bytes;
        bundle_payload_[local] += payload_bytes;
    }
    // After begin(): once per instant is enough.
    void want_tick(Time when, Outbox& out);
    std::uint32_t next_collective_row() { return collective_rows_++; }
    // What the domain did, in order.
    void note(std::uint64_t word) { digest_.add(word); }
    void note(Time time) { digest_.add(static_cast<std::uint64_t>(time.ps())); }

    // The protocol's own transfers among TransferEngine::starved().
    std::vector<std::uint64_t> starved(DomainProtocol const& protocol) const;

  private:
    static constexpr std::uint16_t tick_event = 48;  // the last kind of an instant
    static constexpr int cookie_bits = 62;
    static constexpr std::uint64_t cookie_mask = (std::uint64_t{1} << cookie_bits) - 1;

    void adopt(std::unique_ptr<DomainProtocol> protocol);
    std::uint64_t number_of(DomainProtocol const& protocol) const;
    void tick(Time now, Outbox& out);

    DomainId domain_;
    Fabric const* fabric_;
    DomainMap const* map_;
    std::unique_ptr<TransferEngine> engine_;
    TimelineSink* sink_;
    std::vector<std::unique_ptr<DomainProtocol>> protocols_;
    std::array<DomainProtocol*, tick_event> by_kind_{};

    std::vector<std::int64_t> bundle_bytes_, bundle_payload_;
    TransferCounters counters_;
    DigestChain digest_;
    Time now_;
    Time tick_at_ = Time::infinity();
    std::uint32_t collective_rows_ = 0;
    std::vector<TransferDone> done_;  // scratch
};

}  // namespace orrery

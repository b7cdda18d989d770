// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/domain_lp.hpp"

namespace orrery {

DomainLp::DomainLp(DomainId domain, Fabric const& fabric, DomainMap const& map, std::unique_ptr<TransferEngine> engine,
                   TimelineSink& sink)
    : domain_(domain),
      fabric_(&fabric),
      map_(&map),
      engine_(std::move(engine)),
      sink_(&sink),
      bundle_bytes_(map.bundles(domain).size(), 0),
      bundle_payload_(bundle_bytes_) {}

void DomainLp::adopt(std::unique_ptr<DomainProtocol> protocol) {
    ORRERY_ENSURE(protocols_.size() < (std::size_t{1} << (64 - cookie_bits)), "a domain of {} protocols",
                  protocols_.size() + 1);
    for (auto const kind : protocol->event_kinds()) {
        ORRERY_ENSURE(kind < tick_event && by_kind_[kind] == nullptr, "two protocols handle events of kind {}", kind);
        by_kind_[kind] = protocol.get();
    }
    protocols_.push_back(std::move(protocol));
}

void DomainLp::handle(Event const& event, Outbox& out) {
    now_ = event.when;
    if (event.kind == tick_event) return tick(event.when, out);
    ORRERY_ENSURE(event.kind < tick_event && by_kind_[event.kind], "domain {} got an event of kind {}", domain_.value(),
                  event.kind);
    by_kind_[event.kind]->handle(event, out);
}

std::uint64_t DomainLp::number_of(DomainProtocol const& protocol) const {
    std::uint64_t number = 0;
    while (protocols_[number].get() != &protocol) ++number;
    return number;
}

void DomainLp::begin(DomainProtocol const& protocol, Transfer const& transfer, std::uint64_t cookie, Time now) {
    ++counters_.flows;
    counters_.injected_bytes += transfer.payload_bytes;
    engine_->start(now, transfer.hops, transfer.engine, transfer.cap, transfer.weight, transfer.wire_bytes,
                   number_of(protocol) << cookie_bits | cookie);
}

void DomainLp::want_tick(Time when, Outbox& out) {
    if (when >= tick_at_) return;
    tick_at_ = when;
    out.schedule(when, tick_event, {});
}

void DomainLp::tick(Time now, Outbox& out) {
    if (now == tick_at_) tick_at_ = Time::infinity();  // an older, later tick finds nothing to do
    done_.clear();
    engine_->advance(now, done_);
    for (auto const& done : done_)
        protocols_[done.cookie >> cookie_bits]->transfer_done({done.cookie & cookie_mask, done.when}, out);
    engine_->settle(now);
    if (auto const next = engine_->next(); next < Time::infinity()) want_tick(next, out);
}

DigestChain DomainLp::digest() const {
    auto chain = digest_;
    for (auto const bytes : bundle_bytes_) chain.add(static_cast<std::uint64_t>(bytes));
    chain.add(static_cast<std::uint64_t>(counters_.injected_bytes));
    chain.add(static_cast<std::uint64_t>(counters_.delivered_bytes));
    return chain;
}

void DomainLp::state(StateStream& stream) {
    for (auto& protocol : protocols_) protocol->state(stream);
    stream(bundle_bytes_, bundle_payload_, counters_, digest_, tick_at_, collective_rows_);
    engine_->state(stream);
}

std::vector<std::uint64_t> DomainLp::starved(DomainProtocol const& protocol) const {
    auto const number = number_of(protocol);
    std::vector<std::uint64_t> cookies;
    for (auto const cookie : engine_->starved())
        if (cookie >> cookie_bits == number) cookies.push_back(cookie & cookie_mask);
    return cookies;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// What moves the bytes of one domain: the seam between the exchange protocol and a network model.
#pragma once

#include "core/ids.hpp"
#include "core/records.hpp"
#include "core/state.hpp"
#include "core/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

class DomainMap;
class Fabric;

struct TransferDone {
    std::uint64_t cookie;
    Time when;
};

// Bytes per link and time bin, closed bin by bin as simulated time passes.
class LinkTraffic {
  public:
    virtual ~LinkTraffic() = default;
    // Emits the rows of every bin that ends at or before `now`, in order (bin, bundle).
    virtual void emit_until(Time now, TimelineSink& sink) = 0;
};

class TransferEngine {
  public:
    static constexpr std::uint32_t no_engine = 0;

    virtual ~TransferEngine() = default;
    // A rate shared by several transfers beside their links, e.g. the cores that feed one operator of one rank.
    virtual std::uint32_t open_engine(Rate rate) = 0;
    virtual void close_engine(std::uint32_t engine) = 0;
    // Offers a transfer from `now` on. `hops` are bundles of this domain; `cap` bounds this transfer alone.
    virtual void start(Time now, std::span<BundleId const> hops, std::uint32_t engine, Rate cap, std::uint32_t weight,
                       std::int64_t wire_bytes, std::uint64_t cookie) = 0;
    // Ends the instant `now`: every start and finish of it has been told.
    virtual void settle(Time now) = 0;
    // The next instant at which advance() has something to do; infinity when idle.
    virtual Time next() const = 0;
    // Goes to `now` <= next(), appends what is done by then in order (when, cookie). `when` is the end of the sending,
    // so the last byte arrives at `when` plus the latency of the route. An engine that models a stream of bytes tells
    // at `when` itself. The packet engine, made with PacketSettings::prompt, tells once the arrival is certain and
    // before it happens: a transfer that depends on this one may start at the exact time of the arrival. Without
    // `prompt`, and with go-back-N or pulls also with it, it tells up to one window after the arrival.
    virtual void advance(Time now, std::vector<TransferDone>& done) = 0;
    virtual LinkTraffic& traffic() = 0;
    // Transfers that can never finish because a link on their way is down.
    virtual std::vector<std::uint64_t> starved() const = 0;

    // How it went, for the report.
    struct Figures {
        std::int64_t shares = 0;            // times that rates were shared anew
        std::int64_t longest_wait_ppm = 0;  // of a start or finish for that, against the shortest transfer concerned
        std::int64_t most_transfers = 0;    // at one moment
        std::int64_t memory_bytes = 0;      // held for them
    };
    virtual Figures figures() const { return {}; }
    // Saves, or restores into an engine made alike, everything since its construction.
    virtual void state(StateStream& stream) = 0;
};

// Dense local indices for the bundles of each domain, shared by all engines.
class DomainMap {
  public:
    explicit DomainMap(Fabric const& fabric);
    std::span<BundleId const> bundles(DomainId domain) const;
    std::uint32_t local(BundleId bundle) const { return local_[bundle.index()]; }

  private:
    std::vector<BundleId> bundles_;     // grouped by domain, ascending
    std::vector<std::uint32_t> first_;  // per domain, into bundles_
    std::vector<std::uint32_t> local_;  // per bundle
};

}  // namespace orrery

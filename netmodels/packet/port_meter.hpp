// SPDX-License-Identifier: Apache-2.0
// Bytes per port and time bin, summed to rows per bundle: a packet counts in the bin in which its first bit leaves.
#pragma once

#include "netmodels/exchange/transfer_engine.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace orrery {

// The open bin of one port, kept beside what the port needs for every packet.
struct OpenBin {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();  // ps
    std::int64_t bytes = 0;
};

class PortMeter final : public LinkTraffic {
  public:
    PortMeter(std::span<BundleId const> bundles, Time width) : bundles_(bundles), width_(width.ps()) {}

    // Starts of one port come in ascending order.
    void add(OpenBin& bin, std::uint32_t bundle, std::int64_t start, std::int64_t bytes) {
        if (start >= bin.end) [[unlikely]]
            turn(bin, bundle, start);
        bin.bytes += bytes;
    }
    // Closes an open bin that ends at or before `now`.
    void close(OpenBin& bin, std::uint32_t bundle, std::int64_t now) {
        if (bin.bytes > 0 && bin.end <= now) put(bin, bundle);
    }
    void emit_until(Time now, TimelineSink& sink) override;
    // Of bins that are closed: the open ones are kept with their ports.
    void state(StateStream& stream) { stream(rows_); }
    // Called by emit_until() first: closes what is open in the engine.
    void on_flush(std::function<void(Time)> flush) { flush_ = std::move(flush); }

  private:
    void turn(OpenBin& bin, std::uint32_t bundle, std::int64_t start);
    void put(OpenBin& bin, std::uint32_t bundle);

    std::span<BundleId const> bundles_;
    std::int64_t width_;
    std::vector<LinkBinRow> rows_;
    std::function<void(Time)> flush_;
};

}  // namespace orrery

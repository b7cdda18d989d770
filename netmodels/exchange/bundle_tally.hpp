// SPDX-License-Identifier: Apache-2.0
// Bytes over the bundles that something touches, which are few beside all that a domain has.
#pragma once

#include "core/state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// Open addressing with linear probing: a collective of thousands of messages per link adds to it twice per message, and
// thousands of collectives may be open at once.
class BundleTally {
  public:
    struct Entry {
        std::uint32_t bundle = unused;  // local index in the domain
        std::int64_t wire = 0, payload = 0;
        bool used() const { return bundle != unused; }
    };

    void add(std::uint32_t bundle, std::int64_t wire, std::int64_t payload) {
        auto& entry = place(bundle);
        if (!entry.used()) return insert(bundle, wire, payload);
        entry.wire += wire;
        entry.payload += payload;
    }
    // In no promised order; those that are used() count.
    std::span<Entry const> entries() const { return entries_; }
    void clear() {
        entries_.assign(least_entries, Entry{});
        count_ = 0;
    }
    void state(StateStream& stream) { stream(entries_, count_); }

  private:
    static constexpr std::uint32_t unused = 0xffffffff;
    static constexpr std::size_t least_entries = 16;

    // Where the bundle is, or would be.
    Entry& place(std::uint32_t bundle) {
        auto const mask = entries_.size() - 1;
        auto at = bundle * std::size_t{0x9e3779b97f4a7c15U} >> 20 & mask;
        while (entries_[at].used() && entries_[at].bundle != bundle) at = (at + 1) & mask;
        return entries_[at];
    }
    void insert(std::uint32_t bundle, std::int64_t wire, std::int64_t payload) {
        if (2 * ++count_ > entries_.size()) {
            auto old = std::move(entries_);
            entries_.assign(2 * old.size(), Entry{});
            for (auto const& entry : old)
                if (entry.used()) place(entry.bundle) = entry;
        }
        place(bundle) = {bundle, wire, payload};
    }

    std::vector<Entry> entries_ = std::vector<Entry>(least_entries);  // a power of two, at most half of them used
    std::size_t count_ = 0;
};

}  // namespace orrery

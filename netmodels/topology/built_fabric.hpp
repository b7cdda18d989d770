// SPDX-License-Identifier: Apache-2.0
// What builders of fabrics share: appending nodes, bundles and links in order, refreshing bundles, writing names.
#pragma once

#include "netmodels/topology/fabric.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Sums of rates stop here instead of overflowing; as `offered` it says "never leave this bundle out".
inline constexpr Rate unlimited_rate = Rate::from_bits_per_s(std::numeric_limits<std::int64_t>::max());

constexpr Rate saturating_add(Rate a, Rate b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a.bits_per_s(), b.bits_per_s(), &sum) ? unlimited_rate : Rate::from_bits_per_s(sum);
}
// A saturated sum stays saturated: what is left of "too much to count" is still too much.
Rate saturating_subtract(Rate sum, Rate part);
Rate saturating_times(Rate, std::int64_t n);
// rate * factor and rate / divisor in integers: the real number is taken in parts per billion, then rounded to nearest.
Rate scaled(Rate, double factor);
Rate divided(Rate, double divisor);
double ratio(Rate, Rate);

// Decimal digits that number `count` things from 0: 48 -> 2.
std::uint32_t digits_for(std::uint32_t count);

// Link names are made a million at a time, so this appends without parsing a format.
class NameWriter {
  public:
    NameWriter& text(std::string_view text) {
        name_ += text;
        return *this;
    }
    NameWriter& number(std::uint32_t value, std::uint32_t digits);
    std::string take() { return std::move(name_); }

  private:
    std::string name_;
};

// A fabric whose links stand in the order of their bundles, so that members() is the identity.
class BuiltFabric : public Fabric {
  protected:
    // Refuses more links than ids or memory can hold, then reserves.
    void reserve(std::uint64_t nodes, std::uint64_t links, std::uint64_t bundles);
    NodeId add_node(NodeKind kind, std::uint8_t tier, RankId rank = {});
    DomainId add_domain(std::string name);
    // Links added from now on belong to this bundle.
    BundleId open_bundle(std::uint16_t link_class, DomainId domain);
    LinkId add_link(NodeId from, NodeId to, Rate rate, Time latency);

    std::span<Link const> links_of(Bundle const& bundle) const {
        return links().subspan(bundle.first_member, bundle.member_count);
    }
    // Capacity: the sum of the members (adaptive striping, spraying). Latency: the slowest member that is up.
    void refresh_bundle(Bundle& bundle);
    // Saturating sum of capacities of `count` bundles from `first` on.
    Rate capacity_sum(std::uint32_t first, std::uint32_t count) const;
    // One row per link class that has links; `nominal` is the rate of each class before degradation.
    std::vector<FabricFigures::ClassCount> count_classes(std::span<Rate const> nominal) const;
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Appending to a fabric's tables, and rates in integers.
#include "netmodels/topology/built_fabric.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery {
namespace {

constexpr std::int64_t billion = 1'000'000'000;

Rate clamped(Int128 bits_per_s) {
    Int128 const most = unlimited_rate.bits_per_s();
    return Rate::from_bits_per_s(static_cast<std::int64_t>(std::min(bits_per_s, most)));
}

}  // namespace

Rate saturating_subtract(Rate sum, Rate part) {
    return sum == unlimited_rate ? sum : Rate::from_bits_per_s(sum.bits_per_s() - part.bits_per_s());
}

Rate saturating_times(Rate rate, std::int64_t n) {
    return clamped(static_cast<Int128>(rate.bits_per_s()) * n);
}

Rate scaled(Rate rate, double factor) {
    Int128 const parts = std::llround(factor * billion);
    return clamped((rate.bits_per_s() * parts + billion / 2) / billion);
}

Rate divided(Rate rate, double divisor) {
    Int128 const parts = std::llround(divisor * billion);
    ORRERY_ENSURE(parts > 0, "rate divided by {}", divisor);
    return clamped((static_cast<Int128>(rate.bits_per_s()) * billion + parts / 2) / parts);
}

double ratio(Rate a, Rate b) {
    return static_cast<double>(a.bits_per_s()) / static_cast<double>(b.bits_per_s());
}

std::uint32_t digits_for(std::uint32_t count) {
    std::uint32_t digits = 1;
    for (std::uint32_t last = count > 0 ? count - 1 : 0; last >= 10; last /= 10) ++digits;
    return digits;
}

NameWriter& NameWriter::number(std::uint32_t value, std::uint32_t digits) {
    char text[10];
    auto const end = std::to_chars(text, text + sizeof text, value).ptr;
    auto const length = static_cast<std::uint32_t>(end - text);
    if (length < digits) name_.append(digits - length, '0');
    name_.append(text, length);
    return *this;
}

void BuiltFabric::reserve(std::uint64_t nodes, std::uint64_t links, std::uint64_t bundles) {
    // Ids have 32 bits; a fabric of half of that would fill 70 GB.
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    ORRERY_VALIDATE(nodes < most && links < most,
                    "the fabric has {} nodes and {} links (at most {} of each can be held); use smaller counts", nodes,
                    links, most);
    nodes_.reserve(nodes);
    links_.reserve(links);
    members_.reserve(links);
    bundles_.reserve(bundles);
}

NodeId BuiltFabric::add_node(NodeKind kind, std::uint8_t tier, RankId rank) {
    nodes_.push_back({.kind = kind, .tier = tier, .rank = rank});
    return NodeId{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

DomainId BuiltFabric::add_domain(std::string name) {
    domain_names_.push_back(std::move(name));
    return DomainId{domain_count_++};
}

BundleId BuiltFabric::open_bundle(std::uint16_t link_class, DomainId domain) {
    bundles_.push_back({.first_member = static_cast<std::uint32_t>(links_.size()),
                        .member_count = 0,
                        .capacity = {},
                        .latency = {},
                        .domain = domain,
                        .link_class = link_class,
                        .offered = unlimited_rate});
    return BundleId{static_cast<std::uint32_t>(bundles_.size() - 1)};
}

LinkId BuiltFabric::add_link(NodeId from, NodeId to, Rate rate, Time latency) {
    LinkId const id{static_cast<std::uint32_t>(links_.size())};
    BundleId const bundle{static_cast<std::uint32_t>(bundles_.size() - 1)};
    links_.push_back({.from = from, .to = to, .bundle = bundle, .rate = rate, .latency = latency});
    members_.push_back(id);
    ++bundles_.back().member_count;
    return id;
}

void BuiltFabric::refresh_bundle(Bundle& bundle) {
    bundle.capacity = {};
    bundle.latency = {};
    for (Link const& link : links_of(bundle)) {
        if (link.rate == Rate{}) continue;
        bundle.capacity = saturating_add(bundle.capacity, link.rate);
        bundle.latency = std::max(bundle.latency, link.latency);
    }
}

Rate BuiltFabric::capacity_sum(std::uint32_t first, std::uint32_t count) const {
    Rate sum;
    for (std::uint32_t i = first; i < first + count; ++i) sum = saturating_add(sum, bundles_[i].capacity);
    return sum;
}

std::vector<FabricFigures::ClassCount> BuiltFabric::count_classes(std::span<Rate const> nominal) const {
    std::vector<FabricFigures::ClassCount> result;
    for (std::size_t c = 0; c < link_classes_.size(); ++c)
        result.push_back({.link_class = link_classes_[c].name, .links = 0, .rate = nominal[c]});
    for (Bundle const& bundle : bundles_) result[bundle.link_class].links += bundle.member_count;
    std::erase_if(result, [](auto const& row) { return row.links == 0; });
    return result;
}

}  // namespace orrery

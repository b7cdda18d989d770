// SPDX-License-Identifier: Apache-2.0
// Degrading links by name.
#include "netmodels/topology/fabric.hpp"

#include "core/check.hpp"
#include "netmodels/topology/built_fabric.hpp"
#include "netmodels/topology/nearest.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <string_view>

namespace orrery {
namespace {

// A shell pattern with its literal beginning, which refuses most names for the price of a comparison.
struct Pattern {
    std::string text;
    std::string_view literal;

    explicit Pattern(std::string const& pattern) : text(pattern) {
        literal = std::string_view(text).substr(0, text.find_first_of("*?[\\"));
    }
    Pattern(Pattern const&) = delete;  // `literal` points into `text`
    Pattern& operator=(Pattern const&) = delete;

    bool matches(std::string const& name) const {
        return name.starts_with(literal) && fnmatch(text.c_str(), name.c_str(), 0) == 0;
    }
};

void apply(Degradation const& degradation, Link& link) {
    if (degradation.down) link.rate = Rate{};
    // A link that is up stays up, whatever the factor.
    if (link.rate > Rate{} && degradation.rate_factor < 1)
        link.rate = std::max(scaled(link.rate, degradation.rate_factor), Rate::from_bits_per_s(1));
    link.latency += degradation.extra_latency;
}

[[noreturn]] void refuse(Fabric const& fabric, Degradation const& degradation) {
    NearestNames nearest(degradation.pattern);
    for (std::uint32_t i = 0; i < fabric.links().size(); ++i) nearest.offer(fabric.link_name(LinkId{i}));
    throw InputError(fmt::format("{}{}links '{}' matches nothing (shell pattern over {} link names of {}); nearest: {}",
                                 degradation.where, degradation.where.empty() ? "" : ": ", degradation.pattern,
                                 fabric.links().size(), fabric.kind(), nearest.text()));
}

}  // namespace

std::vector<std::string> const& Fabric::notes() const {
    static std::vector<std::string> const none;
    return none;
}

std::vector<Rate> Fabric::capacities(std::span<BundleId const> of) const {
    std::vector<Rate> rates;
    rates.reserve(of.size());
    for (auto const bundle : of) rates.push_back(bundles_[bundle.index()].capacity);
    return rates;
}

DegradedLinks Fabric::degrade(std::span<Degradation const> degradations) {
    DegradedLinks met;
    met.links.resize(degradations.size(), 0);
    met.bundles.resize(degradations.size());
    if (degradations.empty()) return met;

    std::vector<std::unique_ptr<Pattern const>> patterns;
    for (Degradation const& d : degradations) {
        ORRERY_VALIDATE(d.rate_factor > 0 && d.rate_factor <= 1,
                        "{}: rate_factor is {} (must be above 0 and at most 1); use down: true for a dead link",
                        d.where, d.rate_factor);
        ORRERY_VALIDATE(d.extra_latency >= Time{}, "{}: extra_latency is {} (must not be negative)", d.where,
                        to_string(d.extra_latency));
        patterns.push_back(std::make_unique<Pattern const>(d.pattern));
    }
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        std::string const name = link_name(LinkId{i});
        for (std::size_t k = 0; k < patterns.size(); ++k) {
            if (!patterns[k]->matches(name)) continue;
            apply(degradations[k], links_[i]);
            ++met.links[k];
            met.bundles[k].push_back(links_[i].bundle);
        }
    }
    for (std::size_t k = 0; k < degradations.size(); ++k) {
        if (met.links[k] == 0) refuse(*this, degradations[k]);
        auto& bundles = met.bundles[k];
        std::sort(bundles.begin(), bundles.end());
        bundles.erase(std::unique(bundles.begin(), bundles.end()), bundles.end());
    }
    refresh();
    return met;
}

}  // namespace orrery

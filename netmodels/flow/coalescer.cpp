// SPDX-License-Identifier: Apache-2.0
#include "netmodels/flow/coalescer.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::int64_t million = 1'000'000;
constexpr std::int64_t part = 3;  // of the error that one wait may take

}  // namespace

void Coalescer::started(std::span<std::uint32_t const> links, std::uint32_t weight, std::int64_t bytes) {
    if (exact()) return;
    started_.push_back({static_cast<std::uint32_t>(links.size()), weight, bytes});
    links_.insert(links_.end(), links.begin(), links.end());
}

void Coalescer::finished(Time when) {
    first_finish_ = std::min(first_finish_, when);
}

Time Coalescer::shortest(Time now) const {
    return shortest_ == Time::infinity() ? shortest_ : std::max(shortest_, now - last_start_);
}

Time Coalescer::due(Time now) const {
    if (exact()) return now;
    auto const least = shortest(now);
    if (!started_.empty() || first_finish_ == Time::infinity() || least == Time::infinity()) return now;
    auto const wait = static_cast<Int128>(least.ps()) * error_ppm_ / (part * million);
    return std::max(now, first_finish_ + Time::from_ps(static_cast<std::int64_t>(wait)));
}

void Coalescer::settled(Time now, MaxMinKernel const& kernel) {
    if (exact()) return;
    auto const least = shortest(now);
    auto const wait = first_finish_ == Time::infinity() ? Time{} : now - first_finish_;
    if (wait > Time{} && least < Time::infinity() && least > Time{})
        longest_wait_ppm_ = std::max(longest_wait_ppm_, wait.ps() * million / least.ps());
    auto link = links_.begin();
    for (auto const& flow : started_) {
        auto level = MaxMinKernel::unbounded;
        for (std::uint32_t k = 0; k < flow.link_count; ++k) level = std::min(level, kernel.level(*link++));
        if (level == 0) continue;  // it will never finish
        auto const service = static_cast<UInt128>(flow.bytes) * MaxMinKernel::service_per_byte / flow.weight;
        auto const lasts = service / static_cast<std::uint64_t>(level);
        if (lasts < static_cast<UInt128>(shortest_.ps())) shortest_ = Time::from_ps(static_cast<std::int64_t>(lasts));
    }
    if (!started_.empty()) last_start_ = now;
    if (kernel.active_flows() == 0) shortest_ = Time::infinity();
    started_.clear();
    links_.clear();
    first_finish_ = Time::infinity();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "apps/export/trace_slice.hpp"

#include "core/check.hpp"
#include "io/scenario/quantity.hpp"

#include <charconv>

namespace orrery {
namespace {

std::uint32_t rank_of(std::string_view text, std::string const& whole) {
    std::uint32_t rank = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), rank);
    ORRERY_VALIDATE(read.ec == std::errc{} && read.ptr == text.data() + text.size(),
                    "--ranks {} (not a rank or two with a dash) write 17 or 0-15", whole);
    return rank;
}

Time time_of(char const* option, std::string const& text) {
    auto const parsed = quantity::parse_integer(quantity::Dimension::time, text, "1ms");
    ORRERY_VALIDATE(static_cast<bool>(parsed), "{} {} ({}) {}", option, text, parsed.refusal.reason,
                    parsed.refusal.fix);
    return Time::from_ps(*parsed.value);
}

}  // namespace

TraceSlice TraceSlice::parse(std::string const& ranks, std::string const& from, std::string const& until) {
    TraceSlice slice;
    if (!ranks.empty()) {
        std::string_view const text = ranks;
        auto const dash = text.find('-');
        slice.first_rank = rank_of(text.substr(0, dash), ranks);
        slice.last_rank = dash == std::string_view::npos ? slice.first_rank : rank_of(text.substr(dash + 1), ranks);
        ORRERY_VALIDATE(slice.first_rank <= slice.last_rank, "--ranks {} (ends before it begins) write {}-{}", ranks,
                        slice.last_rank, slice.first_rank);
    }
    if (!from.empty()) slice.from = time_of("--from", from);
    if (!until.empty()) slice.until = time_of("--until", until);
    ORRERY_VALIDATE(slice.from < slice.until, "--until {} (not after --from {}) give a later time", until, from);
    return slice;
}

}  // namespace orrery

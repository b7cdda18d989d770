// SPDX-License-Identifier: Apache-2.0
#include "apps/run/deadline.hpp"

#include "core/check.hpp"
#include "io/scenario/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace orrery {
namespace {

// "90" -> 90; nothing for anything but digits.
std::optional<double> whole(std::string_view text) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) return {};
    return static_cast<double>(value);
}

// "[D-][HH:]MM:SS", as Slurm reads and writes it.
std::optional<double> clock_time(std::string_view text) {
    double days = 0;
    if (auto const dash = text.find('-'); dash != std::string_view::npos) {
        auto const value = whole(text.substr(0, dash));
        if (!value) return {};
        days = *value;
        text.remove_prefix(dash + 1);
    }
    double seconds = 0;
    for (int fields = 1;; ++fields) {
        auto const colon = text.find(':');
        auto const value = whole(text.substr(0, colon));
        if (!value || fields > 3 || (colon == std::string_view::npos && fields == 1)) return {};
        seconds = seconds * 60 + *value;
        if (colon == std::string_view::npos) return days * 86'400 + seconds;
        text.remove_prefix(colon + 1);
    }
}

std::string first_line_of(std::string const& command) {
    auto* const pipe = popen(command.c_str(), "r");
    if (!pipe) return {};
    std::array<char, 128> line{};
    std::string text = std::fgets(line.data(), line.size(), pipe) ? line.data() : "";
    pclose(pipe);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
}

}  // namespace

double parse_walltime(std::string const& option, std::string const& text) {
    auto seconds = clock_time(text);
    if (!seconds) {
        auto const parsed = quantity::parse_integer(quantity::Dimension::time, text, "600s");
        ORRERY_VALIDATE(static_cast<bool>(parsed), "{} {} ({}) {}, or HH:MM:SS", option, text, parsed.refusal.reason,
                        parsed.refusal.fix);
        seconds = static_cast<double>(*parsed.value) * 1e-12;
    }
    ORRERY_VALIDATE(*seconds > 0, "{} {} (must be positive) use e.g. 600s or 01:00:00", option, text);
    return *seconds;
}

std::optional<double> slurm_seconds_left() {
    auto const now = static_cast<double>(std::time(nullptr));
    if (auto const* told = std::getenv("SLURM_JOB_END_TIME"))
        if (auto const end = whole(told)) return *end - now;
    auto const* const job = std::getenv("SLURM_JOB_ID");
    if (!job || !whole(job)) return {};
    // %e: when it ends, as seconds since 1970; "Unknown" where there is no limit.
    auto const end = whole(
        first_line_of(fmt::format("SLURM_TIME_FORMAT=%s squeue --noheader --jobs={} --format=%e 2>/dev/null", job)));
    return end ? std::optional(*end - now) : std::nullopt;
}

void Deadline::window_ended(double now) {
    longest_window_ = std::max(longest_window_, now - began_);
}

// A machine that stood still for a moment looks like one long window: it may not eat more than an eighth of the time.
double Deadline::margin(double writing_s, double slowness) const {
    return slowness * (ending_s_ + 1.5 * writing_s) + std::min(2 * longest_window_, end_s_.value_or(0) / 8);
}

}  // namespace orrery

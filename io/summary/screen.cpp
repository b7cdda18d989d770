// SPDX-License-Identifier: Apache-2.0
#include "io/summary/screen.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace orrery {
namespace {

std::string seconds_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    return to_string(Time::from_ps(static_cast<std::int64_t>(std::llround(std::min(seconds, 9e6) * 1e12))));
}

std::string percent_text(double share) {
    return fmt::format("{:.1f} %", share * 100);
}

// 1234567 -> "1,234,567"
std::string grouped(std::int64_t value) {
    auto text = fmt::format("{}", value);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

class Screen {
  public:
    void line(std::string const& text = {}) {
        auto plain = text;
        std::ranges::replace_if(plain, [](char c) { return c < ' ' || c > '~'; }, '?');
        out_ += shorten(plain, screen_columns) + "\n";
    }
    // Up to `limit` entries of at most two lines each, then how many there are beyond them.
    void list(char const* title, std::vector<std::string> const& entries, std::size_t limit) {
        if (entries.empty()) return;
        line(title);
        auto const shown = std::min(entries.size(), limit);
        for (std::size_t i = 0; i < shown; ++i) wrapped(entries[i]);
        if (shown < entries.size()) line(fmt::format("  and {} more in summary.json", entries.size() - shown));
    }
    std::string take() { return std::move(out_); }

  private:
    void wrapped(std::string const& text) {
        constexpr std::size_t room = screen_columns - 2;
        if (text.size() <= room) return line("  " + text);
        auto const space = text.rfind(' ', room);
        auto const cut = space == std::string::npos || space < room / 2 ? room : space;
        line("  " + text.substr(0, cut));
        line("    " + shorten(text.substr(text.find_first_not_of(' ', cut)), room - 2));
    }

    std::string out_;
};

void add_title(Screen& screen, Summary const& s, ScreenExtras const& extras) {
    screen.line(extras.scenario);
    screen.line(fmt::format("{} on {}", shorten(s.model, 30), shorten(s.fabric, 46)));
    screen.line("network: " + shorten(s.network_model, screen_columns - 9));
    if (!s.complete) screen.line("INCOMPLETE: the workload did not finish; figures cover what did");
    screen.line(fmt::format("Step time {}   (simulated {}, {} events, {} flows)",
                            s.complete ? seconds_text(s.step_time_s) : "unfinished", seconds_text(s.simulated_time_s),
                            grouped(s.events), grouped(s.flows)));
    screen.line();
}

bool is_communication(Summary::Operation const& o) {
    return o.name == "dispatch" || o.name == "combine";
}

void add_operations(Screen& screen, Summary const& s) {
    screen.line(fmt::format("{:<13}{:>9}{:>9}{:>9}{:>9}{:>5}{:>9}  {}", "operation", "mean", "p50", "p99", "max",
                            "exp.", "bound", "bound by"));
    for (auto const& o : s.operations)
        screen.line(fmt::format("{:<13}{:>9}{:>9}{:>9}{:>9}{:>5}{:>9}  {}", shorten(o.name, 13), seconds_text(o.mean_s),
                                seconds_text(o.p50_s), seconds_text(o.p99_s), seconds_text(o.max_s),
                                is_communication(o) ? fmt::format("{:.0f}%", o.exposed_share * 100) : "-",
                                o.bound_s > 0 ? seconds_text(o.bound_s) : "-",
                                o.bound_by.empty() ? "-" : shorten(o.bound_by, 15)));
    for (auto const& o : s.operations) {
        if (!is_communication(o)) continue;
        screen.line(fmt::format("{}: waiting for peers {} ({}), transfer {}", o.name, seconds_text(o.wait_mean_s),
                                percent_text(o.mean_s > 0 ? o.wait_mean_s / o.mean_s : 0),
                                seconds_text(std::max(0.0, o.mean_s - o.wait_mean_s))));
        if (!o.bound_link.empty()) screen.line("  bound most often by " + shorten(o.bound_link, screen_columns - 22));
    }
    screen.line();
}

void add_links(Screen& screen, Summary const& s) {
    bool const packets = s.packets.injected > 0;
    auto const row = [&](std::string const& name, std::string const& bytes, std::string const& use,
                         std::string const& queue) {
        screen.line(packets ? fmt::format("{:<38}{:>14}{:>14}{:>14}", name, bytes, use, queue)
                            : fmt::format("{:<52}{:>14}{:>14}", name, bytes, use));
    };
    row("hottest links", "bytes", "utilisation", "max queue");
    for (std::size_t i = 0; i < std::min<std::size_t>(3, s.links.size()); ++i) {
        auto const& link = s.links[i];
        row("  " + shorten(link.name, packets ? 36 : 50), bytes_text(link.bytes), percent_text(link.utilisation),
            bytes_text(link.max_queue_bytes));
    }
    if (s.links.empty()) screen.line("  none carried traffic");
    if (!packets) screen.line();
}

// In the place of the blank line, so that the screen stays one screen.
void add_packets(Screen& screen, Summary const& s) {
    auto const& p = s.packets;
    if (p.injected == 0) return;
    screen.line(fmt::format("Flows: mean {}, p50 {}, p99 {}; slowdown mean {:.2f}, p99 {:.2f}",
                            seconds_text(p.flow_time_s.mean), seconds_text(p.flow_time_s.p50),
                            seconds_text(p.flow_time_s.p99), p.slowdown.mean, p.slowdown.p99));
    screen.line(
        fmt::format("Packets: {} sent, {} dropped, {} sent again, {} marked, {}", grouped(p.injected),
                    grouped(p.dropped), grouped(p.sent_again), grouped(p.marks),
                    p.credit_stalls > 0 ? grouped(p.credit_stalls) + " credit stalls" : grouped(p.pauses) + " pauses"));
    if (!p.notes.empty()) screen.line("  " + p.notes.front());
}

void add_balance(Screen& screen, Summary const& s) {
    screen.line(
        fmt::format("Imbalance (max/mean): ranks {:.3f}, experts {:.3f}", s.imbalance.ranks, s.imbalance.experts));
    auto const& c = s.conservation;
    bool const holds = c.injected_bytes == c.delivered_bytes + c.dropped_bytes + c.in_flight_bytes;
    auto const arrived =
        fmt::format("Bytes: {} injected {} {} delivered", c.injected_bytes, holds ? "=" : "!=", c.delivered_bytes);
    auto const rest = fmt::format(" + {} dropped + {} in flight", c.dropped_bytes, c.in_flight_bytes);
    if (arrived.size() + rest.size() <= screen_columns) {  // digits are never shortened
        screen.line(arrived + rest);
    } else {
        screen.line(arrived);
        screen.line("      " + rest);
    }
}

// Of several processes: who was busy, who waited, and what to do about it.
void add_processes(Screen& screen, Summary const& s) {
    auto const& p = s.parallel;
    if (p.processes.size() < 2) return;
    auto const [least, most] = std::ranges::minmax(p.processes, {}, &Summary::Process::busy_s);
    double active = 0, writing = 0;
    for (auto const& process : p.processes) {
        writing += process.writing_s;
        active += process.busy_s + process.waiting_s + process.writing_s;
    }
    screen.line(fmt::format("Processes: busy {:.3g} to {:.3g} s, waiting {}, writing {}", least.busy_s, most.busy_s,
                            percent_text(p.sync_share), percent_text(active > 0 ? writing / active : 0)));
    auto const lookahead =
        fmt::format("Lookahead {}, {:.3g} events per window", p.lookahead_reason, p.events_per_window);
    screen.list(lookahead.c_str(), {p.advice}, 1);
}

}  // namespace

std::string shorten(std::string const& text, std::size_t width) {
    if (text.size() <= width) return text;
    if (width <= 2) return std::string(width, '.');
    auto const kept = width - 2, head = (kept + 1) / 2;
    return text.substr(0, head) + ".." + text.substr(text.size() - (kept - head));
}

std::string render_screen(Summary const& s, ScreenExtras const& extras) {
    Screen screen;
    add_title(screen, s, extras);
    add_operations(screen, s);
    add_links(screen, s);
    add_packets(screen, s);
    add_balance(screen, s);
    screen.list("Ignored or without effect:", s.ignored, s.packets.injected > 0 ? 1 : 2);
    screen.list("Warnings:", s.warnings, 1);
    add_processes(screen, s);
    screen.line(fmt::format("Wall {:.2f} s, CPU {:.2f} s, memory {}, {} process{}", s.wall_s, s.cpu_s,
                            bytes_text(s.peak_rss_bytes), s.processes, s.processes == 1 ? "" : "es"));
    screen.line("Timeline: " + shorten(extras.output, screen_columns - 10));
    screen.line("digest: " + s.digest);
    return screen.take();
}

}  // namespace orrery

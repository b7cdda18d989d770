// SPDX-License-Identifier: Apache-2.0
// A flow-size distribution (WebSearch, Hadoop, AliStorage ...) as traffic: every rank starts flows to others at random,
// as traffic_gen.py of HPCC does.
#include "core/random.hpp"
#include "workloads/imports/flow_list.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// Points of a cumulative distribution, straight between them.
class SizeDistribution {
  public:
    struct Point {
        double bytes = 0, share = 0;  // share of flows that are at most so long, 0 to 1
    };
    explicit SizeDistribution(std::vector<Point> points) : points_(std::move(points)) {}

    double mean() const {
        double mean = 0;
        for (std::size_t i = 1; i < points_.size(); ++i)
            mean += (points_[i].bytes + points_[i - 1].bytes) / 2 * (points_[i].share - points_[i - 1].share);
        return mean;
    }
    std::int64_t draw(double share) const {
        auto const above = std::upper_bound(points_.begin() + 1, points_.end() - 1, share,
                                            [](double value, Point const& point) { return value < point.share; });
        auto const below = above - 1;
        auto const part = (share - below->share) / (above->share - below->share);
        return std::max<std::int64_t>(1, std::llround(std::floor(below->bytes + part * (above->bytes - below->bytes))));
    }

  private:
    std::vector<Point> points_;
};

// The first point is at 0 %, the last at 100 % (or 1).
SizeDistribution read_distribution(TextFile& file, Findings& findings) {
    std::vector<SizeDistribution::Point> points;
    while (file.next_words() && !findings.full()) {
        auto const& words = file.words();
        auto const bytes = decimal_number(words.front());
        auto const share = decimal_number(words.back());
        if (words.size() != 2 || !bytes || !share || *bytes < 0 || *bytes > 1e15 || *share < 0 || *share > 100) {
            findings.refuse(file.place(), fmt::format("'{}' is no point of a distribution", file.line()),
                            "(bytes and the percentage of flows that are at most so long) correct it");
            continue;
        }
        if (!points.empty() && (*bytes < points.back().bytes || *share < points.back().share)) {
            findings.refuse(file.place(), fmt::format("the point {} {} goes back", *bytes, *share),
                            "(both columns of a cumulative distribution grow) correct it");
            continue;
        }
        if (!points.empty() && *share == points.back().share) continue;  // a vertical step adds no share
        points.push_back({*bytes, *share});
    }
    if (!points.empty() && points.front().share != 0)
        findings.mend(file.whole(), fmt::format("the distribution begins at {} %", points.front().share),
                      "(which sizes the rest has is not said) begin with 0 %",
                      fmt::format("all of these flows are {} bytes long", points.front().bytes));
    auto const last = points.empty() ? 0 : points.back().share;
    if (last != 100 && last != 1)
        findings.refuse(file.whole(), fmt::format("the distribution ends at {}", last),
                        "(100, or 1 where shares are no percentages) correct the last line");
    findings.raise_if_any();
    for (auto& point : points) point.share /= last;
    if (points.front().share != 0) points.insert(points.begin(), {points.front().bytes, 0});
    return SizeDistribution(std::move(points));
}

// Uniform in (0, 1], with 53 bits.
double unit(RandomSequence& random) {
    auto const high = std::uint64_t{random.next_u32()} << 21;
    return (static_cast<double>(high | random.next_u32() >> 11) + 1) * 0x1p-53;
}

std::unique_ptr<Schedule> read(std::filesystem::path const& path, ImportOptions const& options, Findings& findings) {
    TextFile file(path);
    auto const sizes = read_distribution(file, findings);
    auto const ranks = options.ranks > 0 ? options.ranks : options.available;
    ORRERY_VALIDATE(ranks >= 2,
                    "{}: {} ranks (a flow-size distribution does not say between how many, and a flow needs two) give "
                    "the number of ranks",
                    file.name(), ranks);
    ORRERY_VALIDATE(options.load > 0 && options.load <= 1 && options.host_rate > Rate{} && options.duration > Time{},
                    "{}: load {} of {} for {} (a share of up to 1, a rate and a time are needed) correct them",
                    file.name(), options.load, to_string(options.host_rate), to_string(options.duration));
    auto const gap_s = sizes.mean() / (options.load * options.host_rate.bytes_per_s());
    constexpr double most_flows = 2e7;
    auto const expected = ranks * options.duration.seconds() / gap_s;
    ORRERY_VALIDATE(expected <= most_flows, "{}: some {:.3g} flows (at most {:.3g}) use a shorter duration",
                    file.name(), expected, most_flows);

    ScheduleDraft draft(ranks, file.name(), FilePlace::Unit::file, findings);
    std::uint32_t number = 0;
    std::int64_t bytes = 0;
    for (std::uint32_t source = 0; source < ranks; ++source) {
        RandomSequence random(options.seed, RandomStream::traffic, source);
        for (auto start = Time{};;) {
            start += Time::from_ps(std::llround(-std::log(unit(random)) * gap_s * 1e12));
            if (start >= options.duration) break;
            auto const other = random.below(ranks - 1);
            ListedFlow const flow{source, other + (other >= source ? 1 : 0), sizes.draw(unit(random)), start};
            add_flow(draft, flow, number++);
            bytes += flow.bytes;
        }
    }
    findings.contains("flows", number);
    findings.assumes(
        fmt::format("every rank starts flows to others, drawn evenly, at exponential gaps of {} on "
                    "average: load {} of {} over the mean size of {}",
                    to_string(Time::from_seconds(gap_s)), options.load, to_string(options.host_rate),
                    bytes_text(std::llround(sizes.mean()))));
    findings.assumes("sizes lie on straight lines between the points of the distribution");
    findings.assumes(fmt::format(
        "seed {} draws {} in {}: a load of {:.4f}", options.seed, bytes_text(bytes), to_string(options.duration),
        static_cast<double>(bytes) / (ranks * options.host_rate.bytes_per_s() * options.duration.seconds())));
    return draft.finish();
}

// Two columns of numbers that begin at 0 % (or close) and whose second grows.
bool is_distribution(std::filesystem::path const&, std::string_view head) {
    LineWords lines(head);
    double last = -1;
    for (int line = 0; line < 3; ++line) {
        auto const words = lines.next();
        if (words.size() != 2) return false;
        auto const share = decimal_number(words[1]);
        if (!decimal_number(words[0]) || !share || *share < last || *share > 100) return false;
        last = *share;
    }
    return true;
}

ImporterRegistration const registered{{.name = "flow-sizes",
                                       .title = "flow-size distribution (bytes and cumulative percentage)",
                                       .recognises = is_distribution,
                                       .read = read}};

}  // namespace
}  // namespace orrery

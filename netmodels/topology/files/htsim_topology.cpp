// SPDX-License-Identifier: Apache-2.0
// htsim .topo files: a fat-tree by tiers. Tier 0 is the ToRs; the speed and latency of a tier are those of its links
// down.
#include "core/check.hpp"
#include "netmodels/topology/files/topology_files.hpp"

#include <map>
#include <optional>

namespace orrery {
namespace {

struct Tier {
    std::uint32_t radix_down = 0, radix_up = 0, bundle = 1;
    Rate speed;
    Time latency, pipeline;
    TopologyText::Line line;
};

class HtsimReader {
  public:
    HtsimReader(TopologyText const& file, Strictness strictness) : file_(file), strictness_(strictness) {}

    StoredGraph read() {
        for (auto const& line : file_.lines()) take(line);
        if (tiers_.size() != tier_count_ || tier_count_ < 2 || tier_count_ > 3)
            file_.refuse(file_.lines().front(),
                         fmt::format("the file says {} tiers and describes {} (2 or 3 of each are "
                                     "expected); correct it",
                                     tier_count_, tiers_.size()));
        for (std::size_t t = 0; t < tiers_.size(); ++t) {
            auto const& tier = tiers_[t];
            if (tier.radix_down == 0 || tier.speed == Rate{} || (t + 1 < tiers_.size() && tier.radix_up == 0))
                file_.refuse(tier.line,
                             fmt::format("tier {} lacks Radix_Down, Radix_Up or Downlink_speed_Gbps; add them", t));
        }
        build();
        return std::move(graph_);
    }

  private:
    void take(TopologyText::Line const& line) {
        if (line.words.size() < 2) file_.refuse(line, fmt::format("'{}' has no value; give one", line.words[0]));
        std::string key;
        for (char const c : line.words[0]) key += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        auto const word = line.words[1];
        auto const whole = [&] { return file_.count(line, word, line.words[0]); };
        auto const nanoseconds = [&] { return file_.time(line, std::string(word) + "ns"); };
        if (key == "nodes") return void(nodes_ = whole());
        if (key == "tiers") return void(tier_count_ = whole());
        if (key == "podsize") return void(podsize_ = whole());
        if (key == "tier") {
            if (whole() != tiers_.size())
                file_.refuse(line, fmt::format("tier {} follows {} others; number them from 0", word, tiers_.size()));
            tiers_.emplace_back().line = line;
            return;
        }
        if (tiers_.empty())
            file_.refuse(line, fmt::format("'{}' stands before the first tier; move it", line.words[0]));
        auto& tier = tiers_.back();
        if (key == "downlink_speed_gbps")
            tier.speed = file_.rate(line, std::string(word) + "Gbps");
        else if (key == "radix_down")
            tier.radix_down = whole();
        else if (key == "radix_up")
            tier.radix_up = whole();
        else if (key == "downlink_latency_ns")
            tier.latency = nanoseconds();
        else if (key == "switch_latency_ns")
            tier.pipeline = nanoseconds();
        else if (key == "bundle")
            tier.bundle = whole();
        else if (key == "oversubscribed" || key == "queue_up" || key == "queue_down")
            ++unused_[std::string(line.words[0])];
        else if (strictness_ == Strictness::lenient)
            ++unused_[std::string(line.words[0])];
        else
            file_.refuse(line,
                         fmt::format("'{}' is unknown; remove it, or read the file with lenient: true", line.words[0]));
    }

    // `whole` parts of `all`, which must divide it.
    std::uint32_t parts(TopologyText::Line const& line, std::uint32_t all, std::uint32_t whole,
                        char const* what) const {
        if (whole == 0 || all == 0 || all % whole != 0)
            file_.refuse(line, fmt::format("{} do not divide into {} ({} over {}); correct one of them", what, whole,
                                           all, whole));
        return all / whole;
    }

    void build() {
        auto const& tor = tiers_[0];
        auto const& middle = tiers_[1];
        auto const& first = file_.lines().front();
        auto const pods = tier_count_ == 2 ? 1 : parts(first, nodes_, podsize_, "Nodes over Podsize");
        auto const per_pod = tier_count_ == 2 ? nodes_ : podsize_;
        auto const tors = parts(tor.line, per_pod, tor.radix_down, "hosts of a pod over Radix_Down");
        auto const above = parts(middle.line, tor.radix_up, middle.bundle, "Radix_Up over Bundle");
        if (tors * middle.bundle != middle.radix_down)
            file_.refuse(middle.line,
                         fmt::format("Radix_Down is {} ({} switches below with {} links each need {}); correct it",
                                     middle.radix_down, tors, middle.bundle, tors * middle.bundle));
        graph_.ranks = nodes_;
        graph_.ranks_per_block = tor.radix_down;
        for (std::uint32_t h = 0; h < nodes_; ++h) graph_.names.push_back(fmt::format("h{}", h));
        auto const first_tor = nodes_, first_above = first_tor + pods * tors;
        for (std::uint32_t s = 0; s < pods * tors; ++s) graph_.names.push_back(fmt::format("tor{}", s));
        for (std::uint32_t s = 0; s < pods * above; ++s) graph_.names.push_back(fmt::format("agg{}", s));
        for (std::uint32_t h = 0; h < nodes_; ++h) add(h, first_tor + h / tor.radix_down, 1, tor, Time{});
        for (std::uint32_t s = 0; s < pods * tors; ++s)
            for (std::uint32_t a = 0; a < above; ++a)
                add(first_tor + s, first_above + s / tors * above + a, middle.bundle, middle, tor.pipeline);
        if (tier_count_ == 3) add_cores(pods, above, first_above);
        for (auto const& [key, times] : unused_)
            graph_.notes.push_back(fmt::format("{} ({} times): not used", key, times));
    }

    void add_cores(std::uint32_t pods, std::uint32_t above, std::uint32_t first_above) {
        auto const& middle = tiers_[1];
        auto const& top = tiers_[2];
        auto const per_switch = parts(top.line, middle.radix_up, top.bundle, "Radix_Up over Bundle");
        if (pods * top.bundle != top.radix_down)
            file_.refuse(top.line, fmt::format("Radix_Down is {} ({} pods with {} links each need {}); correct it",
                                               top.radix_down, pods, top.bundle, pods * top.bundle));
        auto const first_core = static_cast<std::uint32_t>(graph_.names.size());
        for (std::uint32_t c = 0; c < above * per_switch; ++c) graph_.names.push_back(fmt::format("core{}", c));
        for (std::uint32_t a = 0; a < pods * above; ++a)
            for (std::uint32_t c = 0; c < per_switch; ++c)
                add(first_above + a, first_core + a % above * per_switch + c, top.bundle, top, middle.pipeline);
    }

    // Up through the pipeline of the tier whose link it is, down through that of what is below.
    void add(std::uint32_t low, std::uint32_t high, std::uint32_t lanes, Tier const& tier, Time pipeline_below) {
        graph_.lines.push_back({.a = low,
                                .b = high,
                                .lanes = lanes,
                                .rate = tier.speed,
                                .up = tier.latency + tier.pipeline,
                                .down = tier.latency + pipeline_below,
                                .plane = 0,
                                .where = file_.place(tier.line)});
    }

    TopologyText const& file_;
    Strictness strictness_;
    StoredGraph graph_;
    std::uint32_t nodes_ = 0, tier_count_ = 3, podsize_ = 0;
    std::vector<Tier> tiers_;
    std::map<std::string, std::int64_t> unused_;
};

}  // namespace

StoredGraph read_htsim_topology(TopologyText const& file, Strictness strictness) {
    return HtsimReader(file, strictness).read();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Compiling a domain of a fabric: local numbers, groups of parallel links, tiles.
#include "netmodels/packet/packet_fabric.hpp"

#include "core/check.hpp"

#include <map>
#include <numeric>

namespace orrery {
namespace {

constexpr std::uint32_t none = ~0U;

}  // namespace

PacketFabric::PacketFabric(Fabric const& fabric, DomainMap const& map, DomainId domain, PacketSettings const& settings)
    : fabric_(&fabric), domain_(domain), mtu_(settings.mtu), note_(settings.ack_bytes), long_routes_(fabric, map) {
    ORRERY_VALIDATE(mtu_ >= 64 && mtu_ <= 32'767, "network.packet.mtu is {} bytes (must be 64 to 32767)", mtu_);
    ORRERY_VALIDATE(note_ >= 1 && note_ <= 32'767, "network.packet.ack_bytes is {} (must be 1 to 32767)", note_);
    ORRERY_VALIDATE(fabric.rank_count() < most_packet_ids && map.bundles(domain).size() + most_hops < most_packet_ids,
                    "domain {} has too many bundles or ranks for the packet model (at most {}); use the flow model",
                    fabric.domain_name(domain), most_packet_ids - 1);
    number(map);
    fill_ports(settings);
    follow(settings.timetable);
}

// Nodes in the fabric's order; ports by bundle and, within it, by the node they start at.
void PacketFabric::number(DomainMap const& map) {
    auto const links = fabric_->links();
    std::vector<std::uint32_t> local(fabric_->nodes().size(), none);
    auto const bundles = map.bundles(domain_);
    for (auto const b : bundles) {
        auto const& bundle = fabric_->bundles()[b.index()];
        for (std::uint32_t m = 0; m < bundle.member_count; ++m) {
            auto const& link = links[fabric_->members()[bundle.first_member + m].index()];
            local[link.from.index()] = local[link.to.index()] = 0;
        }
    }
    node_of_rank_.assign(fabric_->rank_count(), none);
    for (std::uint32_t n = 0; n < local.size(); ++n) {
        if (local[n] == none) continue;
        local[n] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(NodeId{n});
        auto const& node = fabric_->nodes()[n];
        endpoint_.push_back(node.kind == NodeKind::switch_chip ? 0 : 1);
        if (node.rank.valid()) node_of_rank_[node.rank.index()] = local[n];
    }
    spans_.resize(bundles.size());
    std::map<std::uint32_t, std::vector<LinkId>> by_node;
    for (std::uint32_t b = 0; b < bundles.size(); ++b) {
        auto const& bundle = fabric_->bundles()[bundles[b].index()];
        by_node.clear();
        for (std::uint32_t m = 0; m < bundle.member_count; ++m) {
            auto const id = fabric_->members()[bundle.first_member + m];
            by_node[local[links[id.index()].from.index()]].push_back(id);
        }
        auto& span = spans_[b];
        span.first_node = by_node.begin()->first;
        span.nodes = by_node.rbegin()->first - span.first_node + 1;
        span.first_group = static_cast<std::uint32_t>(groups_.size());
        groups_.resize(groups_.size() + span.nodes);
        for (auto const& [node, ids] : by_node) {
            auto& group = groups_[span.first_group + (node - span.first_node)];
            group.first = static_cast<std::uint32_t>(links_.size());
            // The links that are down stand behind those that are up, outside of the group.
            for (int const down : {0, 1})
                for (auto const id : ids) {
                    if ((links[id.index()].rate == Rate{}) != (down == 1)) continue;
                    links_.push_back(id);
                    from_.push_back(node);
                    ports_.push_back({.to = local[links[id.index()].to.index()], .bundle = b});
                    if (down == 0) ++group.count;
                }
        }
    }
    ORRERY_VALIDATE(links_.size() < most_packet_ids,
                    "domain {} has {} links (the packet model holds {}); use the flow model",
                    fabric_->domain_name(domain_), links_.size(), most_packet_ids - 1);
}

void PacketFabric::fill_ports(PacketSettings const& settings) {
    auto const links = fabric_->links();
    hold_.assign(nodes_.size(), 0);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        auto const& node = fabric_->nodes()[nodes_[n].index()];
        if (endpoint_[n]) continue;
        auto const mode = node.tier <= 1 ? settings.leaf_switching : settings.spine_switching;
        hold_[n] = mode == Switching::store_and_forward ? 1 : 0;
    }
    hold_mask_.resize(ports_.size());
    std::int64_t first_rate = 0;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        auto const& link = links[links_[p].index()];
        auto& port = ports_[p];
        port.latency = link.latency.ps();
        port.rate = link.rate.bits_per_s();
        hold_mask_[p] = holds(port.to) ? -1 : 0;
        if (port.rate == 0) {
            any_down_ = true;
            continue;
        }
        ORRERY_VALIDATE(ceil_time(std::max(mtu_, note_), port.rate) < std::int64_t{1} << 32,
                        "link {} carries {} b/s (too slow for packets of {} bytes); use a smaller MTU",
                        fabric_->link_name(links_[p]), port.rate, mtu_);
        port.mtu_time = static_cast<std::uint32_t>(ceil_time(mtu_, port.rate));
        port.note_time = static_cast<std::uint32_t>(ceil_time(note_, port.rate));
        if (first_rate == 0) first_rate = port.rate;
        mixed_rates_ = mixed_rates_ || port.rate != first_rate;
        prompt_lookahead_ = std::min(prompt_lookahead_, link.latency);
        if (!is_endpoint(port.to) || is_endpoint(from_[p])) lookahead_ = std::min(lookahead_, link.latency);
    }
    // Offsets within a window are 32 bits of picoseconds.
    lookahead_ = std::min(lookahead_, Time::from_ps(4'000'000'000));
    if (prompt_lookahead_ <= Time{} || prompt_lookahead_ > lookahead_) prompt_lookahead_ = lookahead_;
    ORRERY_VALIDATE(lookahead_ > Time{}, "a link into a switch has no latency (the packet model needs at least 1 ps)");
}

void PacketFabric::follow(std::span<LinkChange const> timetable) {
    if (timetable.empty()) return;
    std::vector<std::uint32_t> port_of(fabric_->links().size(), none);
    for (std::uint32_t p = 0; p < links_.size(); ++p) port_of[links_[p].index()] = p;
    for (auto const& change : timetable)
        if (auto const port = port_of[change.link.index()]; port != none)
            changes_.push_back({port, change.at.ps(), change.rate.bits_per_s()});
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](Change const& a, Change const& b) { return a.port < b.port; });
}

std::span<PacketFabric::Change const> PacketFabric::changes_of(std::uint32_t port) const {
    auto const [first, last] = std::equal_range(changes_.begin(), changes_.end(), Change{.port = port},
                                                [](Change const& a, Change const& b) { return a.port < b.port; });
    return {first, last};
}

std::int64_t PacketFabric::rate_at(std::uint32_t port, std::int64_t now) const {
    auto rate = ports_[port].rate;
    for (auto const& change : changes_of(port))
        if (change.at <= now) rate = change.rate;
    return rate;
}

std::int64_t PacketFabric::up_from(std::uint32_t port, std::int64_t now) const {
    if (rate_at(port, now) > 0) return now;
    for (auto const& change : changes_of(port))
        if (change.at > now && change.rate > 0) return change.at;
    return never;
}

// Between the rank that a packet is from and the one that its last bundle ends at.
std::span<std::uint32_t const> PacketFabric::long_route(std::uint32_t origin, std::uint32_t last) const {
    return long_routes_.hops(RankId{origin}, fabric_->nodes()[nodes_[end_of(last)].index()].rank);
}

PacketFabric::LongStep PacketFabric::long_step(std::uint32_t origin, std::uint32_t last, std::uint32_t hop2) const {
    auto const hops = long_route(origin, last);
    auto const left = hop2 - long_from() - 1;
    return {.bundle = hops[hops.size() - left],
            .left = left,
            .hop2 = left < carried_hops ? hops[hops.size() - 2] : long_from() + left};
}

bool PacketFabric::leads_on_slowly(std::uint32_t port, Heading const& heading, std::uint32_t left, std::int64_t now,
                                   When when) const {
    auto const up = up_from(port, now);
    if (up == never || (when == When::now && up != now)) return false;
    if (left == 0) return true;
    auto const next = group(bundle(heading, left), ports_[port].to);
    for (std::uint32_t m = 0; m < next.count; ++m)
        if (leads_on_slowly(next.first + m, heading, left - 1, now, when)) return true;
    return false;
}

Time PacketFabric::zero_load(Route const& route, std::uint32_t bytes) const {
    // Head and tail of the packet at the node behind each hop, over the first live member.
    std::int64_t head = 0, tail = 0;
    for (auto const hop : route.bundles()) {
        auto const& bundle = fabric_->bundles()[hop.index()];
        Link const* link = nullptr;
        for (std::uint32_t m = 0; m < bundle.member_count && (link == nullptr || link->rate == Rate{}); ++m)
            link = &fabric_->links()[fabric_->members()[bundle.first_member + m].index()];
        auto const time = ceil_time(bytes, link->rate.bits_per_s());
        // Cut-through may not run dry: a faster output waits until it can end together with the input.
        auto const start = std::max(head, tail - time);
        head = start + link->latency.ps();
        tail = head + time;
        auto const node = std::lower_bound(nodes_.begin(), nodes_.end(), link->to) - nodes_.begin();
        if (holds(static_cast<std::uint32_t>(node))) head = tail;
    }
    return Time::from_ps(tail);
}

std::vector<std::uint32_t> PacketFabric::tiles() const {
    auto const block_size = std::max(1U, fabric_->ranks_per_block());
    std::vector<std::uint32_t> block(nodes_.size(), none);
    std::uint32_t blocks = 0;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
        auto const rank = fabric_->nodes()[nodes_[n].index()].rank;
        if (!rank.valid()) continue;
        block[n] = rank.value() / block_size;
        blocks = std::max(blocks, block[n] + 1);
    }
    constexpr std::uint32_t several = none - 1;
    std::vector<std::uint32_t> tile(block);
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        auto const ranks = block[from_[p]];
        auto const to = ports_[p].to;
        if (ranks == none || block[to] != none) continue;
        tile[to] = tile[to] == none || tile[to] == ranks ? ranks : several;
    }
    for (auto& t : tile)
        if (t == none || t == several) t = blocks++;
    return tile;
}

std::vector<std::uint32_t> PacketFabric::deal(std::uint32_t processes) const {
    auto const tile = tiles();
    auto const block_size = std::max(1U, fabric_->ranks_per_block());
    auto const blocks = (fabric_->rank_count() + block_size - 1) / block_size;
    std::vector<std::uint32_t> owner(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
        owner[n] = tile[n] < blocks
                       ? static_cast<std::uint32_t>(static_cast<std::uint64_t>(tile[n]) * processes / blocks)
                       : tile[n] % processes;
    return owner;
}

}  // namespace orrery

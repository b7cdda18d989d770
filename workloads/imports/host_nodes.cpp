// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/host_nodes.hpp"

#include "netmodels/topology/files/topology_files.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>

namespace orrery {

bool is_ns3_topology(std::string_view head) {
    auto words = LineWords(head).next();
    if (words.size() == 6 && !whole_number(words.back())) words.pop_back();
    return words.size() >= 3 && words.size() <= 5 &&
           std::all_of(words.begin(), words.end(), [](auto word) { return whole_number(word).has_value(); });
}

std::vector<std::optional<std::uint32_t>> host_ranks(std::filesystem::path const& topology, Strictness strictness) {
    auto text = whole_text(topology);
    ORRERY_VALIDATE(is_ns3_topology(text),
                    "{}: it is no topology of ns-3 (its first line does not count nodes, switches and links) give the "
                    "topology file of the flows",
                    topology.string());
    auto const graph = read_ns3_topology(TopologyText(topology.string(), std::move(text)), strictness);
    std::vector<std::optional<std::uint32_t>> ranks(graph.names.size());
    // Hosts come first and are called h and their number.
    for (std::uint32_t rank = 0; rank < graph.ranks; ++rank)
        ranks.at(static_cast<std::size_t>(whole_number(std::string_view(graph.names[rank]).substr(1)).value())) = rank;
    return ranks;
}

}  // namespace orrery

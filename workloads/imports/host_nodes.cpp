// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/host_nodes.hpp"

#include "workloads/imports/text_file.hpp"

#include <algorithm>

namespace orrery {

// The first line counts nodes and, of them, switches of each kind; the second lists the switches. HPCC: nodes,
// switches, links; PowerTCP: nodes, switches, leaves among them, links; SimAI: nodes, GPUs per server, NVSwitches,
// switches, links, GPU type.
std::vector<std::optional<std::uint32_t>> host_ranks(std::filesystem::path const& topology) {
    TextFile file(topology);
    auto const refuse = [&](std::string_view what) {
        throw InputError(
            fmt::format("{}: {} (the first two lines of an ns-3 topology count the nodes and list the "
                        "switches) give the topology file of the flows",
                        file.place().text(), what));
    };
    if (!file.next_words()) refuse("the file is empty");
    std::vector<std::int64_t> counts;
    for (auto const word : file.words())
        if (auto const number = whole_number(word); number && *number >= 0) counts.push_back(*number);
    bool const simai = counts.size() == 5 && file.words().size() == 6;
    if (!simai && counts.size() != 3 && counts.size() != 4) refuse("the first line is not that of a topology");
    if (counts[0] > 16'777'216) refuse(fmt::format("{} nodes are too many", counts[0]));
    auto const switches = simai ? counts[2] + counts[3] : counts[1];
    std::vector<std::optional<std::uint32_t>> ranks(static_cast<std::size_t>(counts[0]), 0);
    std::int64_t listed = 0;
    if (switches > 0 && file.next_words())
        for (auto const word : file.words()) {
            auto const node = whole_number(word);
            if (!node || *node < 0 || *node >= counts[0]) refuse(fmt::format("'{}' is no node", word));
            ranks[static_cast<std::size_t>(*node)].reset();
            ++listed;
        }
    if (listed != switches) refuse(fmt::format("{} switches are counted and {} listed", switches, listed));
    std::uint32_t next = 0;
    for (auto& rank : ranks)
        if (rank) rank = next++;
    return ranks;
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Keeps the rows of a run in memory.
#pragma once

#include "core/records.hpp"

#include <vector>

namespace orrery {

struct CollectedRows final : TimelineSink {
    void add(OperationRow const& row) override { operations.push_back(row); }
    void add(CollectiveRow const& row) override { collectives.push_back(row); }
    void add(ExpertLoadRow const& row) override { loads.push_back(row); }
    void add(LinkBinRow const& row) override { bins.push_back(row); }
    void add(PairRow const& row) override { pairs.push_back(row); }
    void add(PacketBinRow const& row) override { packet_bins.push_back(row); }

    std::vector<OperationRow> operations;
    std::vector<CollectiveRow> collectives;
    std::vector<ExpertLoadRow> loads;
    std::vector<LinkBinRow> bins;
    std::vector<PairRow> pairs;
    std::vector<PacketBinRow> packet_bins;
};

}  // namespace orrery

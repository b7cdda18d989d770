// SPDX-License-Identifier: Apache-2.0
// The end of rows that nobody reads: as it is, or as the base of what keeps one kind of them.
#pragma once

#include "core/records.hpp"

namespace orrery {

class NoTimeline : public TimelineSink {
  public:
    void add(OperationRow const&) override {}
    void add(CollectiveRow const&) override {}
    void add(ExpertLoadRow const&) override {}
    void add(LinkBinRow const&) override {}
    void add(PacketBinRow const&) override {}
    void add(PairRow const&) override {}
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The parts of a run's page, one file each: what a run recorded, made small enough to be drawn (docs/report.md).
#pragma once

#include "apps/report/link_peaks.hpp"
#include "apps/report/run_file.hpp"

namespace orrery::page {

// How long, what limits it, which link is hot.
Json answer(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks);
// Ranks and switches in groups, and the heat of what joins them.
Json topology(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks);
// The hottest links over time.
Json link_heat(RunFile const& run, LinkColumns const& links, LinkPeaks const& peaks);
// Who sent how much to whom, blocks of ranks taken together.
Json traffic(RunFile const& run);
// Completion times of flows and their slowdown by size.
Json flows(RunFile const& run);
// Where the time of every rank went, and what some ranks did when.
Json ranks(RunFile const& run);
// Tokens per expert and per rank, with the experts in their order and as placed.
Json experts(RunFile const& run);

// In place of a part that the run has nothing for: {"missing": why, and what to do about it}.
Json missing(std::string const& why);

}  // namespace orrery::page

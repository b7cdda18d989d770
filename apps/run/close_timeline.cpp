// SPDX-License-Identifier: Apache-2.0
#include "apps/run/close_timeline.hpp"

#include "apps/run/agree.hpp"

namespace orrery {

void close_timeline(World const& world, std::vector<PartSource> const& parts, std::filesystem::path const& run_h5,
                    Manifest const& manifest, FabricTables const& fabric) {
    auto const ranges = useful_ranges(parts.size(), world.count());
    ScratchFiles mine;
    all_or_none(world, [&] {
        if (ranges > 1 && world.index() < ranges) mine = merge_range(parts, run_h5, {world.index(), ranges});
    });
    all_or_none(world, [&] {
        if (world.root())
            merge_parts(parts, run_h5, manifest, fabric, {.parts = PartsAfterwards::kept, .ranges = ranges});
    });
}

}  // namespace orrery

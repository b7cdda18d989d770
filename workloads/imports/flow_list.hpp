// SPDX-License-Identifier: Apache-2.0
// Traffic that is a list of flows from rank to rank, each with a size and a start.
#pragma once

#include "workloads/imports/schedule_draft.hpp"

namespace orrery {

struct ListedFlow {
    std::uint32_t source = 0, target = 0;
    std::int64_t bytes = 0;
    Time start;
    std::uint64_t line = 0;
};

// A send at its source and a receive at its target, which meet by the number of the flow: several of one pair may be
// under way in any order. Returns the number of the send's task.
inline std::uint32_t add_flow(ScheduleDraft& draft, ListedFlow const& flow, std::uint32_t number) {
    ScheduleTask const receive{.kind = TaskKind::receive, .peer = flow.source, .tag = number, .bytes = flow.bytes};
    draft.add(flow.target, receive, flow.line);
    ScheduleTask const send{
        .kind = TaskKind::send, .peer = flow.target, .tag = number, .bytes = flow.bytes, .not_before = flow.start};
    return draft.add(flow.source, send, flow.line);
}

}  // namespace orrery

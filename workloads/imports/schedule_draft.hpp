// SPDX-License-Identifier: Apache-2.0
// A schedule while a file is being read: tasks that know their line, and ends of messages that may lack the other one.
#pragma once

#include "workloads/imports/findings.hpp"
#include "workloads/schedule/check_schedule.hpp"
#include "workloads/schedule/schedule.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {

// A file that names more is damaged: so many ranks would take gigabytes before anything is known of them.
inline constexpr std::uint32_t most_imported_ranks = 1U << 20;

class ScheduleDraft {
  public:
    ScheduleDraft(std::uint32_t ranks, std::string const& file, FilePlace::Unit unit, Findings& findings);

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(builders_.size()); }
    // The file that a rank's tasks stand in, where each has its own.
    void rank_file(std::uint32_t rank, std::string name) { files_[rank] = std::move(name); }
    // `where` is the number of its line or node.
    std::uint32_t add(std::uint32_t rank, ScheduleTask const& task, std::uint64_t where);
    void require(std::uint32_t rank, std::uint32_t task, std::uint32_t on, After after = After::end) {
        builders_[rank].require(task, on, after);
    }
    ScheduleTask& task(std::uint32_t rank, std::uint32_t number) { return builders_[rank].task(number); }
    std::uint32_t task_count(std::uint32_t rank) const { return builders_[rank].size(); }
    FilePlace place(std::uint32_t rank, std::uint32_t task) const;

    // The number of a label; the empty one is 0.
    std::uint32_t label(std::string_view text);
    // The number of the group with these members; added when it is new.
    std::uint32_t group(std::vector<std::uint32_t> const& members);
    std::uint32_t collective(CollectiveSpec spec);

    // Pairs the ends of messages, checks everything and raises what was refused. The draft is empty then.
    std::unique_ptr<Schedule> finish();

  private:
    class Names;
    struct End;
    void pair_messages();
    void mend_length(End const& send, End const& receive);
    void mend_lonely_send(End const& send);
    void mend_lonely_receive(End const& receive);

    Findings& findings_;
    FilePlace::Unit unit_;
    StoredSchedule schedule_;
    std::vector<ProgramBuilder> builders_;
    std::vector<std::vector<std::uint64_t>> places_;  // per rank and task
    std::vector<std::string> files_;
    std::unordered_map<std::string, std::uint32_t> labels_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;
};

}  // namespace orrery

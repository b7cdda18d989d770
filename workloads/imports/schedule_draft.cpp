// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/schedule_draft.hpp"

#include <algorithm>

namespace orrery {

class ScheduleDraft::Names final : public TaskNames {
  public:
    explicit Names(ScheduleDraft const& draft) : draft_(draft) {}
    std::string name(std::uint32_t rank, std::uint32_t task) const override {
        auto const& what = draft_.schedule_.programs[rank].tasks()[task];
        auto const& label = draft_.schedule_.label_names[what.label];
        return fmt::format("{} ({} of rank {})", draft_.place(rank, task).text(), label.empty() ? kind(what) : label,
                           rank);
    }

  private:
    static std::string kind(ScheduleTask const& task) {
        switch (task.kind) {
            case TaskKind::compute:
                return "compute";
            case TaskKind::send:
                return fmt::format("send to {}", task.peer);
            case TaskKind::receive:
                return fmt::format("receive from {}", task.peer);
            case TaskKind::collective:
                break;
        }
        return "collective";
    }
    ScheduleDraft const& draft_;
};

struct ScheduleDraft::End {
    std::uint32_t source = 0, target = 0, tag = 0;
    std::uint32_t rank = 0, task = 0;
    TaskKind kind{};
};

ScheduleDraft::ScheduleDraft(std::uint32_t ranks, std::string const& file, FilePlace::Unit unit, Findings& findings)
    : findings_(findings), unit_(unit), schedule_(ranks), builders_(ranks), places_(ranks), files_(ranks, file) {}

std::uint32_t ScheduleDraft::add(std::uint32_t rank, ScheduleTask const& task, std::uint64_t where) {
    places_[rank].push_back(where);
    return builders_[rank].add(task);
}

FilePlace ScheduleDraft::place(std::uint32_t rank, std::uint32_t task) const {
    return {files_[rank], places_[rank][task], unit_};
}

std::uint32_t ScheduleDraft::label(std::string_view text) {
    if (text.empty()) return 0;
    auto const [entry, fresh] =
        labels_.try_emplace(std::string(text), static_cast<std::uint32_t>(schedule_.label_names.size()));
    if (fresh) schedule_.label_names.emplace_back(text);
    return entry->second;
}

std::uint32_t ScheduleDraft::group(std::vector<std::uint32_t> const& members) {
    auto const [entry, fresh] = groups_.try_emplace(members, schedule_.group_count());
    if (fresh) schedule_.groups.push_back(members);
    return entry->second;
}

std::uint32_t ScheduleDraft::collective(CollectiveSpec spec) {
    schedule_.collectives.push_back(std::move(spec));
    return schedule_.collective_count() - 1;
}

std::unique_ptr<Schedule> ScheduleDraft::finish() {
    findings_.raise_if_any();  // what was not read cannot be paired
    pair_messages();
    findings_.raise_if_any();
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) schedule_.programs[rank] = builders_[rank].build();
    validate(schedule_, Names(*this));
    return std::make_unique<StoredSchedule>(std::move(schedule_));
}

void ScheduleDraft::pair_messages() {
    std::vector<End> ends;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank)
        for (std::uint32_t number = 0; number < task_count(rank); ++number) {
            auto const& at = task(rank, number);
            if (at.kind == TaskKind::send) ends.push_back({rank, at.peer, at.tag, rank, number, at.kind});
            if (at.kind == TaskKind::receive) ends.push_back({at.peer, rank, at.tag, rank, number, at.kind});
        }
    auto const channel = [](End const& end) { return std::tuple{end.source, end.target, end.tag}; };
    std::sort(ends.begin(), ends.end(), [&](End const& a, End const& b) {
        return std::tuple{channel(a), a.kind, a.task} < std::tuple{channel(b), b.kind, b.task};
    });
    for (std::size_t begin = 0, end = 0; begin < ends.size(); begin = end) {
        auto middle = begin;
        for (end = begin; end < ends.size() && channel(ends[end]) == channel(ends[begin]); ++end)
            if (ends[end].kind == TaskKind::send) middle = end + 1;
        auto const pairs = std::min(middle - begin, end - middle);
        for (std::size_t i = 0; i < pairs; ++i) mend_length(ends[begin + i], ends[middle + i]);
        for (auto i = begin + pairs; i < middle; ++i) mend_lonely_send(ends[i]);
        for (auto i = middle + pairs; i < end; ++i) mend_lonely_receive(ends[i]);
    }
}

void ScheduleDraft::mend_length(End const& send, End const& receive) {
    auto const sent = task(send.rank, send.task).bytes;
    auto& expected = task(receive.rank, receive.task).bytes;
    if (expected != ScheduleTask::unknown_bytes && expected != sent)
        findings_.mend(place(receive.rank, receive.task),
                       fmt::format("rank {} receives {} bytes from rank {}", receive.target, expected, receive.source),
                       fmt::format("(its send at {} has {}) use one length", place(send.rank, send.task).text(), sent),
                       fmt::format("{} bytes", sent));
    expected = sent;
}

void ScheduleDraft::mend_lonely_send(End const& send) {
    findings_.mend(place(send.rank, send.task),
                   fmt::format("rank {} sends to rank {} with tag {}", send.source, send.target, send.tag),
                   fmt::format("(rank {} has no receive for it) add the receive or correct the tag", send.target),
                   "it is received as it comes");
    auto const& sent = task(send.rank, send.task);
    add(send.target, {.kind = TaskKind::receive, .peer = send.source, .tag = send.tag, .bytes = sent.bytes},
        places_[send.rank][send.task]);
}

void ScheduleDraft::mend_lonely_receive(End const& receive) {
    findings_.mend(
        place(receive.rank, receive.task),
        fmt::format("rank {} receives from rank {} with tag {}", receive.target, receive.source, receive.tag),
        fmt::format("(rank {} has no send for it, so it would wait for ever) add the send or correct the tag",
                    receive.source),
        "it is over at once");
    auto& task_of = task(receive.rank, receive.task);
    task_of = {.kind = TaskKind::compute, .label = task_of.label, .not_before = task_of.not_before};
}

}  // namespace orrery

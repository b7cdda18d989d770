// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/check_schedule.hpp"

#include "workloads/schedule/wait_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery {
namespace {

// Tasks in all whose programs are held together to look for circles; a larger schedule says so when it runs.
constexpr std::size_t most_held = 20'000'000;

class Problems {
  public:
    explicit Problems(std::size_t most) : most_(most) {}
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        if (list_.size() < most_) list_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    bool empty() const { return list_.empty(); }
    bool full() const { return list_.size() >= most_; }
    std::vector<std::string> take() { return std::move(list_); }

  private:
    std::size_t most_;
    std::vector<std::string> list_;
};

struct Channel {
    std::uint32_t source = 0, target = 0, tag = 0;
    friend auto operator<=>(Channel const&, Channel const&) = default;
};
struct End {
    std::uint32_t rank = 0, task = 0;
    std::int64_t bytes = 0;
};
struct Ends {
    std::vector<End> sends, receives;
};

class Check {
  public:
    Check(Schedule const& schedule, TaskNames const& names, std::size_t most)
        : schedule_(schedule), names_(names), problems_(most), joins_(schedule.collective_count()) {}

    std::vector<std::string> run() {
        groups();
        for (std::uint32_t rank = 0; rank < schedule_.ranks() && !problems_.full(); ++rank) program(rank);
        messages();
        collectives();
        circles();
        return problems_.take();
    }

  private:
    std::string name(std::uint32_t rank, std::uint32_t task) const { return names_.name(rank, task); }

    void groups() {
        std::vector<std::uint32_t> seen(schedule_.ranks(), 0xffffffff);
        for (std::uint32_t group = 0; group < schedule_.group_count(); ++group) {
            if (schedule_.group(group).empty())
                problems_.add("group {} is empty (a collective needs members) leave it out", group);
            for (auto const rank : schedule_.group(group)) {
                if (rank >= schedule_.ranks()) {
                    problems_.add("group {} names rank {} (there are {} ranks, from 0) use an existing one", group,
                                  rank, schedule_.ranks());
                    continue;
                }
                if (seen[rank] == group)
                    problems_.add("group {} names rank {} twice (a rank is a member once) remove one", group, rank);
                seen[rank] = group;
            }
        }
        for (std::uint32_t c = 0; c < schedule_.collective_count(); ++c) {
            auto const& collective = schedule_.collective(c);
            if (collective.group >= schedule_.group_count()) {
                problems_.add("collective {} is of group {} (there are {} groups, from 0) use an existing one", c,
                              collective.group, schedule_.group_count());
                continue;
            }
            auto const members = schedule_.group(collective.group).size();
            if (collective.bytes < 0)
                problems_.add("collective {} has {} bytes (must not be negative)", c, collective.bytes);
            if (collective.root >= members)
                problems_.add("collective {} has member {} as its root (group {} has {} members, from 0)", c,
                              collective.root, collective.group, members);
            if ((collective.op == CollectiveOp::all_to_all_v) != (collective.pair_bytes != nullptr))
                problems_.add("collective {} is {} {} bytes per pair (they belong to all-to-all-v alone)", c,
                              name_of(collective.op), collective.pair_bytes ? "with" : "without");
        }
    }

    void program(std::uint32_t rank) {
        auto program = schedule_.program(rank);
        auto const tasks = program.tasks();
        for (std::uint32_t t = 0; t < tasks.size(); ++t) {
            for (auto const& on : program.dependencies(t)) {
                if (on.task < tasks.size()) continue;
                problems_.add("{} waits for task {} (rank {} has {} tasks, from 0) use an existing one", name(rank, t),
                              on.task, rank, tasks.size());
            }
            task(rank, t, tasks[t]);
        }
        tasks_ += tasks.size();
        if (tasks_ <= most_held) programs_.push_back(std::move(program));
    }

    // Only where all else is right: every peer and every dependency exists then.
    void circles() {
        if (!problems_.empty() || programs_.size() < schedule_.ranks()) return;
        auto const circle = deadlock_of(schedule_, programs_, matched_);
        if (circle.empty()) return;
        std::string text;
        for (auto const& at : circle) text += name(at.rank, at.task) + " -> ";
        problems_.add(
            "tasks wait for each other in a circle of {}: {}{} (none of them can start) remove one dependency",
            circle.size(), text, name(circle.front().rank, circle.front().task));
    }

    void task(std::uint32_t rank, std::uint32_t number, ScheduleTask const& task) {
        if (task.duration < Time{} || task.not_before < Time{})
            problems_.add("{} has a negative time (durations and starts count from 0)", name(rank, number));
        if (task.label >= schedule_.labels().size())
            problems_.add("{} has label {} (there are {} labels)", name(rank, number), task.label,
                          schedule_.labels().size());
        switch (task.kind) {
            case TaskKind::compute:
                return;
            case TaskKind::collective:
                if (task.peer >= schedule_.collective_count())
                    problems_.add("{} joins collective {} (there are {}, from 0) use an existing one",
                                  name(rank, number), task.peer, schedule_.collective_count());
                else
                    joins_[task.peer].push_back({rank, number});
                return;
            default:
                break;
        }
        bool const sends = task.kind == TaskKind::send;
        if (task.peer >= schedule_.ranks())
            return problems_.add("{} {} rank {} (there are {} ranks, from 0) use an existing one", name(rank, number),
                                 sends ? "sends to" : "receives from", task.peer, schedule_.ranks());
        if (task.bytes < 0 && (sends || task.bytes != ScheduleTask::unknown_bytes))
            return problems_.add("{} has {} bytes (must not be negative)", name(rank, number), task.bytes);
        auto& ends =
            sends ? channels_[{rank, task.peer, task.tag}].sends : channels_[{task.peer, rank, task.tag}].receives;
        ends.push_back({rank, number, task.bytes});
    }

    void messages() {
        for (auto const& [channel, ends] : channels_) {
            auto const pairs = std::min(ends.sends.size(), ends.receives.size());
            for (std::size_t i = 0; i < pairs; ++i) {
                auto const& [source, send, sent] = ends.sends[i];
                auto const& [target, receive, expected] = ends.receives[i];
                matched_.push_back({{source, send}, {target, receive}});
                if (expected == ScheduleTask::unknown_bytes || expected == sent) continue;
                problems_.add("{} sends {} bytes and {} receives {} (both ends of a message are alike) use one length",
                              name(source, send), sent, name(target, receive), expected);
            }
            if (ends.sends.size() > pairs)
                problems_.add("{} sends to rank {}, tag {} ({} sends and {} receives between them) add the receive",
                              name(channel.source, ends.sends[pairs].task), channel.target, channel.tag,
                              ends.sends.size(), ends.receives.size());
            if (ends.receives.size() > pairs)
                problems_.add("{} receives from rank {}, tag {} ({} sends and {} receives between them) add the send",
                              name(channel.target, ends.receives[pairs].task), channel.source, channel.tag,
                              ends.sends.size(), ends.receives.size());
        }
    }

    void collectives() {
        std::map<std::uint32_t, std::uint32_t> joined;  // rank -> task
        for (std::uint32_t c = 0; c < joins_.size() && !problems_.full(); ++c) {
            auto const group = schedule_.collective(c).group;
            if (group >= schedule_.group_count()) continue;
            joined.clear();
            for (auto const& [rank, task] : joins_[c])
                if (auto const [it, fresh] = joined.try_emplace(rank, task); !fresh)
                    problems_.add("{} joins collective {} again (so did {}) a member joins once", name(rank, task), c,
                                  name(rank, it->second));
            for (auto const rank : schedule_.group(group))
                if (joined.erase(rank) == 0)
                    problems_.add("rank {} never joins collective {} ({} of group {}, whose member it is) add the task",
                                  rank, c, name_of(schedule_.collective(c).op), group);
            for (auto const& [rank, task] : joined)
                problems_.add("{} joins collective {} (rank {} is no member of group {}) remove it", name(rank, task),
                              c, rank, group);
        }
    }

    struct Join {
        std::uint32_t rank = 0, task = 0;
    };
    Schedule const& schedule_;
    TaskNames const& names_;
    Problems problems_;
    std::size_t tasks_ = 0;
    std::vector<RankProgram> programs_;
    std::map<Channel, Ends> channels_;
    std::vector<MatchedMessage> matched_;
    std::vector<std::vector<Join>> joins_;
};

}  // namespace

std::string TaskNames::name(std::uint32_t rank, std::uint32_t task) const {
    return fmt::format("task {} of rank {}", task, rank);
}

std::vector<std::string> problems_of(Schedule const& schedule, TaskNames const& names, std::size_t most) {
    return Check(schedule, names, most).run();
}

void validate(Schedule const& schedule, TaskNames const& names) {
    if (auto const problems = problems_of(schedule, names); !problems.empty())
        throw InputError(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Our own format of schedules (docs/schedules.md): YAML, small, for tests and people.
#include "apps/schedules/number_list.hpp"
#include "io/scenario/document.hpp"
#include "io/scenario/quantity.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/schedule/check_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>

namespace orrery {
namespace {

using loader::Document;
using loader::Node;
using loader::NodeKind;

class GivenBytes final : public PairBytes {
  public:
    explicit GivenBytes(std::vector<std::vector<std::int64_t>> rows) : rows_(std::move(rows)) {}
    std::int64_t bytes(std::uint32_t source, std::uint32_t target) const override { return rows_[source][target]; }

  private:
    std::vector<std::vector<std::int64_t>> rows_;
};

class FileReader {
  public:
    FileReader(Document const& document, std::string file) : document_(document), file_(std::move(file)) {}

    std::unique_ptr<StoredSchedule> read() {
        auto const& root = document_[document_.root];
        if (!is_map(root, "the file", {"orrery_schedule", "ranks", "groups", "collectives", "programs"})) return {};
        if (auto const version = number(root, "orrery_schedule", 1); version != 1)
            problem(root, fmt::format("orrery_schedule = {} (this program reads version 1) write 1", version));
        auto const ranks = number(root, "ranks", 0);
        if (ranks < 1 || ranks > most_ranks) {
            problem(root,
                    fmt::format("ranks = {} (must be from 1 to {}) say how many ranks there are", ranks, most_ranks));
            return {};
        }
        schedule_ = std::make_unique<StoredSchedule>(static_cast<std::uint32_t>(ranks));
        builders_.resize(static_cast<std::size_t>(ranks));
        names_.resize(builders_.size());
        if (auto const* groups = find(root, "groups")) read_groups(*groups);
        if (auto const* collectives = find(root, "collectives")) read_collectives(*collectives);
        if (auto const* programs = find(root, "programs")) read_programs(*programs);
        for (std::size_t rank = 0; rank < builders_.size(); ++rank) schedule_->programs[rank] = builders_[rank].build();
        return std::move(schedule_);
    }
    loader::Problems& problems() { return problems_; }

  private:
    static constexpr std::int64_t most_ranks = 1 << 20;
    static constexpr std::int64_t numbers_of_32_bits = std::int64_t{1} << 32;

    void problem(Node const& node, std::string const& what) { problems_.add({file_, node.mark}, what); }
    Node const* find(Node const& map, std::string_view key) const {
        for (auto const& entry : map.entries)
            if (entry.key == key) return &document_[entry.node];
        return nullptr;
    }
    bool is_map(Node const& node, std::string const& what, std::initializer_list<std::string_view> keys) {
        if (node.kind != NodeKind::map) {
            problem(node, fmt::format("{} is no map (keys with values) see docs/schedules.md", what));
            return false;
        }
        for (auto const& entry : node.entries)
            if (std::find(keys.begin(), keys.end(), entry.key) == keys.end())
                problems_.add({file_, entry.mark},
                              fmt::format("{} (unknown in {}) use one of {}", entry.key, what, fmt::join(keys, ", ")));
        return true;
    }
    std::int64_t number(Node const& map, std::string_view key, std::int64_t fallback) {
        auto const* node = find(map, key);
        if (!node) return fallback;
        std::int64_t value = 0;
        auto const* const end = node->text.data() + node->text.size();
        if (auto const [at, error] = std::from_chars(node->text.data(), end, value); error == std::errc{} && at == end)
            return value;
        problem(*node, fmt::format("{} = {} (no whole number) write one", key, loader::shown(node->text)));
        return fallback;
    }
    // Kept in fewer bits than it is read with, where it would wrap around.
    std::uint32_t number_below(Node const& map, std::string_view key, std::int64_t limit) {
        auto const value = number(map, key, 0);
        if (value >= 0 && value < limit) return static_cast<std::uint32_t>(value);
        problem(*find(map, key),
                fmt::format("{} = {} (must be from 0 to {}) write one of these", key, value, limit - 1));
        return 0;
    }
    std::int64_t quantity(Node const& node, std::string_view key, quantity::Dimension dimension, char const* like) {
        auto const parsed = quantity::parse_integer(dimension, node.text, like);
        if (parsed) return *parsed.value;
        problems_.refuse({file_, node.mark}, key, node.text, parsed.refusal);
        return 0;
    }
    std::string text(Node const& map, std::string_view key) const {
        auto const* node = find(map, key);
        return node ? node->text : std::string{};
    }
    std::vector<std::string> texts(Node const& node) const {
        if (node.kind == NodeKind::scalar) return {node.text};
        std::vector<std::string> all;
        for (auto const item : node.items) all.push_back(document_[item].text);
        return all;
    }
    // "0-3", 7 or [0-3, 7].
    std::vector<std::uint32_t> ranks(Node const& node) {
        std::vector<std::uint32_t> all;
        for (auto const& part : texts(node))
            if (auto const refusal = append_numbers(part, schedule_->ranks(), all); !refusal.empty())
                problem(node, fmt::format("{} ({}) write ranks like 0-3, 7", loader::shown(part), refusal));
        return all;
    }

    void read_groups(Node const& groups) {
        if (groups.kind != NodeKind::map) return problem(groups, "groups is no map (name: ranks) write all: 0-7");
        for (auto const& entry : groups.entries) {
            group_of_[entry.key] = schedule_->group_count();
            schedule_->groups.push_back(ranks(document_[entry.node]));
        }
    }

    void read_collectives(Node const& collectives) {
        if (collectives.kind != NodeKind::map)
            return problem(collectives, "collectives is no map (name: what it is) see docs/schedules.md");
        for (auto const& entry : collectives.entries) {
            auto const& node = document_[entry.node];
            if (!is_map(node, entry.key, {"op", "group", "bytes", "root", "algorithm", "protocol", "pair_bytes"}))
                continue;
            CollectiveSpec spec{.group = 0, .algorithm = text(node, "algorithm"), .protocol = text(node, "protocol")};
            auto const group = group_of_.find(text(node, "group"));
            if (group == group_of_.end())
                problem(node, fmt::format("{} has no known group (groups names them) add group: NAME", entry.key));
            else
                spec.group = group->second;
            try {
                spec.op = collective_op_of(text(node, "op"));
            } catch (InputError const& error) {
                problem(node, fmt::format("{}: {}", entry.key, error.what()));
            }
            if (auto const* bytes = find(node, "bytes"))
                spec.bytes = quantity(*bytes, "bytes", quantity::Dimension::size, "1MiB");
            spec.root = number_below(node, "root", numbers_of_32_bits);
            if (auto const* pairs = find(node, "pair_bytes"); pairs && group != group_of_.end())
                spec.pair_bytes = read_pairs(*pairs, schedule_->groups[spec.group].size());
            collective_of_[entry.key] = schedule_->collective_count();
            schedule_->collectives.push_back(std::move(spec));
        }
    }

    std::shared_ptr<PairBytes const> read_pairs(Node const& matrix, std::size_t members) {
        bool fits = matrix.items.size() == members;
        std::vector<std::vector<std::int64_t>> rows;
        for (auto const row : matrix.items) {
            auto& values = rows.emplace_back();
            for (auto const item : document_[row].items)
                values.push_back(quantity(document_[item], "pair_bytes", quantity::Dimension::size, "1MiB"));
            fits = fits && values.size() == members;
        }
        if (!fits)
            problem(matrix, fmt::format("pair_bytes is no {0} x {0} matrix (its group has {0} members) write a row per "
                                        "source, with a size per target",
                                        members));
        return std::make_shared<GivenBytes>(std::move(rows));
    }

    void read_programs(Node const& programs) {
        if (programs.kind != NodeKind::list) return problem(programs, "programs is no list (ranks and tasks)");
        for (auto const item : programs.items) {
            auto const& program = document_[item];
            if (!is_map(program, "a program", {"ranks", "tasks"})) continue;
            auto const* who = find(program, "ranks");
            auto const* tasks = find(program, "tasks");
            if (!who || !tasks || tasks->kind != NodeKind::list) {
                problem(program, "a program needs ranks and a list of tasks (docs/schedules.md)");
                continue;
            }
            for (auto const rank : ranks(*who))
                for (auto const task : tasks->items) read_task(document_[task], rank);
        }
    }

    void read_task(Node const& node, std::uint32_t rank) {
        if (!is_map(node, "a task",
                    {"name", "compute", "send", "to", "receive", "from", "tag", "collective", "stream", "after",
                     "after_start", "not_before"}))
            return;
        ScheduleTask task;
        task.tag = number_below(node, "tag", numbers_of_32_bits);
        if (find(node, "stream"))
            task.stream = static_cast<std::uint16_t>(number_below(node, "stream", ScheduleTask::no_stream));
        if (auto const* at = find(node, "not_before"))
            task.not_before = Time::from_ps(quantity(*at, "not_before", quantity::Dimension::time, "1us"));
        if (!read_kind(node, rank, task)) return;
        auto const name = text(node, "name");
        if (!name.empty()) task.label = label(name);
        auto const number = builders_[rank].add(task);
        if (auto const* after = find(node, "after")) require(*after, rank, number, After::end);
        if (auto const* after = find(node, "after_start")) require(*after, rank, number, After::start);
        // After its own dependencies, which name earlier tasks.
        if (!name.empty() && !names_[rank].try_emplace(name, number).second)
            problem(node, fmt::format("name = {} (rank {} has a task of that name already) use another one",
                                      loader::shown(name), rank));
    }

    // A task that is of two kinds, or has what belongs to another kind, is not what its writer meant.
    bool is_of_one_kind(Node const& node) {
        std::string_view kind;
        for (std::string_view const one : {"compute", "send", "receive", "collective"}) {
            if (!find(node, one)) continue;
            if (!kind.empty()) {
                problem(node, fmt::format("a task with {} and {} (it is of one kind) make two tasks", kind, one));
                return false;
            }
            kind = one;
        }
        bool right = true;
        auto const belongs = [&](std::string_view key, bool belongs_here, char const* to) {
            auto const* there = find(node, key);
            if (!there || kind.empty() || belongs_here) return;
            problem(*there, fmt::format("{} (belongs to {}, not to {}) leave it out", key, to, kind));
            right = false;
        };
        belongs("to", kind == "send", "send");
        belongs("from", kind == "receive", "receive");
        belongs("tag", kind == "send" || kind == "receive", "send and receive");
        return right;
    }

    bool read_kind(Node const& node, std::uint32_t rank, ScheduleTask& task) {
        if (!is_of_one_kind(node)) return false;
        if (auto const* compute = find(node, "compute")) {
            task.kind = TaskKind::compute;
            task.duration = Time::from_ps(quantity(*compute, "compute", quantity::Dimension::time, "1us"));
            return true;
        }
        if (auto const* collective = find(node, "collective")) {
            task.kind = TaskKind::collective;
            auto const known = collective_of_.find(collective->text);
            if (known != collective_of_.end()) task.peer = known->second;
            if (known == collective_of_.end())
                problem(*collective, fmt::format("collective = {} (unknown) name one of collectives",
                                                 loader::shown(collective->text)));
            return known != collective_of_.end();
        }
        for (auto const sends : {true, false}) {
            auto const* bytes = find(node, sends ? "send" : "receive");
            auto const* peer = find(node, sends ? "to" : "from");
            if (!bytes || !peer) continue;
            task.kind = sends ? TaskKind::send : TaskKind::receive;
            bool const any = !sends && bytes->text == "any";
            task.bytes = any ? ScheduleTask::unknown_bytes
                             : quantity(*bytes, sends ? "send" : "receive", quantity::Dimension::size, "1MiB");
            task.peer = peer_of(*peer, rank);
            return true;
        }
        problem(node, "a task is one of compute, send with to, receive with from, collective (docs/schedules.md)");
        return false;
    }

    // "5", or "+1" and "-1": from the own rank on, around the end.
    std::uint32_t peer_of(Node const& node, std::uint32_t rank) {
        bool const relative = !node.text.empty() && (node.text.front() == '+' || node.text.front() == '-');
        std::vector<std::uint32_t> one;
        auto const refusal = append_numbers(node.text.substr(relative ? 1 : 0), schedule_->ranks(), one);
        if (!refusal.empty() || one.size() != 1) {
            problem(node, fmt::format("{} (no rank of the schedule) write a rank, or +1 for the next one",
                                      loader::shown(node.text)));
            return rank;
        }
        if (!relative) return one.front();
        auto const all = schedule_->ranks();
        return node.text.front() == '+' ? (rank + one.front()) % all : (rank + all - one.front() % all) % all;
    }

    void require(Node const& node, std::uint32_t rank, std::uint32_t task, After after) {
        for (auto const& name : texts(node)) {
            auto const known = names_[rank].find(name);
            if (known == names_[rank].end())
                problem(node, fmt::format("after {} (rank {} has no task of that name before this one) name one",
                                          loader::shown(name), rank));
            else
                builders_[rank].require(task, known->second, after);
        }
    }

    std::uint32_t label(std::string const& name) {
        auto& labels = schedule_->label_names;
        auto const [at, fresh] = label_of_.try_emplace(name, static_cast<std::uint32_t>(labels.size()));
        if (fresh) labels.push_back(name);
        return at->second;
    }

    Document const& document_;
    std::string file_;
    loader::Problems problems_;
    std::unique_ptr<StoredSchedule> schedule_;
    std::map<std::string, std::uint32_t> group_of_, collective_of_, label_of_;
    std::vector<ProgramBuilder> builders_;
    std::vector<std::map<std::string, std::uint32_t>> names_;  // per rank: tasks by name
};

std::unique_ptr<Schedule> read_own_format(std::filesystem::path const& file, ImportOptions const&, Findings&) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    loader::Problems problems;
    auto const document = loader::parse_document(text.str(), file.string(), loader::Positions::shown, problems);
    problems.raise_if_any();
    FileReader reader(*document, file.string());
    auto schedule = reader.read();
    reader.problems().raise_if_any();
    try {
        validate(*schedule);
    } catch (InputError const& error) {
        throw InputError(fmt::format("{}: {}", file.string(), error.what()));
    }
    return schedule;
}

bool is_own_format(std::filesystem::path const&, std::string_view head) {
    return head.find("orrery_schedule:") != std::string_view::npos;
}

ImporterRegistration const registered{
    {.name = "orrery", .title = "orrery", .recognises = is_own_format, .read = read_own_format}};

}  // namespace
}  // namespace orrery

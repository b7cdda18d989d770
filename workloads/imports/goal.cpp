// SPDX-License-Identifier: Apache-2.0
// GOAL text schedules: calc, send and recv per rank with requires and irequires, as LogGOPSim's txt2bin reads them
// (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009; LogGOPSim, HPDC 2010).
#include "workloads/imports/import.hpp"
#include "workloads/imports/schedule_draft.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace orrery {
namespace {

// Words of a line, with ':', '{' and '}' apart from what they touch, and without comments.
class Tokens {
  public:
    // False when a comment that began earlier covers the line.
    bool split(std::string_view line) {
        words_.clear();
        next_ = 0;
        for (std::size_t at = 0; at < line.size();) {
            if (in_comment_) {
                auto const end = line.find("*/", at);
                if (end == std::string_view::npos) return !words_.empty();
                in_comment_ = false;
                at = end + 2;
            } else if (line.substr(at, 2) == "//") {
                break;
            } else if (line.substr(at, 2) == "/*") {
                in_comment_ = true;
                at += 2;
            } else if (separates(line[at])) {
                ++at;
            } else if (stands_alone(line[at])) {
                words_.push_back(line.substr(at++, 1));
            } else {
                auto const begin = at;
                while (at < line.size() && !separates(line[at]) && !stands_alone(line[at]) && line[at] != '/') ++at;
                if (at == begin) ++at;  // a lone '/'
                words_.push_back(line.substr(begin, at - begin));
            }
        }
        return !words_.empty();
    }
    bool done() const { return next_ == words_.size(); }
    std::string_view peek(std::size_t ahead = 0) const {
        return next_ + ahead < words_.size() ? words_[next_ + ahead] : std::string_view{};
    }
    std::string_view take() { return done() ? std::string_view{} : words_[next_++]; }
    bool take(std::string_view word) {
        bool const here = !done() && peek() == word;
        next_ += here ? 1 : 0;
        return here;
    }

  private:
    static bool separates(char c) { return c == ' ' || c == '\t' || c == '\r'; }
    static bool stands_alone(char c) { return c == ':' || c == '{' || c == '}'; }

    std::vector<std::string_view> words_;
    std::size_t next_ = 0;
    bool in_comment_ = false;
};

class GoalReader {
  public:
    GoalReader(std::filesystem::path const& path, ImportOptions const& options, Findings& findings)
        : file_(path), fields_(file_, findings), findings_(findings), eager_bytes_(options.eager_bytes) {}

    std::unique_ptr<Schedule> read() {
        while (file_.next_line() && !findings_.full())
            if (tokens_.split(file_.line()))
                while (!tokens_.done()) item();
        if (!draft_) findings_.refuse(file_.whole(), "there is no num_ranks", "(it comes first) write num_ranks N");
        if (rank_) findings_.refuse(rank_place_, fmt::format("rank {} has no closing brace", *rank_), "add }");
        findings_.raise_if_any();
        if (auto const missing = std::count(seen_.begin(), seen_.end(), std::uint8_t{0}); missing > 0)
            findings_.assumes(fmt::format("{} ranks without a block do nothing", missing));
        match_any();
        say_what_is_taken();
        return draft_->finish();
    }

  private:
    struct Pending {
        std::string label, on;
        After after{};
        FilePlace place;
    };
    struct Wildcard {
        std::uint32_t rank = 0, task = 0;
        bool any_source = false, any_tag = false;
    };

    void wrong(std::string_view what) {
        findings_.refuse(file_.place(), what,
                         "(expected num_ranks N, rank R {, LABEL: calc N, LABEL: send Nb to R, LABEL: recv Nb from R, "
                         "LABEL requires LABEL or }) correct the line");
        while (!tokens_.done()) tokens_.take();
    }

    // One statement, or as much of the line as makes one.
    void item() {
        if (tokens_.take("num_ranks")) return read_rank_count();
        if (!draft_) return wrong("num_ranks does not come first");
        if (tokens_.take("rank")) return open_rank();
        if (tokens_.take("}")) return close_rank();
        if (!rank_) return wrong(fmt::format("'{}' stands outside a rank", tokens_.peek()));
        std::string_view label;
        if (tokens_.peek(1) == ":") {
            label = tokens_.take();
            tokens_.take();
        } else if (tokens_.peek(1) == "requires" || tokens_.peek(1) == "irequires") {
            return dependency();
        }
        if (tokens_.take("calc")) return calc(label);
        if (tokens_.take("send")) return message(label, TaskKind::send, "to");
        if (tokens_.take("recv")) return message(label, TaskKind::receive, "from");
        wrong(fmt::format("'{}' is no operation", tokens_.peek()));
    }

    void read_rank_count() {
        auto const count = fields_.whole("num_ranks", tokens_.take(), 1);
        if (draft_) return wrong("num_ranks stands here a second time");
        if (count > most_imported_ranks)
            return findings_.refuse(file_.place(), fmt::format("num_ranks is {}", count),
                                    fmt::format("(at most {}) correct it", most_imported_ranks));
        draft_.emplace(static_cast<std::uint32_t>(std::max<std::int64_t>(count, 1)), file_.name(),
                       FilePlace::Unit::line, findings_);
        seen_.resize(draft_->ranks());
    }

    void open_rank() {
        if (rank_)
            findings_.refuse(rank_place_, fmt::format("rank {} has no closing brace", *rank_),
                             fmt::format("(another rank begins at line {}) add }}", file_.line_number()));
        auto const number = fields_.whole("rank", tokens_.take());
        if (!tokens_.take("{")) return wrong("a rank does not begin with {");
        rank_place_ = file_.place();
        labels_.clear();
        rank_ = 0;
        if (number >= draft_->ranks())
            return findings_.refuse(file_.place(), fmt::format("rank {} has a block", number),
                                    fmt::format("(num_ranks is {}, ranks count from 0) correct one", draft_->ranks()));
        rank_ = static_cast<std::uint32_t>(number);
        if (seen_[*rank_]++ != 0)
            findings_.refuse(file_.place(), fmt::format("rank {} has a second block", number),
                             "(one block per rank) join them or correct the number");
    }

    void close_rank() {
        if (!rank_) return wrong("'}' closes nothing");
        for (auto const& edge : pending_) {
            auto const task = labels_.find(edge.label), on = labels_.find(edge.on);
            if (task == labels_.end() || on == labels_.end()) {
                auto const& missing = task == labels_.end() ? edge.label : edge.on;
                findings_.mend(edge.place, fmt::format("{} is required or requires", missing),
                               fmt::format("(rank {} has no operation of that label) correct it", *rank_), "left out");
                continue;
            }
            // A small send is over for its rank once it is posted: what requires it may start then.
            auto const& before = draft_->task(*rank_, on->second);
            bool const eager = before.kind == TaskKind::send && before.bytes <= eager_bytes_;
            draft_->require(*rank_, task->second, on->second, eager ? After::start : edge.after);
            findings_.contains(edge.after == After::end ? "requires" : "irequires");
        }
        pending_.clear();
        rank_.reset();
    }

    void dependency() {
        auto const label = tokens_.take();
        auto const after = tokens_.take() == "requires" ? After::end : After::start;
        auto const on = tokens_.take();
        if (on.empty()) return wrong("a dependency names no second label");
        pending_.push_back({std::string(label), std::string(on), after, file_.place()});
    }

    void add(std::string_view label, ScheduleTask task) {
        task.label = draft_->label(label);
        auto const number = draft_->add(*rank_, task, file_.line_number());
        if (label.empty()) return;
        if (auto const [entry, fresh] = labels_.try_emplace(std::string(label), number); !fresh)
            findings_.mend(file_.place(), fmt::format("label {} is used again", label),
                           fmt::format("(line {} of this rank has it) give each operation its own",
                                       draft_->place(*rank_, entry->second).number),
                           "dependencies mean the first");
    }

    void calc(std::string_view label) {
        auto const ns = fields_.large("the time of calc", tokens_.take());
        ScheduleTask task{.kind = TaskKind::compute, .stream = 0};
        if (tokens_.take("cpu")) task.stream = cpu();
        if (constexpr std::int64_t most_ns = Time::infinity().ps() / 1'000'000; ns > most_ns)
            findings_.refuse(file_.place(), fmt::format("calc takes {} ns", ns),
                             fmt::format("(at most {}) correct it", most_ns));
        else
            task.duration = Time::from_ps(ns * 1000);
        add(label, task);
        findings_.contains("calc");
    }

    std::uint16_t cpu() {
        auto const number = fields_.whole("cpu", tokens_.take());
        if (number < ScheduleTask::no_stream) return static_cast<std::uint16_t>(number);
        findings_.refuse(file_.place(), fmt::format("cpu is {}", number), "(LogGOPSim has at most 256) correct it");
        return 0;
    }

    void message(std::string_view label, TaskKind kind, std::string_view direction) {
        auto size = tokens_.take();
        if (size.ends_with('b')) {
            size.remove_suffix(1);
        } else if (!tokens_.take("b")) {
            return wrong(fmt::format("the size '{}' has no unit", size));
        }
        ScheduleTask task{.kind = kind, .bytes = fields_.large("the size", size)};
        if (!tokens_.take(direction)) return wrong(fmt::format("'{}' is missing", direction));
        Wildcard wildcard{.rank = *rank_, .any_source = kind == TaskKind::receive && tokens_.peek() == "-1"};
        if (wildcard.any_source)
            tokens_.take();
        else
            task.peer = peer(tokens_.take());
        if (tokens_.take("tag")) {
            wildcard.any_tag = kind == TaskKind::receive && tokens_.peek() == "-1";
            if (wildcard.any_tag)
                tokens_.take();
            else
                task.tag = static_cast<std::uint32_t>(fields_.whole("tag", tokens_.take(), 0, Fields::Beyond::mended));
        }
        if (tokens_.take("cpu")) cpu();
        if (tokens_.take("nic") && fields_.whole("nic", tokens_.take()) != 0)
            findings_.ignores("nic other than 0 (routes choose among the ports of a rank)", file_.place());
        wildcard.task = draft_->task_count(*rank_);
        add(label, task);
        if (wildcard.any_source || wildcard.any_tag) wildcards_.push_back(wildcard);
        findings_.contains(kind == TaskKind::send ? "send" : "recv");
        if (kind == TaskKind::send) findings_.contains(task.bytes <= eager_bytes_ ? "eager sends" : "rendezvous sends");
    }

    std::uint32_t peer(std::string_view word) {
        auto const number = fields_.whole("the other rank", word);
        if (number < draft_->ranks()) return static_cast<std::uint32_t>(number);
        findings_.refuse(file_.place(), fmt::format("rank {} is named", number),
                         fmt::format("(num_ranks is {}, ranks count from 0) correct one", draft_->ranks()));
        return 0;
    }

    // Which message such a receive meets depends on the time of arrival. Taken by mending: the first send in order of
    // rank and line that no other receive is for.
    void match_any() {
        if (wildcards_.empty()) return;
        struct Free {
            std::uint32_t source = 0, target = 0, tag = 0;
            std::int64_t count = 0;
        };
        std::vector<Free> free;
        std::unordered_map<std::uint64_t, std::vector<std::size_t>> at;  // target and source
        auto const find = [&](std::uint32_t source, std::uint32_t target, std::uint32_t tag) -> Free& {
            auto& list = at[std::uint64_t{target} << 32 | source];
            for (auto const i : list)
                if (free[i].tag == tag) return free[i];
            list.push_back(free.size());
            return free.emplace_back(Free{source, target, tag, 0});
        };
        std::vector<std::vector<std::uint8_t>> open(draft_->ranks());
        for (std::uint32_t rank = 0; rank < draft_->ranks(); ++rank) open[rank].resize(draft_->task_count(rank));
        for (auto const& w : wildcards_) open[w.rank][w.task] = 1;
        for (std::uint32_t rank = 0; rank < draft_->ranks(); ++rank)
            for (std::uint32_t number = 0; number < draft_->task_count(rank); ++number) {
                auto const& task = draft_->task(rank, number);
                if (task.kind == TaskKind::send) ++find(rank, task.peer, task.tag).count;
                if (task.kind == TaskKind::receive && open[rank][number] == 0) --find(task.peer, rank, task.tag).count;
            }
        for (auto const& w : wildcards_) {
            auto& task = draft_->task(w.rank, w.task);
            auto const fits = std::find_if(free.begin(), free.end(), [&](Free const& f) {
                return f.target == w.rank && f.count > 0 && (w.any_source || f.source == task.peer) &&
                       (w.any_tag || f.tag == task.tag);
            });
            auto const place = draft_->place(w.rank, w.task);
            if (fits == free.end()) {
                findings_.refuse(place, "no send is left for a receive from any rank or with any tag",
                                 "(it would wait for ever) add the send");
                continue;
            }
            --fits->count;
            task.peer = fits->source;
            task.tag = fits->tag;
            findings_.mend(place, "the receive takes what comes first, from any rank or with any tag",
                           "(which message that is depends on the network) name the rank and the tag",
                           fmt::format("rank {}, tag {}", task.peer, task.tag));
        }
    }

    void say_what_is_taken() {
        findings_.assumes("calc counts nanoseconds, as LogGOPSim does");
        findings_.assumes(
            fmt::format("a send of at most {} bytes is over for its rank once it has started (eager), a larger one "
                        "when it has arrived (rendezvous): LogGOPSim's -S, here eager_bytes",
                        eager_bytes_));
        findings_.assumes(
            "LogGOPSim's o and O are network.messages; L, g and G are the latency and rate of the fabric's links");
    }

    TextFile file_;
    Fields fields_;
    Findings& findings_;
    std::int64_t eager_bytes_;
    Tokens tokens_;
    std::optional<ScheduleDraft> draft_;
    std::vector<std::uint8_t> seen_;
    std::optional<std::uint32_t> rank_;  // whose block is open
    FilePlace rank_place_;
    std::unordered_map<std::string, std::uint32_t> labels_;  // of that rank
    std::vector<Pending> pending_;
    std::vector<Wildcard> wildcards_;
};

bool is_goal(std::filesystem::path const& path, std::string_view head) {
    return path.extension() == ".goal" || head.substr(0, 200).find("num_ranks") != std::string_view::npos;
}

ImporterRegistration const registered{
    {.name = "goal",
     .title = "GOAL text schedule (LogGOPSim, ATLAHS)",
     .recognises = is_goal,
     .read = [](std::filesystem::path const& path, ImportOptions const& options, Findings& findings) {
         return GoalReader(path, options, findings).read();
     }}};

}  // namespace
}  // namespace orrery

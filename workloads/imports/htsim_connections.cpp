// SPDX-License-Identifier: Apache-2.0
// Connection matrices of htsim (.cm): flows that start at a time or when others are done, by triggers
// (connection_matrix.cpp of Broadcom/csg-htsim).
#include "workloads/imports/flow_list.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace orrery {
namespace {

enum class Shot : std::uint8_t { unknown, one, many, barrier };

struct Flow : ListedFlow {
    std::int64_t trigger = 0, send_done = 0, recv_done = 0;  // ids; 0: none
    std::uint32_t task = 0;                                  // of its send
    std::uint32_t receive_task = 0;
};
struct Trigger {
    Shot shot = Shot::unknown;
    std::int64_t count = 0;  // of a barrier
    FilePlace place;         // where it is first named
    std::vector<std::uint32_t> fired_by, starts;
};
struct Counted {
    std::optional<std::int64_t> said;
    FilePlace place;
    std::int64_t found = 0;
};

class ConnectionReader {
  public:
    ConnectionReader(std::filesystem::path const& path, Findings& findings)
        : file_(path), fields_(file_, findings), findings_(findings) {}

    std::unique_ptr<Schedule> read() {
        while (file_.next_words() && !findings_.full()) read_line();
        if (nodes_.said.value_or(0) > most_imported_ranks)
            findings_.refuse(nodes_.place, fmt::format("Nodes is {}", *nodes_.said),
                             fmt::format("(at most {}) correct it", most_imported_ranks));
        if (!nodes_.said) findings_.refuse(file_.whole(), "there is no line 'Nodes N'", "add it at the top");
        check("connections", connections_);
        check("triggers", triggers_count_);
        check("failures", failures_);
        check_triggers();
        findings_.raise_if_any();
        return schedule();
    }

  private:
    void read_line() {
        auto const& words = file_.words();
        auto const first = words.front();
        if (first.starts_with('#')) return;
        if (first == "Nodes") return header(nodes_, 1);
        if (first == "Connections") return header(connections_, 0);
        if (first == "Triggers") return header(triggers_count_, 0);
        if (first == "Failures") return header(failures_, 0);
        if (first == "trigger") return read_trigger();
        if (first == "failure") {
            ++failures_.found;
            return findings_.ignores("failed links (say them as fabric.degrade)", file_.place());
        }
        if (first.find("->") != std::string_view::npos) return read_flow();
        findings_.refuse(file_.place(), fmt::format("'{}' begins the line", first),
                         "(expected Nodes, Connections, Triggers, Failures, SOURCE->TARGET, trigger or failure) "
                         "correct the line");
    }

    void header(Counted& counted, std::int64_t least) {
        counted.said = fields_.whole(file_.words().front(), file_.words().size() == 2 ? file_.words()[1] : "", least);
        counted.place = file_.place();
    }

    void check(std::string_view what, Counted const& counted) {
        auto const said = counted.said.value_or(0);
        if (said == counted.found) return;
        findings_.mend(counted.said ? counted.place : file_.whole(),
                       fmt::format("the header says {} {}, {} found", said, what, counted.found),
                       "(the file is cut short, or the count is wrong) correct the count",
                       fmt::format("{} are used", counted.found));
    }

    std::uint32_t node(std::string_view word) {
        auto const number = fields_.whole("a node", word);
        if (nodes_.said && number < *nodes_.said && number < most_imported_ranks)
            return static_cast<std::uint32_t>(number);
        findings_.refuse(file_.place(), fmt::format("node {} is named", number),
                         fmt::format("(Nodes is {}, nodes count from 0) correct one", nodes_.said.value_or(0)));
        return 0;
    }

    void read_flow() {
        auto const& words = file_.words();
        auto const arrow = words[0].find("->");
        Flow flow;
        flow.line = file_.line_number();
        flow.source = node(words[0].substr(0, arrow));
        flow.target = node(words[0].substr(arrow + 2));
        bool starts = false, has_size = false;
        for (std::size_t i = 1; i < words.size(); i += 2) {
            auto const value = i + 1 < words.size() ? words[i + 1] : std::string_view{};
            if (words[i] == "start") {
                starts = read_start(value, flow);
            } else if (words[i] == "trigger") {
                flow.trigger = trigger_id(value);
            } else if (words[i] == "size") {
                flow.bytes = fields_.whole("the size", value, 0, Fields::Beyond::mended);
                has_size = true;
            } else if (words[i] == "id") {
                read_id(value);
            } else if (words[i] == "send_done_trigger") {
                flow.send_done = trigger_id(value);
            } else if (words[i] == "recv_done_trigger") {
                flow.recv_done = trigger_id(value);
            } else if (words[i] == "prio") {
                findings_.ignores("priorities (all flows are of one class)", file_.place());
            } else {
                return findings_.refuse(file_.place(), fmt::format("'{}' follows the flow", words[i]),
                                        "(expected id, start, trigger, size, send_done_trigger, recv_done_trigger or "
                                        "prio) correct the line");
            }
        }
        if (starts == (flow.trigger != 0))
            findings_.refuse(file_.place(),
                             starts ? "the flow has both a start and a trigger" : "the flow never starts",
                             "(a start time or a trigger) give one of them");
        if (!has_size)
            findings_.refuse(file_.place(), "the flow has no size",
                             "(htsim lets it send for ever, and a run would not end) add size N");
        if (words[0].substr(0, arrow) == words[0].substr(arrow + 2))
            findings_.mend(file_.place(), fmt::format("node {} sends to itself", flow.source), "correct one of the two",
                           "a copy that uses no link");
        ++connections_.found;
        flows_.push_back(flow);
    }

    bool read_start(std::string_view word, Flow& flow) {
        auto const us = decimal_number(word);
        if (us && *us >= 0 && *us < 9e12)
            flow.start = Time::from_ps(std::llround(*us * 1e6));
        else
            findings_.refuse(file_.place(), fmt::format("start is '{}'", word), "(not microseconds from 0) correct it");
        return true;
    }

    void read_id(std::string_view word) {
        auto const id = fields_.whole("id", word, 1);
        if (auto const [entry, fresh] = ids_.try_emplace(id, file_.line_number()); !fresh)
            findings_.mend(file_.place(), fmt::format("flow id {} is used again", id),
                           fmt::format("(line {} has it) give each flow its own", entry->second),
                           "ids are names and nothing else");
    }

    std::int64_t trigger_id(std::string_view word) {
        auto const id = fields_.whole("the id of a trigger", word, 1);
        auto& trigger = triggers_[id];
        if (trigger.place.file.empty()) trigger.place = file_.place();
        return id;
    }

    void read_trigger() {
        auto const& words = file_.words();
        ++triggers_count_.found;
        Trigger read;
        std::int64_t id = 0;
        for (std::size_t i = 1; i < words.size(); ++i) {
            auto const value = [&] { return ++i < words.size() ? words[i] : std::string_view{}; };
            if (words[i] == "id")
                id = trigger_id(value());
            else if (words[i] == "count")
                read.count = fields_.whole("count", value(), 1);
            else if (words[i] == "oneshot")
                read.shot = Shot::one;
            else if (words[i] == "multishot")
                read.shot = Shot::many;
            else if (words[i] == "barrier")
                read.shot = Shot::barrier;
            else
                return findings_.refuse(file_.place(), fmt::format("'{}' follows the trigger", words[i]),
                                        "(expected id, count, oneshot, multishot or barrier) correct the line");
        }
        if (id == 0) return findings_.refuse(file_.place(), "the trigger has no id", "add id N");
        auto& trigger = triggers_[id];
        if (trigger.shot != Shot::unknown)
            return findings_.mend(file_.place(), fmt::format("trigger {} is described again", id), "remove one",
                                  "the first counts");
        if (read.shot == Shot::unknown)
            findings_.mend(file_.place(), fmt::format("trigger {} has no kind", id),
                           "(oneshot, multishot or barrier) add it", "oneshot");
        trigger.shot = read.shot == Shot::unknown ? Shot::one : read.shot;
        trigger.count = read.count;
    }

    void check_triggers() {
        for (std::uint32_t i = 0; i < flows_.size(); ++i) {
            if (flows_[i].trigger != 0) triggers_[flows_[i].trigger].starts.push_back(i);
            for (auto const id : {flows_[i].send_done, flows_[i].recv_done})
                if (id != 0) triggers_[id].fired_by.push_back(i);
        }
        for (auto& [id, trigger] : triggers_) {
            auto const fired = static_cast<std::int64_t>(trigger.fired_by.size());
            if (trigger.shot == Shot::unknown)
                findings_.mend(trigger.place, fmt::format("trigger {} is used and not described", id),
                               fmt::format("add 'trigger id {} oneshot'", id), "oneshot");
            if (trigger.starts.empty()) {
                findings_.ignores("triggers that start nothing", trigger.place);
            } else if (fired == 0) {
                findings_.refuse(trigger.place, fmt::format("trigger {} is never fired", id),
                                 "(no flow names it in send_done_trigger or recv_done_trigger, so what it starts would "
                                 "never run) add it, or give the flow a start");
            } else if (trigger.shot == Shot::barrier && trigger.count != fired) {
                findings_.mend(trigger.place,
                               fmt::format("barrier {} counts {} and {} flows fire it", id, trigger.count, fired),
                               "(fewer never fire it, and which are first of more depends on the network) correct the "
                               "count",
                               "it waits for all of them");
            } else if (trigger.shot != Shot::barrier && fired > 1) {
                findings_.mend(trigger.place, fmt::format("{} flows fire trigger {}", fired, id),
                               "(which of them is first depends on the network) make it a barrier or give each its own",
                               "what it starts waits for all of them, and starts once");
            }
        }
    }

    std::unique_ptr<Schedule> schedule() {
        ScheduleDraft draft(static_cast<std::uint32_t>(*nodes_.said), file_.name(), FilePlace::Unit::line, findings_);
        for (std::uint32_t i = 0; i < flows_.size(); ++i) {
            flows_[i].task = add_flow(draft, flows_[i], i);
            // The receive goes in first; a flow to itself has both ends on one rank.
            flows_[i].receive_task =
                flows_[i].source == flows_[i].target ? flows_[i].task - 1 : draft.task_count(flows_[i].target) - 1;
        }
        for (auto const& [id, trigger] : triggers_)
            for (auto const started : trigger.starts)
                for (auto const fired_by : trigger.fired_by) start_after(draft, flows_[started], flows_[fired_by]);
        findings_.contains("flows", connections_.found);
        findings_.contains("starts by trigger",
                           std::count_if(flows_.begin(), flows_.end(), [](Flow const& f) { return f.trigger != 0; }));
        findings_.assumes("starts are microseconds, as htsim's programs take them");
        if (!triggers_.empty())
            findings_.assumes(
                "a flow is done, for both its ends, when its last byte has arrived; htsim's sender waits for the "
                "acknowledgement of it as well");
        return draft.finish();
    }

    void start_after(ScheduleDraft& draft, Flow const& flow, Flow const& done) {
        if (flow.source == done.source) return draft.require(flow.source, flow.task, done.task);
        if (flow.source == done.target) return draft.require(flow.source, flow.task, done.receive_task);
        // A third rank hears of it by a message without bytes.
        findings_.contains("triggers that a message of 0 bytes carries to another rank");
        auto const number = static_cast<std::uint32_t>(flows_.size()) + notices_++;
        auto const notice = add_flow(
            draft, {.source = done.target, .target = flow.source, .bytes = 0, .start = {}, .line = flow.line}, number);
        draft.require(done.target, notice, done.receive_task);
        draft.require(flow.source, flow.task, draft.task_count(flow.source) - 1);
    }

    TextFile file_;
    Fields fields_;
    Findings& findings_;
    Counted nodes_, connections_, triggers_count_, failures_;
    std::vector<Flow> flows_;
    std::map<std::int64_t, std::uint64_t> ids_;  // of flows -> line
    std::map<std::int64_t, Trigger> triggers_;
    std::uint32_t notices_ = 0;
};

bool is_connection_matrix(std::filesystem::path const& path, std::string_view head) {
    auto const first = LineWords(head).next();
    return path.extension() == ".cm" || (first.size() == 2 && first[0] == "Nodes" && whole_number(first[1]) &&
                                         head.find("Connections") != std::string_view::npos);
}

ImporterRegistration const registered{
    {.name = "htsim-connections",
     .title = "connection matrix of htsim (.cm)",
     .recognises = is_connection_matrix,
     .read = [](std::filesystem::path const& path, ImportOptions const&, Findings& findings) {
         return ConnectionReader(path, findings).read();
     }}};

}  // namespace
}  // namespace orrery

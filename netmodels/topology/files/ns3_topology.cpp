// SPDX-License-Identifier: Apache-2.0
// Topologies of HPCC and its descendants on ns-3, and of SimAI, which adds NVSwitches.
#include "core/check.hpp"
#include "netmodels/topology/files/topology_files.hpp"

#include <algorithm>

namespace orrery {
namespace {

enum class Role : std::uint8_t { host, nvswitch, switch_chip };

class Ns3Reader {
  public:
    Ns3Reader(TopologyText const& file, Strictness strictness) : file_(file), strictness_(strictness) {}

    StoredGraph read() {
        read_header();
        read_switches();
        name_nodes();
        read_links();
        return std::move(graph_);
    }

  private:
    using Line = TopologyText::Line;

    // HPCC has three numbers (PowerTCP puts the number of ToRs before the last), SimAI five and the type of GPU.
    void read_header() {
        auto const& header = file_.lines()[0];
        auto const& words = header.words;
        auto const number = [&](std::size_t i, char const* what) { return file_.count(header, words[i], what); };
        if (words.size() < 3)
            file_.refuse(header, "the header has fewer than three numbers (nodes, switches, links); correct it");
        nodes_ = number(0, "the number of nodes");
        if (words.size() >= 5) {
            per_server_ = number(1, "the number of GPUs per server");
            nvswitches_ = number(2, "the number of NVSwitches");
            switches_ = number(3, "the number of switches");
            links_ = number(4, "the number of links");
            if (words.size() > 5) graph_.notes.push_back(fmt::format("type of GPU {}: not used", words[5]));
        } else {
            switches_ = number(1, "the number of switches");
            links_ = number(words.size() - 1, "the number of links");
            if (words.size() == 4) graph_.notes.push_back(fmt::format("number of ToRs {}: not used", words[2]));
        }
        if (std::uint64_t{nvswitches_} + switches_ > nodes_)
            file_.refuse(header, fmt::format("{} switches of {} nodes (more than there are); correct the header",
                                             std::uint64_t{nvswitches_} + switches_, nodes_));
        // Each host and switch needs a link of its own, so a file is never much shorter than what it describes.
        if (nodes_ > file_.text().size())
            file_.refuse(header, fmt::format("{} nodes (the file is too short for them); correct the header", nodes_));
    }

    void read_switches() {
        roles_.assign(nodes_, Role::host);
        auto const wanted = nvswitches_ + switches_;
        next_ = 1;
        for (std::uint32_t found = 0; found < wanted;) {
            if (next_ == file_.lines().size())
                file_.refuse(file_.lines().back(),
                             fmt::format("the file ends after {} of {} switches; complete it", found, wanted));
            auto const& line = file_.lines()[next_++];
            for (auto const word : line.words) {
                auto const id = node(line, word);
                if (found == wanted)
                    file_.refuse(line, fmt::format("'{}' stands behind the last of {} switches; correct the header",
                                                   word, wanted));
                if (roles_[id] != Role::host)
                    file_.refuse(line, fmt::format("switch {} is listed twice; remove one", id));
                roles_[id] = found++ < nvswitches_ ? Role::nvswitch : Role::switch_chip;
            }
        }
    }

    // Ranks are the hosts in the order of their numbers.
    void name_nodes() {
        numbers_.resize(nodes_);
        for (auto const role : {Role::host, Role::nvswitch, Role::switch_chip})
            for (std::uint32_t id = 0; id < nodes_; ++id) {
                if (roles_[id] != role) continue;
                numbers_[id] = static_cast<std::uint32_t>(graph_.names.size());
                if (role == Role::nvswitch) graph_.scale_up.push_back(numbers_[id]);
                graph_.names.push_back(fmt::format("{}{}",
                                                   role == Role::host       ? "h"
                                                   : role == Role::nvswitch ? "nvs"
                                                                            : "s",
                                                   id));
            }
        graph_.ranks = nodes_ - nvswitches_ - switches_;
        graph_.ranks_per_block = std::max(1U, per_server_);
    }

    void read_links() {
        auto const found = file_.lines().size() - next_;
        if (found < links_)
            file_.refuse(file_.lines().back(),
                         fmt::format("the header says {} links, {} found, {} missing; correct the "
                                     "header or add them",
                                     links_, found, links_ - found));
        for (std::uint32_t l = 0; l < links_; ++l) graph_.lines.push_back(link(file_.lines()[next_ + l]));
        if (found > links_) read_surplus(next_ + links_);
        if (lossy_ > 0)
            graph_.notes.push_back(
                fmt::format("error rates of {} links: not used (network.packet.losses has them)", lossy_));
    }

    // What stands behind the counted links. Upstream readers stop there without a word.
    void read_surplus(std::size_t first) {
        auto const& lines = file_.lines();
        auto const surplus = lines.size() - first;
        auto const what = fmt::format("the header says {} links, {} found, first surplus line {}", links_,
                                      lines.size() - next_, lines[first].number);
        if (strictness_ == Strictness::strict)
            file_.refuse(lines[first], what + "; correct the header, or read it with lenient: true");
        auto const fits = [&](Line const& line) {
            std::uint64_t largest = 0;
            for (std::size_t w = 0; w < 2 && w < line.words.size(); ++w)
                largest = std::max<std::uint64_t>(largest, value_of(line.words[w]));
            return line.words.size() >= 4 && largest < nodes_;
        };
        bool const meant = std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), fits);
        for (auto l = first; meant && l < lines.size(); ++l) graph_.lines.push_back(link(lines[l]));
        graph_.notes.push_back(meant ? fmt::format("{}: {}: all are used", file_.name(), what)
                                     : fmt::format("{}: {}: the {} lines after the counted {} are ignored",
                                                   file_.name(), what, surplus, links_));
    }

    static std::uint64_t value_of(std::string_view word) {
        std::uint64_t value = 0;
        for (char const c : word) {
            if (c < '0' || c > '9' || value > nothing) return nothing;
            value = value * 10 + static_cast<std::uint64_t>(c - '0');
        }
        return value;
    }

    StoredGraph::Line link(Line const& line) {
        if (line.words.size() < 4)
            file_.refuse(line, "a link has fewer than four words (from, to, rate, delay); complete it");
        auto const from = node(line, line.words[0]), to = node(line, line.words[1]);
        auto const delay = file_.time(line, line.words[3]);
        if (line.words.size() > 4 && line.words[4].find_first_not_of("0.") != std::string_view::npos) ++lossy_;
        return {.a = numbers_[from],
                .b = numbers_[to],
                .lanes = 1,
                .rate = file_.rate(line, line.words[2]),
                .up = delay,
                .down = delay,
                .plane = 0,
                .where = file_.place(line)};
    }

    std::uint32_t node(Line const& line, std::string_view word) const {
        auto const id = file_.count(line, word, "a node");
        if (id >= nodes_)
            file_.refuse(line,
                         fmt::format("node {} (the header says {}, numbered from 0); correct one of them", id, nodes_));
        return id;
    }

    static constexpr std::uint64_t nothing = std::uint64_t{1} << 40;
    TopologyText const& file_;
    Strictness strictness_;
    StoredGraph graph_;
    std::uint32_t nodes_ = 0, per_server_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0;
    std::size_t next_ = 1;
    std::int64_t lossy_ = 0;
    std::vector<Role> roles_;             // by number in the file
    std::vector<std::uint32_t> numbers_;  // in the graph, by number in the file
};

}  // namespace

StoredGraph read_ns3_topology(TopologyText const& file, Strictness strictness) {
    return Ns3Reader(file, strictness).read();
}

}  // namespace orrery

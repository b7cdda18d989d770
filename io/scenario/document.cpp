// SPDX-License-Identifier: Apache-2.0
// Builds the tree from yaml-cpp's parser events. Its own Node type would lose the position of keys and hide duplicates.
#include "io/scenario/document.hpp"

#include "io/scenario/text_check.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace orrery::loader {

namespace {

Mark to_mark(YAML::Mark const& mark) {
    return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

// Merge keys copy entries, so nested ones could grow as the square of the text.
constexpr std::size_t most_merged = 100'000;

class TreeBuilder final : public YAML::EventHandler {
  public:
    TreeBuilder(std::string source, Positions positions, Problems& problems)
        : source_(std::move(source)), positions_(positions), problems_(problems) {}

    Document take() {
        if (document_.nodes.empty()) document_.nodes.emplace_back();
        return std::move(document_);
    }

    void problem(Mark mark, std::string const& what) {
        problems_.add({source_, positions_ == Positions::shown ? mark : Mark{}}, what);
    }

    void OnDocumentStart(YAML::Mark const&) override {}
    void OnDocumentEnd() override {}

    void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
        place(make(NodeKind::nothing, mark, anchor));
    }

    void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override {
        auto const found = anchors_.find(anchor);
        bool const open = found != anchors_.end() && std::any_of(stack_.begin(), stack_.end(), [&](Open const& o) {
                              return o.node == found->second;
                          });
        if (found == anchors_.end() || open) {
            problem(to_mark(mark), "the alias stands inside its own anchor (it would never end) write the value out");
            place(make(NodeKind::nothing, mark, 0));
            return;
        }
        place({found->second, to_mark(mark)});
    }

    void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  std::string const& value) override {
        // A plain scalar has the tag "?"; only an unquoted null or ~ means "nothing".
        bool const nothing = tag != "!" && (value == "~" || value == "null" || value == "Null" || value == "NULL");
        Placed const placed = make(nothing ? NodeKind::nothing : NodeKind::scalar, mark, anchor);
        document_.nodes[placed.node].text = value;
        place(placed);
    }

    void OnSequenceStart(YAML::Mark const& mark, std::string const&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(make(NodeKind::list, mark, anchor));
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(YAML::Mark const& mark, std::string const&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(make(NodeKind::map, mark, anchor));
    }
    void OnMapEnd() override {
        apply_merges(document_.nodes[stack_.back().node]);
        close();
    }

  private:
    struct Placed {
        std::uint32_t node;
        Mark mark;  // where it was used, which for an alias is not where it was written
    };
    struct Open {
        std::uint32_t node;
        Mark mark;
        bool has_key = false;
        Entry next;
        std::map<std::string, int, std::less<>> lines;  // of the keys so far
    };

    Placed make(NodeKind kind, YAML::Mark const& mark, YAML::anchor_t anchor) {
        auto const index = static_cast<std::uint32_t>(document_.nodes.size());
        Node node;
        node.kind = kind;
        node.mark = to_mark(mark);
        document_.nodes.push_back(std::move(node));
        if (anchor != 0) anchors_[anchor] = index;
        return {index, to_mark(mark)};
    }

    void open(Placed placed) { stack_.push_back({placed.node, placed.mark, false, {}, {}}); }

    void close() {
        Placed const placed{stack_.back().node, stack_.back().mark};
        stack_.pop_back();
        place(placed);
    }

    // Puts a finished node where it belongs: list item, key or value.
    void place(Placed placed) {
        if (stack_.empty()) {
            document_.root = placed.node;
            return;
        }
        Open& parent = stack_.back();
        if (document_.nodes[parent.node].kind == NodeKind::list) {
            document_.nodes[parent.node].items.push_back(placed.node);
            return;
        }
        if (!parent.has_key) {
            parent.has_key = true;
            parent.next = {document_.nodes[placed.node].text, placed.mark, 0};
            if (document_.nodes[placed.node].kind != NodeKind::scalar)
                problem(placed.mark,
                        "a key is not a name (a list, a map or nothing stands before the colon) write key: value");
            return;
        }
        parent.has_key = false;
        parent.next.node = placed.node;
        auto const [known, fresh] = parent.lines.try_emplace(parent.next.key, parent.next.mark.line);
        if (fresh) {
            document_.nodes[parent.node].entries.push_back(parent.next);
        } else if (!parent.next.key.empty()) {
            problem(parent.next.mark, fmt::format("{} is given twice (first on line {}) remove one of them",
                                                  shown(parent.next.key), known->second));
        }
    }

    // <<: *defaults or <<: [*a, *b]: entries the map does not have itself, the earlier source first.
    void apply_merges(Node& map) {
        auto const merge =
            std::find_if(map.entries.begin(), map.entries.end(), [](Entry const& e) { return e.key == "<<"; });
        if (merge == map.entries.end()) return;
        Entry const source = std::move(*merge);
        map.entries.erase(merge);
        Node const& value = document_.nodes[source.node];
        std::vector<std::uint32_t> const sources =
            value.kind == NodeKind::list ? value.items : std::vector<std::uint32_t>{source.node};
        auto& known = stack_.back().lines;
        for (std::uint32_t const index : sources) {
            Node const& from = document_.nodes[index];
            if (from.kind != NodeKind::map) {
                problem(source.mark, "<< merges something that is not a map (only maps have keys) write <<: *anchor");
                continue;
            }
            merged_ += from.entries.size();
            if (merged_ > most_merged) {
                problem(source.mark, "<< merges too much (over 100000 keys) write the values out");
                return;
            }
            for (Entry const& entry : from.entries)
                if (known.try_emplace(entry.key, entry.mark.line).second) map.entries.push_back(entry);
        }
    }

    std::string source_;
    Positions positions_;
    Problems& problems_;
    Document document_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, std::uint32_t> anchors_;
    std::size_t merged_ = 0;
};

}  // namespace

std::optional<Document> parse_document(std::string const& text, std::string const& source, Positions positions,
                                       Problems& problems) {
    TreeBuilder builder(source, positions, problems);
    std::vector<TextFault> const faults = text_faults(text);
    for (TextFault const& fault : faults) builder.problem(fault.mark, fault.what);
    if (!faults.empty()) return std::nullopt;  // yaml-cpp would report the same in other words
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        parser.HandleNextDocument(builder);
        Document document = builder.take();
        TreeBuilder second(source, positions, problems);
        if (parser.HandleNextDocument(second)) {
            Document const other = second.take();
            builder.problem(other[other.root].mark, "a second document starts here (a scenario is one) remove the ---");
            return std::nullopt;
        }
        return document;
    } catch (YAML::DeepRecursion const& error) {
        builder.problem(to_mark(error.mark), "nested too deeply (over 500 levels) is this a scenario?");
    } catch (YAML::Exception const& error) {
        builder.problem(
            to_mark(error.mark),
            fmt::format("not YAML ({}) check indentation, quotes and brackets here and on the line before", error.msg));
    } catch (std::exception const& error) {
        builder.problem({}, fmt::format("not YAML ({}) is this a scenario?", error.what()));
    }
    return std::nullopt;
}

}  // namespace orrery::loader

// SPDX-License-Identifier: Apache-2.0
#include "workloads/moe/trace_file.hpp"

#include "core/check.hpp"
#include "workloads/models/json_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace orrery {
namespace {

using Json = nlohmann::json;

class TraceReader {
  public:
    TraceReader(std::filesystem::path const& path, TraceShape expected) : path_(path), expected_(expected) {}

    RoutingTrace read(std::uint64_t most_bytes) {
        std::ifstream file = open_input(path_, "routing trace");
        std::string text;
        while (std::getline(file, text)) {
            ++line_;
            if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
            Json const row = Json::parse(text, nullptr, false);
            if (!row.is_object()) refuse("is not a JSON object", "the file is cut or damaged here");
            if (trace_.layers == 0) {
                read_header(row);
            } else if (row.contains("routing")) {
                if ((trace_.choices.size() + row_size()) * sizeof(std::uint16_t) > most_bytes) {
                    trace_.warnings.push_back(fmt::format("{}: only the first {} tokens are used (memory limit of {})",
                                                          path_.string(), trace_.tokens,
                                                          static_cast<std::uint64_t>(most_bytes)));
                    return std::move(trace_);
                }
                read_token(row);
            } else {
                read_footer(row);
            }
        }
        ORRERY_VALIDATE(trace_.layers > 0, "{}: the routing trace is empty (there is no header row) record it again",
                        path_.string());
        ORRERY_VALIDATE(trace_.tokens > 0,
                        "{}: the routing trace holds no tokens (no row has \"routing\") record it again",
                        path_.string());
        note_dummy_batch();
        return std::move(trace_);
    }

  private:
    [[noreturn]] void refuse(std::string const& problem, std::string const& reason,
                             std::string const& suggestion = "correct or remove the line") const {
        throw InputError(fmt::format("{}:{}: the line {} ({}) {}", path_.string(), line_, problem, reason, suggestion));
    }

    std::size_t row_size() const { return std::size_t{trace_.layers} * trace_.top_k; }

    std::int64_t integer(Json const& object, char const* key) const {
        auto const at = object.find(key);
        if (at == object.end() || !at->is_number_integer() || *at < 0)
            refuse(fmt::format("has no valid {}", key), "a whole number of at least 0 is needed");
        return at->get<std::int64_t>();
    }

    void read_header(Json const& row) {
        auto const inner = row.find("provenance");
        Json const& facts = inner != row.end() && inner->is_object() ? *inner : row;
        if (!facts.contains("expert_count") || !facts.contains("top_k") || !facts.contains("moe_layer_indices"))
            refuse("is not a header", "the first row must have expert_count, top_k and moe_layer_indices",
                   "record the trace with its header row");
        if (auto const model = facts.find("model_id"); model != facts.end() && model->is_string())
            trace_.model = model->get<std::string>();
        auto const experts = integer(facts, "expert_count");
        auto const top_k = integer(facts, "top_k");
        if (experts != expected_.experts || top_k != expected_.top_k)
            refuse(fmt::format("says {} experts and top-{}", experts, top_k),
                   fmt::format("the model of the scenario has {} and top-{}", expected_.experts, expected_.top_k),
                   fmt::format("set workload.model to the config.json of {}, or use workload.routing.source=histogram "
                               "with loads of the scenario's model",
                               trace_.model.empty() ? "the traced model" : trace_.model));
        trace_.experts = expected_.experts;
        trace_.top_k = expected_.top_k;
        Json const& layers = facts["moe_layer_indices"];
        for (auto const& layer : layers) {
            if (!layers.is_array() || !layer.is_number_integer())
                refuse("has a bad moe_layer_indices", "a list of layer numbers is needed");
            if (!position_.emplace(layer.get<std::int64_t>(), trace_.layers++).second)
                refuse("has a bad moe_layer_indices", fmt::format("layer {} appears twice", layer.dump()));
        }
        if (trace_.layers == 0) refuse("has a bad moe_layer_indices", "it is empty");
        seen_.resize(trace_.layers);
    }

    void read_token(Json const& row) {
        std::size_t const base = trace_.choices.size();
        trace_.choices.resize(base + row_size());
        std::fill(seen_.begin(), seen_.end(), std::uint8_t{0});
        Json const& routing = row["routing"];
        if (!routing.is_array()) refuse("has a bad routing", "a list with one entry per MoE layer is needed");
        for (auto const& entry : routing) {
            if (!entry.is_object()) refuse("has a bad routing", "an entry is no object");
            auto const layer = integer(entry, "layer_index");
            auto const found = position_.find(layer);
            if (found == position_.end())
                refuse(fmt::format("names layer {}", layer), "it is not in the header's moe_layer_indices");
            if (seen_[found->second]++ != 0)
                refuse(fmt::format("names layer {} twice", layer), "once per token is needed");
            read_choice(entry, layer, trace_.choices.data() + base + std::size_t{found->second} * trace_.top_k);
        }
        if (routing.size() != trace_.layers)
            refuse(fmt::format("has {} layers", routing.size()), fmt::format("the header has {}", trace_.layers));
        ++trace_.tokens;
    }

    void read_choice(Json const& entry, std::int64_t layer, std::uint16_t* out) const {
        auto const ids = entry.find("expert_ids");
        if (ids == entry.end() || !ids->is_array() || ids->size() != trace_.top_k)
            refuse(fmt::format("has no valid expert_ids in layer {}", layer),
                   fmt::format("a list of {} experts is needed", trace_.top_k));
        for (std::uint32_t k = 0; k < trace_.top_k; ++k) {
            Json const& id = (*ids)[k];
            if (!id.is_number_integer() || id < 0 || id >= trace_.experts)
                refuse(fmt::format("names expert {} in layer {}", id.dump(), layer),
                       fmt::format("experts are 0 to {}", trace_.experts - 1));
            out[k] = id.get<std::uint16_t>();
            if (std::find(out, out + k, out[k]) != out + k)
                refuse(fmt::format("names expert {} twice in layer {}", out[k], layer),
                       "a token chooses different experts");
        }
    }

    void read_footer(Json const& row) const {
        if (!row.contains("prefill_dispatch_count") || !row.contains("decode_dispatch_count")) return;
        auto const declared =
            static_cast<std::uint64_t>(integer(row, "prefill_dispatch_count") + integer(row, "decode_dispatch_count"));
        if (declared != trace_.tokens)
            refuse(fmt::format("counts {} tokens", declared), fmt::format("{} were found", trace_.tokens),
                   "the trace is incomplete; record it again");
    }

    // Engines profile their memory with a dummy batch; recorded, it looks like extreme skew.
    void note_dummy_batch() {
        std::uint64_t dummies = 0;
        for (std::uint64_t token = 0; token < trace_.tokens; ++token) {
            bool dummy = true;
            for (std::uint32_t layer = 0; layer < trace_.layers && dummy; ++layer) {
                auto const row = trace_.row(token, layer);
                dummy =
                    std::all_of(row.begin(), row.end(), [&](std::uint16_t expert) { return expert < trace_.top_k; });
            }
            dummies += dummy ? 1 : 0;
        }
        if (dummies * 100 > trace_.tokens && trace_.experts > trace_.top_k)
            trace_.warnings.push_back(fmt::format(
                "{}: {} of {} tokens choose experts 0 to {} in every layer: probably a profiling batch, which "
                "should be cut from the trace",
                path_.string(), dummies, trace_.tokens, trace_.top_k - 1));
    }

    std::filesystem::path path_;
    TraceShape expected_;
    std::uint64_t line_ = 0;
    RoutingTrace trace_;
    std::map<std::int64_t, std::uint32_t> position_;  // layer_index -> column
    std::vector<std::uint8_t> seen_;
};

}  // namespace

RoutingTrace read_routing_trace(std::filesystem::path const& path, TraceShape expected, std::uint64_t most_bytes) {
    return TraceReader(path, expected).read(most_bytes);
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "workloads/imports/layer_file.hpp"

#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace orrery {
namespace {

struct PolicyName {
    std::string_view name;
    LayerPolicy policy;
};
constexpr std::array<PolicyName, 10> policies = {
    {{"MICRO", LayerPolicy::micro},
     {"DATA", LayerPolicy::data},
     {"MODEL", LayerPolicy::model},
     {"HYBRID_DATA_MODEL", LayerPolicy::data_model},
     {"HYBRID_MODEL_DATA", LayerPolicy::model_data},
     {"HYBRID_TRANSFORMER", LayerPolicy::transformer},
     {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", LayerPolicy::transformer_recomputing},
     {"HYBRID_DLRM", LayerPolicy::dlrm},
     {"HYBRID_DLRM_ENHANCED", LayerPolicy::dlrm},
     {"HYBRID_CUSTOMIZED", LayerPolicy::customized}}};

std::optional<LayerPolicy> policy_named(std::string_view name) {
    for (auto const& entry : policies)
        if (entry.name == name) return entry.policy;
    return std::nullopt;
}

struct CommName {
    std::string_view name;
    std::vector<CollectiveOp> ops;
};
// Longer names first where one begins like another.
std::vector<CommName> const& comm_names() {
    static std::vector<CommName> const names = {
        {"ALLREDUCEALLTOALL", {CollectiveOp::all_reduce, CollectiveOp::all_to_all}},
        {"ALLREDUCE", {CollectiveOp::all_reduce}},
        {"ALLTOALL", {CollectiveOp::all_to_all}},
        {"ALLGATHER", {CollectiveOp::all_gather}},
        {"REDUCESCATTER", {CollectiveOp::reduce_scatter}},
        {"BROADCAST", {CollectiveOp::broadcast}},
        {"NONE", {}},
    };
    return names;
}

class LayerReader {
  public:
    LayerReader(std::filesystem::path const& path, Findings& findings)
        : text_(path), fields_(text_, findings), findings_(findings) {
        file_.file = text_.name();
    }

    LayerFile read() {
        text_.next_words();
        read_header();
        text_.next_words();
        auto const header = text_.place();
        auto const counted = fields_.whole("the number of layers", text_.words().empty() ? "" : text_.words().front());
        std::uint64_t first_surplus = 0;
        while (text_.next_words() && !findings_.full()) {
            read_layer();
            if (static_cast<std::int64_t>(file_.layers.size()) == counted + 1) first_surplus = text_.line_number();
        }
        auto const found = static_cast<std::int64_t>(file_.layers.size());
        if (found != counted)
            findings_.mend(header, fmt::format("the header says {} layers, {} found", counted, found),
                           first_surplus > 0 ? fmt::format("(first surplus line {}) correct the count", first_surplus)
                                             : "(the file is cut short, or the count is wrong) correct the count",
                           fmt::format("{} are used", found));
        check_recomputing();
        findings_.raise_if_any();
        return std::move(file_);
    }

  private:
    void read_header() {
        auto const words = text_.words();
        file_.policy = policy_named(words[0]).value_or(LayerPolicy::micro);
        for (std::size_t i = 1; i < words.size(); ++i) {
            auto key = words[i];
            if (key.ends_with(':')) key.remove_suffix(1);
            auto const value = i + 1 < words.size() ? words[i + 1] : std::string_view{};
            std::int64_t* const field = header_field(key);
            if (field != nullptr) {
                *field = fields_.whole(key, value, key == "pp_comm" ? 0 : 1);
                ++i;
            } else if (key == "checkpoints") {
                i = read_list(words, i, file_.checkpoints);
            } else if (key == "checkpoint_initiates") {
                i = read_list(words, i, file_.recompute_from);
            } else if (file_.policy == LayerPolicy::dlrm && i == 1 && whole_number(key)) {
                file_.last_bottom_layer = fields_.whole("the last bottom layer", key);
            } else {
                findings_.ignores(fmt::format("header field {}", key), text_.place());
                i += words[i].ends_with(':') ? 1 : 0;
            }
        }
    }

    std::int64_t* header_field(std::string_view key) {
        if (key == "model_parallel_NPU_group") return &file_.tensor;
        if (key == "ep") return &file_.expert;
        if (key == "pp") return &file_.pipeline;
        if (key == "vpp") return &file_.virtual_pipeline;
        if (key == "ga") return &file_.accumulation;
        if (key == "all_gpus") return &file_.ranks;
        if (key == "pp_comm") return &file_.pipeline_bytes;
        if (key == "DLRM_LAST_BOTTOM_LAYER") return &file_.last_bottom_layer;
        return nullptr;
    }

    // KEY: COUNT, then as many layers. Returns the position of the last of them.
    std::size_t read_list(std::vector<std::string_view> const& words, std::size_t at, std::vector<std::int64_t>& list) {
        auto const count = fields_.whole(words[at], at + 1 < words.size() ? words[at + 1] : std::string_view{});
        ++at;
        for (std::int64_t i = 0; i < count && at + 1 < words.size() && whole_number(words[at + 1]); ++i)
            list.push_back(fields_.whole("a layer", words[++at]));
        if (static_cast<std::int64_t>(list.size()) != count)
            findings_.refuse(text_.place(), fmt::format("the header counts {} layers and lists {}", count, list.size()),
                             "correct the count");
        return at;
    }

    void read_layer() {
        auto const& words = text_.words();
        if (words.size() < 12)
            return findings_.refuse(text_.place(), fmt::format("a layer has {} columns", words.size()),
                                    "(12: name, dependency, then time, collective and bytes of forward, input gradient "
                                    "and weight gradient, and the update time) correct the line");
        Layer layer{.name = std::string(words[0]), .line = text_.line_number(), .policy = file_.policy};
        layer.forward = phase(2, LayerGroup::tensor);
        layer.input_gradient = phase(5, LayerGroup::tensor);
        layer.weight_gradient = phase(8, LayerGroup::data);
        layer.update_ns = fields_.whole("the update time", words[11], 0, Fields::Beyond::mended);
        if (words[1] != "-1") findings_.ignores("dependencies between layers (they follow each other)", text_.place());
        std::size_t read = 12;
        if (file_.policy == LayerPolicy::customized) {
            auto const own = words.size() > read ? policy_named(words[read]) : std::nullopt;
            if (own)
                layer.policy = *own;
            else
                findings_.refuse(text_.place(), "the layer does not say its own policy",
                                 "(the 13th column of HYBRID_CUSTOMIZED: DATA, MODEL, HYBRID_DATA_MODEL or "
                                 "HYBRID_MODEL_DATA) add it");
            ++read;
        }
        if (words.size() > read) findings_.ignores("further columns", text_.place());
        file_.layers.push_back(std::move(layer));
    }

    LayerPhase phase(std::size_t first, LayerGroup by_default) {
        auto const& words = text_.words();
        LayerPhase phase;
        phase.compute_ns = fields_.whole("the compute time", words[first], 0, Fields::Beyond::mended);
        phase.comm = comm(words[first + 1], by_default);
        phase.comm.bytes = fields_.large("the size", words[first + 2]);
        return phase;
    }

    LayerComm comm(std::string_view word, LayerGroup by_default) {
        for (auto const& known : comm_names()) {
            if (!word.starts_with(known.name)) continue;
            auto const suffix = word.substr(known.name.size());
            if (suffix.empty()) return {known.ops, by_default, 0};
            if (suffix == "_EP") return {known.ops, LayerGroup::expert, 0};
            if (suffix == "_DP_EP") return {known.ops, LayerGroup::data_of_expert, 0};
            findings_.mend(text_.place(), fmt::format("the suffix of {} is '{}'", word, suffix),
                           "(known: none, _EP and _DP_EP) correct it", "no communication, as SimAI takes it");
            return {};
        }
        findings_.mend(text_.place(), fmt::format("the collective is '{}'", word),
                       "(known: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, ALLREDUCEALLTOALL and BROADCAST, "
                       "each with _EP or _DP_EP) correct it",
                       "no communication, as SimAI takes it");
        return {};
    }

    void check_recomputing() {
        auto const count = static_cast<std::int64_t>(file_.layers.size());
        for (auto const* list : {&file_.checkpoints, &file_.recompute_from})
            for (auto const layer : *list)
                if (layer >= count)
                    findings_.refuse(FilePlace{file_.file, 1, FilePlace::Unit::line},
                                     fmt::format("layer {} is named", layer),
                                     fmt::format("(there are {} layers, from 0) correct it", count));
        for (auto const layer : file_.recompute_from)
            if (std::none_of(file_.checkpoints.begin(), file_.checkpoints.end(),
                             [&](std::int64_t c) { return c <= layer; }))
                findings_.refuse(FilePlace{file_.file, 1, FilePlace::Unit::line},
                                 fmt::format("layer {} initiates recomputing", layer),
                                 "(no checkpoint comes before it) add one");
    }

    TextFile text_;
    Fields fields_;
    Findings& findings_;
    LayerFile file_;
};

}  // namespace

char const* name_of(LayerGroup group) {
    constexpr std::array<char const*, layer_group_count> names = {"TP", "DP", "EP", "DP_EP"};
    return names[static_cast<std::size_t>(group)];
}

bool is_layer_policy(std::string_view word) {
    return policy_named(word).has_value();
}

LayerFile read_layer_file(std::filesystem::path const& path, Findings& findings) {
    return LayerReader(path, findings).read();
}

}  // namespace orrery

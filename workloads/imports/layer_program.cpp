// SPDX-License-Identifier: Apache-2.0
// The order in which ASTRA-sim and SimAI go through layers (Workload.cc of both): forward, then backward from the last
// layer, with collectives that block or overlap as the policy says.
#include "workloads/imports/layer_schedule.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace orrery {
namespace {

enum class Wait : std::uint8_t { blocking, overlapped };
using TaskNumber = std::optional<std::uint32_t>;

class ProgramMaker {
  public:
    ProgramMaker(LayerFile const& file, LayerGroups const& groups, LayerRules const& rules, Findings& findings)
        : file_(file), groups_(groups), rules_(rules), findings_(findings), updated_(file.layers.size()) {
        program_.labels = {""};
    }

    LayerProgram make() {
        for (std::uint32_t pass = 0; pass < rules_.passes; ++pass) {
            if (file_.policy == LayerPolicy::micro) {
                micro();
            } else {
                forward();
                backward();
            }
        }
        program_.program = builder_.build();
        return std::move(program_);
    }

  private:
    // One after the other: each line is a test of its own.
    void micro() {
        for (auto const& layer : file_.layers) communicate(layer, "wg", layer.weight_gradient.comm, Wait::blocking);
    }

    void forward() {
        TaskNumber embedding;
        for (std::size_t i = 0; i < file_.layers.size(); ++i) {
            auto const& layer = file_.layers[i];
            wait_for(updated_[i]);  // the weights of the step before
            auto const done = forward_layer(layer);
            // DLRM: the exchange of embeddings runs beside the bottom layers, and the top layers need it.
            if (file_.policy != LayerPolicy::dlrm) continue;
            if (i == 0) embedding = done;
            if (static_cast<std::int64_t>(i) == file_.last_bottom_layer) wait_for(embedding);
        }
    }

    TaskNumber forward_layer(Layer const& layer) {
        compute(layer, "fwd", layer.forward.compute_ns);
        if (layer.policy == LayerPolicy::data) return {};
        bool const overlaps = file_.policy == LayerPolicy::dlrm;
        return communicate(layer, "fwd", layer.forward.comm, overlaps ? Wait::overlapped : Wait::blocking);
    }

    void backward() {
        for (auto i = file_.layers.size(); i-- > 0;) {
            recompute(i);
            switch (file_.layers[i].policy) {
                case LayerPolicy::data:
                    weight_gradient(i);
                    if (i > 0) compute(file_.layers[i], "ig", file_.layers[i].input_gradient.compute_ns);
                    break;
                case LayerPolicy::dlrm:
                    weight_gradient(i);
                    if (i > 0) compute(file_.layers[i], "ig", file_.layers[i].input_gradient.compute_ns);
                    // What the top layers give back to the embeddings.
                    if (static_cast<std::int64_t>(i) == file_.last_bottom_layer + 1)
                        embedding_gradient_ =
                            communicate(file_.layers[0], "ig", file_.layers[0].input_gradient.comm, Wait::overlapped);
                    if (i == 1) wait_for(embedding_gradient_);
                    break;
                case LayerPolicy::transformer:
                case LayerPolicy::transformer_recomputing:
                    input_gradient(i, Wait::blocking);
                    weight_gradient(i);
                    break;
                default:  // the collective of the input gradient runs beside the weight gradient
                    auto const exchange = input_gradient(i, Wait::overlapped);
                    weight_gradient(i);
                    wait_for(exchange);
            }
        }
    }

    // From the checkpoint at or before the layer up to it, where recomputing starts there.
    void recompute(std::size_t layer) {
        auto const& starts = file_.recompute_from;
        if (std::find(starts.begin(), starts.end(), static_cast<std::int64_t>(layer)) == starts.end()) return;
        std::int64_t from = 0;
        for (auto const checkpoint : file_.checkpoints)
            if (checkpoint <= static_cast<std::int64_t>(layer)) from = std::max(from, checkpoint);
        for (auto i = static_cast<std::size_t>(from); i <= layer; ++i) forward_layer(file_.layers[i]);
        findings_.contains("layers computed again from a checkpoint", static_cast<std::int64_t>(layer) - from + 1);
    }

    TaskNumber input_gradient(std::size_t i, Wait wait) {
        auto const& layer = file_.layers[i];
        compute(layer, "ig", layer.input_gradient.compute_ns);
        if (i == 0 && wait == Wait::overlapped) return {};  // nobody is there to need it
        return communicate(layer, "ig", layer.input_gradient.comm, wait);
    }

    void weight_gradient(std::size_t i) {
        auto const& layer = file_.layers[i];
        compute(layer, "wg", layer.weight_gradient.compute_ns);
        updated_[i] = {};
        if (layer.policy == LayerPolicy::model) return;
        updated_[i] = communicate(layer, "wg", layer.weight_gradient.comm, Wait::overlapped);
        if (!updated_[i] || layer.update_ns == 0) return;
        // The update of the weights delays who needs them, and holds no unit.
        ScheduleTask const update{.kind = TaskKind::compute,
                                  .label = label(layer, "update"),
                                  .duration = Time::from_ps(layer.update_ns * 1000)};
        auto const number = builder_.add(update);
        builder_.require(number, *updated_[i]);
        updated_[i] = number;
    }

    void compute(Layer const& layer, std::string_view phase, std::int64_t ns) {
        if (ns == 0) return;
        add({.kind = TaskKind::compute,
             .stream = 0,
             .label = label(layer, phase),
             .duration = Time::from_ps(ns * 1000)},
            Wait::blocking);
        findings_.contains("compute phases");
    }

    TaskNumber communicate(Layer const& layer, std::string_view phase, LayerComm const& comm, Wait wait) {
        TaskNumber last;
        auto const& kind = groups_[static_cast<std::size_t>(comm.group)];
        for (auto const op : comm.ops) {
            if (kind.size() < 2 || comm.bytes == 0) {
                findings_.ignores(kind.size() < 2 ? fmt::format("{} over {} groups of one member (nothing to do)",
                                                                name_of(op), name_of(comm.group))
                                                  : fmt::format("{} of 0 bytes", name_of(op)),
                                  {file_.file, layer.line, FilePlace::Unit::line});
                continue;
            }
            bool const of_one = op == CollectiveOp::all_gather && rules_.gather == GatherSize::of_one;
            auto const algorithm = rules_.algorithms.find(op);
            program_.slots.push_back({op, comm.group, of_one ? comm.bytes * kind.size() : comm.bytes,
                                      algorithm == rules_.algorithms.end() ? std::string{} : algorithm->second});
            // Collectives of one communicator follow each other in the order in which they are issued.
            ScheduleTask const task{.kind = TaskKind::collective,
                                    .stream = static_cast<std::uint16_t>(1 + static_cast<int>(comm.group)),
                                    .label = label(layer, phase),
                                    .peer = static_cast<std::uint32_t>(program_.slots.size() - 1)};
            auto const number = add(task, wait);
            if (last) builder_.require(number, *last);
            last = number;
            findings_.contains(fmt::format("{} over {} groups of {}", name_of(op), name_of(comm.group), kind.size()));
        }
        return last;
    }

    std::uint32_t add(ScheduleTask const& task, Wait wait) {
        auto const number = builder_.add(task);
        if (cursor_) builder_.require(number, *cursor_);
        for (auto const on : waits_) builder_.require(number, on);
        if (wait == Wait::blocking) {
            waits_.clear();
            cursor_ = number;
        }
        return number;
    }

    // Whatever is added from here on comes after it.
    void wait_for(TaskNumber const& task) {
        if (task) waits_.push_back(*task);
    }

    std::uint32_t label(Layer const& layer, std::string_view phase) {
        auto text = fmt::format("{} {}", layer.name, phase);
        auto const [entry, fresh] = labels_.try_emplace(text, static_cast<std::uint32_t>(program_.labels.size()));
        if (fresh) program_.labels.push_back(std::move(text));
        return entry->second;
    }

    LayerFile const& file_;
    LayerGroups const& groups_;
    LayerRules const& rules_;
    Findings& findings_;
    LayerProgram program_;
    ProgramBuilder builder_;
    TaskNumber cursor_;                 // the last that what follows waits for
    std::vector<std::uint32_t> waits_;  // and these
    std::vector<TaskNumber> updated_;   // per layer: its weights are those of the next step
    TaskNumber embedding_gradient_;
    std::unordered_map<std::string, std::uint32_t> labels_;
};

}  // namespace

LayerProgram layer_program(LayerFile const& file, LayerGroups const& groups, LayerRules const& rules,
                           Findings& findings) {
    return ProgramMaker(file, groups, rules, findings).make();
}

}  // namespace orrery

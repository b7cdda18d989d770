// SPDX-License-Identifier: Apache-2.0
// Text workloads of layers: SimAI and AICB, and those of ASTRA-sim 1.
#include "workloads/imports/astra_system.hpp"
#include "workloads/imports/import.hpp"
#include "workloads/imports/layer_schedule.hpp"
#include "workloads/imports/text_file.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

bool is_transformer(LayerPolicy policy) {
    return policy == LayerPolicy::transformer || policy == LayerPolicy::transformer_recomputing;
}

class LayerImport {
  public:
    LayerImport(std::filesystem::path const& path, ImportOptions const& options, Findings& findings)
        : options_(options), findings_(findings), file_(read_layer_file(path, findings)) {
        header_ = FilePlace{file_.file, 1, FilePlace::Unit::line};
    }

    std::unique_ptr<Schedule> schedule() {
        auto const sizes = parallel_sizes();
        findings_.raise_if_any();
        auto groups = layer_groups(sizes);
        auto const gather = is_transformer(file_.policy) ? GatherSize::of_all : GatherSize::of_one;
        check_gathers(gather, sizes.ranks);
        auto program = layer_program(
            file_, groups, {options_.passes, gather, read_astra_system(options_.system, findings_).algorithms},
            findings_);
        findings_.contains("layers", static_cast<std::int64_t>(file_.layers.size()));
        say_what_is_taken(sizes, gather);
        return std::make_unique<LayerSchedule>(std::move(program), std::move(groups), sizes.ranks);
    }

  private:
    std::uint32_t there() const { return std::max(options_.ranks, options_.available); }

    ParallelSizes parallel_sizes() {
        auto const ranks = file_.ranks > 0 ? file_.ranks : options_.ranks > 0 ? options_.ranks : options_.available;
        ORRERY_VALIDATE(ranks > 0,
                        "{}: the number of ranks is not known (the header has no all_gpus) give the number of ranks",
                        file_.file);
        if (there() > 0 && ranks > there())
            findings_.refuse(header_, fmt::format("all_gpus is {}", ranks),
                             fmt::format("(there are {} ranks) use a larger fabric", there()));
        std::int64_t tensor = 1, data = 1, pipeline = 1;
        auto const expert = std::max<std::int64_t>(1, file_.expert);
        switch (file_.policy) {
            case LayerPolicy::transformer:
            case LayerPolicy::transformer_recomputing:
                tensor = file_.tensor > 0 ? file_.tensor : ranks;
                pipeline = std::max<std::int64_t>(1, file_.pipeline);
                break;
            case LayerPolicy::model:
                tensor = ranks;
                break;
            case LayerPolicy::data:
                break;
            case LayerPolicy::micro:
            case LayerPolicy::dlrm:
                return everyone(ranks);
            default:
                return by_dimension(ranks);
        }
        if (ranks % (tensor * pipeline) != 0) {
            findings_.refuse(
                header_, fmt::format("{} ranks with model_parallel_NPU_group {} and pp {}", ranks, tensor, pipeline),
                fmt::format("(the product {} does not divide the ranks) use {} or {} ranks", tensor * pipeline,
                            ranks / (tensor * pipeline) * (tensor * pipeline),
                            (ranks / (tensor * pipeline) + 1) * (tensor * pipeline)));
            return {};
        }
        data = ranks / (tensor * pipeline);
        if (data % expert != 0) {
            findings_.refuse(header_, fmt::format("ep is {} and the data-parallel size {}", expert, data),
                             fmt::format("(ep must divide {} ranks / {} / {}) correct it", ranks, tensor, pipeline));
            return {};
        }
        return sizes(ranks, tensor, data, pipeline, expert);
    }

    static ParallelSizes sizes(std::int64_t ranks, std::int64_t tensor, std::int64_t data, std::int64_t pipeline,
                               std::int64_t expert) {
        auto const small = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
        return {small(ranks), small(tensor), small(data), small(pipeline), small(expert)};
    }

    // All ranks are one group, for activations as for weights.
    ParallelSizes everyone(std::int64_t ranks) {
        for (auto& layer : file_.layers)
            for (auto* phase : {&layer.forward, &layer.input_gradient, &layer.weight_gradient})
                phase->comm.group = LayerGroup::tensor;
        return sizes(ranks, ranks, 1, 1, 1);
    }

    // HYBRID_DATA_MODEL is data-parallel in the first dimension of the topology and model-parallel in the others,
    // HYBRID_MODEL_DATA the other way round.
    ParallelSizes by_dimension(std::int64_t ranks) {
        auto const first = static_cast<std::int64_t>(options_.first_dimension);
        bool const divides = first > 0 && ranks % first == 0;
        if (!divides)
            findings_.refuse(header_, "the policy needs the size of the first dimension of the topology",
                             first == 0
                                 ? "(HYBRID_DATA_MODEL and HYBRID_MODEL_DATA form groups by dimension) give it "
                                   "as first_dimension"
                                 : fmt::format("({} does not divide {} ranks) correct first_dimension", first, ranks));
        if (std::any_of(file_.layers.begin(), file_.layers.end(),
                        [&](Layer const& layer) { return layer.policy != file_.layers.front().policy; }) ||
            file_.policy == LayerPolicy::data_model) {
            findings_.refuse(header_, "groups of several shapes",
                             "(only HYBRID_MODEL_DATA has the groups of a transformer: tensor-parallel ranks next to "
                             "each other) use HYBRID_MODEL_DATA, or HYBRID_TRANSFORMER with model_parallel_NPU_group");
        }
        return divides ? sizes(ranks, first, ranks / first, 1, 1) : ParallelSizes{};
    }

    void check_gathers(GatherSize gather, std::uint32_t ranks) {
        if (gather == GatherSize::of_all) return;
        for (auto const& layer : file_.layers)
            for (auto const* phase : {&layer.forward, &layer.input_gradient, &layer.weight_gradient})
                if (phase->comm.bytes > std::numeric_limits<std::int64_t>::max() / ranks)
                    findings_.refuse({file_.file, layer.line, FilePlace::Unit::line},
                                     fmt::format("a collective of {} bytes per rank", phase->comm.bytes),
                                     "(too large) correct it");
        findings_.raise_if_any();
    }

    void say_what_is_taken(ParallelSizes const& sizes, GatherSize gather) {
        if (is_transformer(file_.policy)) {
            findings_.assumes(
                fmt::format("groups as SimAI makes them: TP {} (consecutive ranks), DP {} (every {}th rank), EP {} "
                            "(one rank of each "
                            "of {} consecutive TP groups), DP_EP {}; collectives without a suffix are over the TP "
                            "group forward and "
                            "for input gradients, over the DP group for weight gradients",
                            sizes.tensor, sizes.data, sizes.tensor * sizes.pipeline, sizes.expert, sizes.expert,
                            sizes.data / sizes.expert));
        } else {
            findings_.assumes("every collective is over all ranks of its policy's group");
        }
        if (file_.ranks > 0 && there() > sizes.ranks)
            findings_.assumes(
                fmt::format("all_gpus is {}: {} of {} ranks are idle, and the time does not depend on "
                            "them",
                            sizes.ranks, there() - sizes.ranks, there()));
        findings_.assumes(gather == GatherSize::of_all
                              ? "sizes are buffers of one rank, all that an all-gather collects included (SimAI)"
                              : "the size of an all-gather is what one rank gives (ASTRA-sim)");
        findings_.assumes("times are nanoseconds; collectives of one group follow each other in order of issue");
        if (file_.policy == LayerPolicy::micro) findings_.assumes("lines of MICRO run one after the other");
        if (file_.virtual_pipeline > 1 || file_.accumulation > 1)
            findings_.assumes(
                fmt::format("vpp {} and ga {} are in the lines already: AICB writes every layer of a stage "
                            "and every micro-batch out",
                            file_.virtual_pipeline, file_.accumulation));
        if (sizes.pipeline > 1) {
            auto const rounds =
                std::max<std::int64_t>(1, file_.virtual_pipeline) * std::max<std::int64_t>(1, file_.accumulation);
            findings_.ignores(
                fmt::format("pipeline: {} stages run the same lines side by side; the bubble, (pp-1)/(vpp ga) "
                            "= {}/{} of a stage's time, and 2 vpp ga messages of {} bytes between stages "
                            "are left out, as in SimAI's packet back end",
                            sizes.pipeline, sizes.pipeline - 1, rounds, file_.pipeline_bytes),
                header_);
        }
    }

    ImportOptions const& options_;
    Findings& findings_;
    LayerFile file_;
    FilePlace header_;
};

bool is_layers(std::filesystem::path const&, std::string_view head) {
    LineWords lines(head);
    auto const first = lines.next();
    if (first.empty() || !is_layer_policy(first.front())) return false;
    auto const second = lines.next();
    return !second.empty() && whole_number(second.front());
}

ImporterRegistration const registered{
    {.name = "layers",
     .title = "text workload of layers (SimAI, AICB, ASTRA-sim 1)",
     .recognises = is_layers,
     .read = [](std::filesystem::path const& path, ImportOptions const& options, Findings& findings) {
         return LayerImport(path, options, findings).schedule();
     }}};

}  // namespace
}  // namespace orrery

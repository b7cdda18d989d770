// SPDX-License-Identifier: Apache-2.0
// Kind file: a topology of another simulator, by what the file holds.
#include "core/check.hpp"
#include "netmodels/topology/files/topology_files.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace orrery {
namespace {

std::string format_of(TopologyText const& file) {
    auto const& first = file.lines().front();
    auto const word = first.words.front();
    if (word.front() == '{') return "astra_dims";
    if (word.find(':') != std::string_view::npos) return "astra";
    if (word.front() >= '0' && word.front() <= '9') return first.words.size() >= 5 ? "simai" : "hpcc";
    if (word == "Nodes" || word == "Tiers" || word == "Podsize") return "htsim";
    file.refuse(first,
                fmt::format("'{}' begins no format that is known (hpcc, simai, htsim, astra, astra_dims); name it "
                            "in fabric.file.format",
                            word));
}

std::unique_ptr<Fabric> make_file_fabric(scenario::FabricSpec const& spec, std::uint64_t seed) {
    auto const& given = spec.file();
    std::ifstream stream(given.path(), std::ios::binary);
    ORRERY_VALIDATE(stream.good(), "fabric.file.path: {} cannot be read; check the name", given.path());
    TopologyText const file(std::filesystem::path(given.path()).filename().string(),
                            std::string(std::istreambuf_iterator<char>(stream), {}));
    auto const strictness = given.lenient() ? Strictness::lenient : Strictness::strict;
    auto const injection = Time::from_ps(given.injection_latency());
    auto const format = given.format() == "auto" ? format_of(file) : given.format();
    auto const graph = [&](StoredGraph read) {
        return make_graph_fabric(std::move(read),
                                 {.kind = "file",
                                  .seed = seed,
                                  .balancing = balancing_of(given.load_balancing(), "fabric.file.load_balancing"),
                                  .injection_latency = injection});
    };
    auto const product = [&](ProductShape shape) {
        shape.injection_latency = injection;
        return std::make_unique<ProductFabric>(std::move(shape), seed);
    };
    if (format == "hpcc" || format == "simai") return graph(read_ns3_topology(file, strictness));
    if (format == "htsim") return graph(read_htsim_topology(file, strictness));
    if (format == "astra") return product(read_astra_network(file, strictness));
    ORRERY_VALIDATE(format == "astra_dims",
                    "fabric.file.format is '{}' (unknown); use hpcc, simai, htsim, astra or astra_dims", format);
    return product(
        read_astra_dimensions(file, Rate::from_bits_per_s(given.link_rate()), Time::from_ps(given.link_latency())));
}

FabricRegistration const registered{"file", make_file_fabric};

}  // namespace
}  // namespace orrery

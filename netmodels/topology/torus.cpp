// SPDX-License-Identifier: Apache-2.0
// Torus and mesh of any number of dimensions: every rank at a router with links to its neighbours.
#include "netmodels/topology/product_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

namespace orrery {
namespace {

std::unique_ptr<Fabric> make_grid(scenario::Grid const& spec, std::string kind, ProductDimension::Kind joined,
                                  std::uint64_t seed) {
    ProductShape shape{.kind = kind,
                       .dimensions = {},
                       .ranks_per_router = 1,
                       .injection_rate = Rate::from_bits_per_s(spec.injection_rate()),
                       .injection_latency = Time::from_ps(spec.injection_latency()),
                       .ejection_latency = {}};
    for (auto const size : grid_shape(spec.shape(), "fabric." + kind + ".shape"))
        shape.dimensions.push_back({.kind = joined,
                                    .size = size,
                                    .lanes = spec.lanes(),
                                    .rate = Rate::from_bits_per_s(spec.link_rate()),
                                    .latency = Time::from_ps(spec.link_latency())});
    return std::make_unique<ProductFabric>(std::move(shape), seed);
}

FabricRegistration const torus{"torus", [](scenario::FabricSpec const& spec, std::uint64_t seed) {
                                   return make_grid(spec.torus(), "torus", ProductDimension::Kind::ring, seed);
                               }};
FabricRegistration const mesh{"mesh", [](scenario::FabricSpec const& spec, std::uint64_t seed) {
                                  return make_grid(spec.mesh(), "mesh", ProductDimension::Kind::line, seed);
                              }};

}  // namespace
}  // namespace orrery

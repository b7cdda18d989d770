// SPDX-License-Identifier: Apache-2.0
// HyperX (Ahn et al., SC 2009): routers in a grid, each line of it joined all to all, several ranks at each router.
#include "netmodels/topology/product_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

namespace orrery {
namespace {

FabricRegistration const registered{
    "hyperx", [](scenario::FabricSpec const& given, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        auto const& spec = given.hyperx();
        auto const host = Time::from_ps(spec.host_latency());
        ProductShape shape{.kind = "hyperx",
                           .dimensions = {},
                           .ranks_per_router = spec.hosts_per_router(),
                           .injection_rate = Rate::from_bits_per_s(spec.host_rate()),
                           .injection_latency = host,
                           .ejection_latency = host};
        for (auto const size : grid_shape(spec.shape(), "fabric.hyperx.shape"))
            shape.dimensions.push_back({.kind = ProductDimension::Kind::full,
                                        .size = size,
                                        .lanes = spec.lanes(),
                                        .rate = Rate::from_bits_per_s(spec.link_rate()),
                                        .latency = Time::from_ps(spec.link_latency())});
        return std::make_unique<ProductFabric>(std::move(shape), seed);
    }};

}  // namespace
}  // namespace orrery

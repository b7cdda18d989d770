// SPDX-License-Identifier: Apache-2.0
// Products of rings, lines, switches and full meshes, as ASTRA-sim names the dimensions of its networks.
#include "core/check.hpp"
#include "netmodels/topology/product_fabric.hpp"
#include "netmodels/topology/registry.hpp"
#include "proto/scenario.pb.h"

namespace orrery {
namespace {

ProductDimension::Kind kind_of(std::string const& type, int number) {
    if (type == "ring") return ProductDimension::Kind::ring;
    if (type == "line") return ProductDimension::Kind::line;
    if (type == "switch") return ProductDimension::Kind::switched;
    ORRERY_VALIDATE(type == "fully_connected",
                    "fabric.dimensions.dims[{}].type is '{}' (unknown); use ring, line, switch or fully_connected",
                    number, type);
    return ProductDimension::Kind::full;
}

FabricRegistration const registered{
    "dimensions", [](scenario::FabricSpec const& spec, std::uint64_t seed) -> std::unique_ptr<Fabric> {
        ProductShape shape{.kind = "dimensions",
                           .dimensions = {},
                           .ranks_per_router = 1,
                           .injection_rate = {},
                           .injection_latency = Time::from_ps(spec.dimensions().injection_latency()),
                           .ejection_latency = {}};
        auto const& dims = spec.dimensions().dims();
        for (int i = 0; i < dims.size(); ++i)
            shape.dimensions.push_back({.kind = kind_of(dims[i].type(), i),
                                        .size = dims[i].size(),
                                        .lanes = dims[i].lanes(),
                                        .rate = Rate::from_bits_per_s(dims[i].rate()),
                                        .latency = Time::from_ps(dims[i].latency())});
        return std::make_unique<ProductFabric>(std::move(shape), seed);
    }};

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// ASTRA-sim's networks of dimensions: "topology: [ Ring, Switch ]" and three more lists, or sizes alone in JSON.
#include "core/check.hpp"
#include "netmodels/topology/files/topology_files.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery {
namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

struct List {
    TopologyText::Line line;
    std::vector<std::string_view> items;
};

// The items between brackets, over as many words as they take; commas and quotes part them.
std::vector<std::string_view> items_of(TopologyText const& file, TopologyText::Line const& line,
                                       std::string_view text) {
    auto const begin = text.find('['), end = text.find(']');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        file.refuse(line, "a list in brackets is expected, on one line; write it like [ 8, 2 ]");
    std::vector<std::string_view> items;
    text = text.substr(begin + 1, end - begin - 1);
    constexpr auto between = " \t\r\n,\"'";
    while (true) {
        auto const first = text.find_first_not_of(between);
        if (first == std::string_view::npos) return items;
        text.remove_prefix(first);
        auto const length = std::min(text.find_first_of(between), text.size());
        items.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
}

std::map<std::string, List, std::less<>> lists_of(TopologyText const& file, Strictness strictness,
                                                  std::vector<std::string>& notes) {
    std::map<std::string, List, std::less<>> lists;
    for (auto const& line : file.lines()) {
        auto const* const begin = line.words.front().data();
        auto const* const end = line.words.back().data() + line.words.back().size();
        std::string_view const text(begin, static_cast<std::size_t>(end - begin));
        auto const colon = text.find(':');
        auto const key = text.substr(0, colon);
        bool const known = key == "topology" || key == "npus_count" || key == "bandwidth" || key == "latency";
        if (colon == std::string_view::npos || (!known && strictness == Strictness::strict))
            file.refuse(line, fmt::format("'{}' is unknown (topology, npus_count, bandwidth and latency are expected); "
                                          "remove it, or read the file with lenient: true",
                                          key));
        if (!known) {
            notes.push_back(fmt::format("{}: {} is not used", file.place(line), key));
            continue;
        }
        bool const fresh = lists.emplace(key, List{line, items_of(file, line, text.substr(colon + 1))}).second;
        if (!fresh) file.refuse(line, fmt::format("{} stands here twice; remove one", key));
    }
    return lists;
}

ProductDimension::Kind kind_of(TopologyText const& file, TopologyText::Line const& line, std::string_view name) {
    if (name == "Ring") return ProductDimension::Kind::ring;
    if (name == "Switch") return ProductDimension::Kind::switched;
    if (name == "FullyConnected") return ProductDimension::Kind::full;
    file.refuse(line,
                fmt::format("'{}' is no kind of dimension (Ring, Switch and FullyConnected are); correct it", name));
}

ProductShape shape_of_file() {
    ProductShape shape;
    shape.kind = "file";
    return shape;
}

}  // namespace

ProductShape read_astra_network(TopologyText const& file, Strictness strictness) {
    auto shape = shape_of_file();
    auto const lists = lists_of(file, strictness, shape.notes);
    auto const list = [&](char const* key) -> List const& {
        auto const found = lists.find(key);
        ORRERY_VALIDATE(found != lists.end(), "{}: {} is missing (every dimension needs one); add it", file.name(),
                        key);
        return found->second;
    };
    auto const &kinds = list("topology"), &sizes = list("npus_count"), &rates = list("bandwidth"),
               &latencies = list("latency");
    for (auto const* other : {&sizes, &rates, &latencies})
        if (other->items.size() != kinds.items.size())
            file.refuse(other->line, fmt::format("{} values for {} dimensions; give one for each", other->items.size(),
                                                 kinds.items.size()));
    for (std::size_t d = 0; d < kinds.items.size(); ++d) {
        auto const giga = file.number(rates.line, rates.items[d], "the bandwidth");
        auto const latency = latencies.items[d] == "0" || latencies.items[d] == "0.0"
                                 ? 0
                                 : file.number(latencies.line, latencies.items[d], "the latency");
        auto const size = file.count(sizes.line, sizes.items[d], "the number of NPUs");
        if (size == 0) file.refuse(sizes.line, "a dimension of no NPUs; give it one or more");
        if (giga * gibi * 8 > 1e15 || latency > 1e9)
            file.refuse(rates.line, "a dimension of more than 125 TB/s, or of more than 1 s; correct it");
        shape.dimensions.push_back({.kind = kind_of(file, kinds.line, kinds.items[d]),
                                    .size = size,
                                    .lanes = 1,
                                    .rate = Rate::from_bits_per_s(std::llround(giga * gibi * 8)),
                                    .latency = Time::from_ps(std::llround(latency * 1e3))});
        shape.notes.push_back(fmt::format("dimension {}: 1 GB is 2^30 bytes in ASTRA-sim: {} GB/s is {:.3f} GB/s", d,
                                          rates.items[d], giga * gibi * 1e-9));
    }
    return shape;
}

ProductShape read_astra_dimensions(TopologyText const& file, Rate rate, Time latency) {
    auto shape = shape_of_file();
    auto const& first = file.lines().front();
    auto const key = file.text().find("\"logical-dims\"");
    if (key == std::string::npos) file.refuse(first, "no \"logical-dims\" (a list of sizes is expected); add it");
    for (auto const item : items_of(file, first, std::string_view(file.text()).substr(key))) {
        auto const size = file.count(first, item, "the size of a dimension");
        if (size == 0) file.refuse(first, "a dimension of no NPUs; give it one or more");
        shape.dimensions.push_back(
            {.kind = ProductDimension::Kind::switched, .size = size, .lanes = 1, .rate = rate, .latency = latency});
    }
    shape.notes.push_back(fmt::format("{}: sizes alone: each dimension is taken for a switch with links of {} and {}",
                                      file.name(), to_string(rate), to_string(latency)));
    return shape;
}

}  // namespace orrery

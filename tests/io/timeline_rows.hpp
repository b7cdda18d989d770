// SPDX-License-Identifier: Apache-2.0
// A small made-up run, dealt to any number of processes, for the timeline tests.
#pragma once

#include "core/digest.hpp"
#include "core/records.hpp"
#include "io/timeline/manifest.hpp"
#include "io/timeline/part_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace orrery::test {

// A directory that is gone at the end of the test.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        auto pattern = (std::filesystem::temp_directory_path() / "orrery-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp fails");
        path_ = pattern;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(TemporaryDirectory const&) = delete;
    TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
    std::filesystem::path const& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

struct Rows {
    std::vector<OperationRow> operations;
    std::vector<CollectiveRow> collectives;
    std::vector<LinkBinRow> link_bins;
    std::vector<PairRow> pairs;
    std::vector<ExpertLoadRow> expert_loads;
    std::vector<PacketBinRow> packet_bins;
};

inline std::int64_t noise(std::uint64_t x, std::int64_t bound) {
    return static_cast<std::int64_t>(DigestChain::mix(x) % static_cast<std::uint64_t>(bound));
}

inline std::vector<OperationRow> made_up_operations(std::uint32_t ranks, std::uint32_t per_rank) {
    std::vector<OperationRow> rows;
    rows.reserve(std::size_t{ranks} * per_rank);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        Time now;
        for (std::uint32_t n = 0; n < per_rank; ++n) {
            auto const salt = (std::uint64_t{rank} << 32) | n;
            auto const duration = Time::from_ps(50'000'000 + noise(salt, 4) * 1'000'000);  // many equal ends
            rows.push_back({.start = now,
                            .end = now + duration,
                            .wait = Time::from_ps(noise(salt + 1, 1000)),
                            .exposed = Time::from_ps(noise(salt + 2, 1000)),
                            .rank = rank,
                            .sequence = n,
                            .layer = static_cast<std::uint16_t>(n / 6),
                            .kind = static_cast<OpKind>(n % op_kind_count),
                            .microbatch = static_cast<std::uint8_t>(n % 2)});
            now += duration;
        }
    }
    std::ranges::sort(rows, {}, [](auto const& r) { return std::tuple(r.end, r.rank, r.sequence); });
    return rows;
}

// 48 ranks, 12 domains of 5 bundles, 6 groups of 8 ranks; all tables span several chunks but pairs and loads.
inline Rows made_up_run() {
    Rows run;
    run.operations = made_up_operations(48, 1000);
    for (std::uint32_t n = 0; n < 1500; ++n)
        for (std::uint32_t domain = 0; domain < 12; ++domain) {
            auto const at = Time::from_ps((std::int64_t{n} * 7 + domain % 3) * 1'000'000);
            run.collectives.push_back({.first_start = at,
                                       .last_start = at + Time::from_ps(5),
                                       .last_end = at + Time::from_ps(9),
                                       .bound = Time::from_ps(3),
                                       .payload_bytes = noise(n * 12 + domain, 1 << 30),
                                       .group = domain / 2,
                                       .domain = domain,
                                       .sequence = n,
                                       .bound_bundle = domain * 5,
                                       .layer = 3,
                                       .kind = OpKind::combine,
                                       .microbatch = 1});
        }
    std::ranges::sort(run.collectives, {}, [](auto const& r) { return std::tuple(r.last_end, r.domain, r.sequence); });
    for (std::uint32_t bin = 0; bin < 700; ++bin)
        for (std::uint32_t bundle = 0; bundle < 60; ++bundle)
            if (noise(bin * 60 + bundle, 3) > 0) run.link_bins.push_back({bundle, bin, 1 + noise(bin + bundle, 4096)});
    for (std::uint32_t bin = 0; bin < 700; ++bin)
        for (std::uint32_t link = 0; link < 120; ++link)
            if (noise(bin * 120 + link, 3) > 0)
                run.packet_bins.push_back({.link = link,
                                           .bin = bin,
                                           .wire_bytes = noise(bin + link, 4096),
                                           .busy = Time::from_ps(noise(bin, 1000)),
                                           .max_queue_bytes = link,
                                           .marks = bin % 3});
    for (std::uint32_t source = 0; source < 48; ++source)
        for (std::uint32_t target = 0; target < 48; ++target)
            if (source != target) run.pairs.push_back({source, target, source * 100 + target, target});
    for (std::uint32_t group = 0; group < 6; ++group)
        for (std::uint16_t layer = 0; layer < 4; ++layer)
            for (std::uint32_t rank = group * 8; rank < group * 8 + 8; ++rank)
                for (std::uint16_t slot = 0; slot < 3; ++slot)
                    run.expert_loads.push_back({group, rank, layer, slot, slot == 2 ? -1 : slot, rank + layer});
    return run;
}

inline constexpr auto bin_width = Time::from_ps(100'000'000);

// Rows of the made-up run with a time in [from, until); what sums over the run with the last of them.
inline Rows between(Rows const& run, Time from, Time until) {
    auto const inside = [&](Time t) { return from <= t && t < until; };
    auto part = run;
    std::erase_if(part.operations, [&](auto const& r) { return !inside(r.end); });
    std::erase_if(part.collectives, [&](auto const& r) { return !inside(r.last_end); });
    std::erase_if(part.link_bins, [&](auto const& r) { return !inside((r.bin + std::int64_t{1}) * bin_width); });
    std::erase_if(part.packet_bins, [&](auto const& r) { return !inside((r.bin + std::int64_t{1}) * bin_width); });
    if (until < Time::infinity()) {
        part.pairs.clear();
        part.expert_loads.clear();
    }
    return part;
}

// Writes what process `process` of `count` owns: ranks in blocks, domains dealt, pairs and loads by rank.
inline PartSource write_part(std::filesystem::path const& directory, Rows const& run, std::uint32_t p, std::uint32_t n,
                             PartSetup setup = {}) {
    auto const owns_rank = [&](std::uint32_t rank) { return rank * n / 48 == p; };
    auto const owns_domain = [&](std::uint32_t domain) { return domain % n == p; };
    setup.directory = directory;
    setup.process = p;
    setup.processes = n;
    setup.link_bin = bin_width;
    PartWriter part(setup);
    for (auto const& r : run.operations)
        if (owns_rank(r.rank)) part.add(r);
    for (auto const& r : run.collectives)
        if (owns_domain(r.domain)) part.add(r);
    for (auto const& r : run.link_bins)
        if (owns_domain(r.bundle / 5)) part.add(r);
    for (auto const& r : run.packet_bins)
        if (owns_domain(r.link / 10)) part.add(r);
    for (auto const& r : run.pairs)
        if (owns_rank(r.source)) part.add(r);
    for (auto const& r : run.expert_loads)
        if (owns_rank(r.rank)) part.add(r);
    part.close();
    return {part.path()};
}

inline std::vector<PartSource> write_parts(std::filesystem::path const& directory, Rows const& run, std::uint32_t count,
                                           PartSetup setup = {}) {
    std::vector<PartSource> parts;
    for (std::uint32_t p = 0; p < count; ++p) parts.push_back(write_part(directory, run, p, count, setup));
    return parts;
}

inline FabricTables made_up_fabric(std::uint32_t bundles = 60) {
    FabricTables fabric;
    fabric.class_names = {"ub.die-l1.up", "ub.die-l1.down"};
    fabric.domain_names = {"ub", "rdma"};
    fabric.span = Time::from_ps(1'000'000'000);
    fabric.bundle_name = [](std::uint32_t b) { return "sn0.n" + std::to_string(b) + ".up"; };
    for (std::uint32_t b = 0; b < bundles; ++b) {
        fabric.bundles.link_class.push_back(static_cast<std::uint16_t>(b % 2));
        fabric.bundles.domain.push_back(b % 2);
        fabric.bundles.capacity.push_back(Rate::from_bits_per_s(8'000'000'000));
        fabric.bundles.latency.push_back(Time::from_ps(200'000 + b));
        fabric.bundles.members.push_back(7);
        fabric.bundles.wire_bytes.push_back(b % 4 == 1 ? 250'000 : 0);
        fabric.bundles.payload_bytes.push_back(b % 4 == 1 ? 200'000 : 0);
    }
    return fabric;
}

inline Manifest made_up_manifest(int processes) {
    return {.manifest = {{"digest", "00112233445566778899aabbccddeeff"},
                         {"seed", std::int64_t{7}},
                         {"scenario", std::string(200'000, 's')}},
            .run = {{"processes", std::int64_t{processes}}, {"wall_s", 1.5}},
            .summary = {{"step_time_s", 0.0581}}};
}

template <class T>
std::vector<T> read_column(hdf5::Group const& file, std::string const& table, std::string const& column) {
    auto const dataset = file.open_group(table).open_dataset(column);
    std::vector<T> values(dataset.rows());
    dataset.read(0, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace orrery::test

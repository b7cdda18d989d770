// SPDX-License-Identifier: Apache-2.0
// docs/timeline.md tells the truth: its Python example runs as printed and it names every column with its unit.
#include "io/timeline/merge.hpp"
#include "tests/io/timeline_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace orrery {
namespace {

std::string document() {
    std::ifstream file(ORRERY_SOURCE_DIR "/docs/timeline.md");
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

std::string output_of(std::string const& command) {
    auto* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::string out;
    std::array<char, 256> piece;
    while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) out += piece.data();
    return ::pclose(pipe) == 0 ? out : "failed: " + out;
}

TEST(TimelineDocument, ThePythonExampleRunsAsPrinted) {
    if (output_of("/usr/bin/python3 -c 'import h5py'") != "")
        GTEST_SKIP() << "/usr/bin/python3 cannot import h5py (install python3-h5py to run this test)";
    auto const text = document();
    auto const begin = text.find("```python\n") + 10;
    auto const example = text.substr(begin, text.find("```", begin) - begin);
    EXPECT_EQ(std::ranges::count(example, '\n'), 5);

    test::TemporaryDirectory dir;
    auto const run = test::made_up_run();
    merge_parts(test::write_parts(dir.path(), run, 2), dir.path() / "run.h5", test::made_up_manifest(2),
                test::made_up_fabric());
    std::ofstream(dir.path() / "example.py") << example;

    std::int64_t total = 0, count = 0;
    for (auto const& row : run.operations)
        if (row.kind == OpKind::dispatch) {
            total += (row.end - row.start).ps();
            ++count;
        }
    auto const out = output_of(fmt::format("cd {} && /usr/bin/python3 example.py", dir.path().string()));
    EXPECT_EQ(out, fmt::format("mean dispatch: {:.3f} us\nhottest link: sn0.n1.up\n",
                               static_cast<double>(total) / static_cast<double>(count) * 1e-6));
}

TEST(TimelineDocument, EveryColumnIsDescribedWithItsTypeAndUnit) {
    auto const text = document();
    for (auto const& table : timeline_tables())
        for (auto const& column : table.columns) {
            auto const row = fmt::format("| `/{}/{}` | {} | {} |", table.name, column.name,
                                         hdf5::RowType{column.element}.name(), column.unit);
            EXPECT_NE(text.find(row), std::string::npos) << row;
        }
}

TEST(TimelineDocument, EveryFabricAndLinkColumnIsDescribed) {
    test::TemporaryDirectory dir;
    auto fabric = test::made_up_fabric();
    auto& p = fabric.packets;
    for (auto* column : {&p.sent_bytes, &p.busy_ps, &p.paused_ps, &p.marks, &p.drops, &p.max_queue_bytes})
        column->resize(fabric.bundles.size());
    p.queues = {{.link_class = 1, .from_bytes = 4096, .packets = 5}};
    p.bundle_of_link = {0, 0, 1};
    p.trace = {{.time = Time::from_ps(7), .link = 2}};
    p.packet_kinds = {"data"};
    fabric.link_name = [](std::uint32_t link) { return fmt::format("link{}", link); };
    merge_parts(test::write_parts(dir.path(), {}, 1), dir.path() / "run.h5", {}, fabric);
    auto const file = hdf5::File::open(dir.path() / "run.h5", hdf5::ReadMode::closed);
    auto const text = document();
    for (std::string const path : {"fabric/bundles", "links", "queues", "packet_links", "packet_trace"}) {
        auto const group = file.open_group(path);
        EXPECT_FALSE(group.children().empty());
        for (auto const& [name, is_group] : group.children())
            EXPECT_NE(text.find(fmt::format("| `/{}/{}` |", path, name)), std::string::npos) << path << "/" << name;
    }
}

}  // namespace
}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The trace of named links and flows: exact times, bounded, the same however the network was dealt.
#include "tests/netmodels/packet_testing.hpp"

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;

std::vector<Message> incast(std::uint32_t senders, std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t s = 1; s <= senders; ++s) messages.push_back(message(s, 0, bytes));
    return messages;
}

TEST(PacketTrace, FollowsOneFlowOverItsLinksToThePicosecond) {
    PacketSettings settings;
    settings.trace = {.one_flow = true, .source = 0, .target = 63};
    PacketBench const bench(leaf_spine(), settings);
    auto const trace = bench.run({message(0, 63, 2 * 4096), message(1, 62, 4096)}).trace;
    ASSERT_EQ(trace.size(), 8U);
    std::vector<std::int64_t> times;
    for (std::int64_t hop = 0; hop < 4; ++hop)
        for (std::int64_t packet : {0, 1}) times.push_back(packet * ser + hop * (ser + wire));
    std::sort(times.begin(), times.end());
    for (std::size_t i = 0; i < trace.size(); ++i) {
        EXPECT_EQ(trace[i].time.ps(), times[i]);
        EXPECT_EQ(trace[i].source, 0U);
        EXPECT_EQ(trace[i].target, 63U);
        EXPECT_EQ(trace[i].number, i % 2);
        EXPECT_EQ(trace[i].bytes, 4096);
        EXPECT_EQ(trace[i].dropped, 0);
    }
}

TEST(PacketTrace, ShowsQueuesMarksAndDropsOfALink) {
    PacketSettings settings;
    settings.transport = "window";
    settings.port_buffer = 20 * 4096;
    settings.ecn_kmin = 4096;
    settings.ecn_kmax = 8 * 4096;
    settings.trace = {.links = "h00-leaf0.down"};
    PacketBench const bench(leaf_spine(), settings);
    auto const run = bench.run(incast(6, 40 * 4096));
    std::int64_t drops = 0, marks = 0, longest = 0, packets = 0;
    for (auto const& row : run.trace) {
        EXPECT_EQ(bench.fabric().link_name(LinkId{row.link}), "h00-leaf0.down");
        drops += row.dropped, marks += row.dropped ? 0 : row.marked;
        packets += row.dropped ? 0 : 1;
        longest = std::max(longest, row.queue_bytes);
    }
    for (std::uint32_t p = 0; p < bench.compiled().port_count(); ++p) {
        if (bench.fabric().link_name(bench.compiled().link(p)) != "h00-leaf0.down") continue;
        EXPECT_EQ(packets, run.ports[p].packets);
        EXPECT_EQ(drops, run.ports[p].drops);
        EXPECT_EQ(marks, run.ports[p].marks);
    }
    EXPECT_GT(drops, 0);
    EXPECT_GT(marks, 0);
    EXPECT_GT(longest, 10 * 4096);
}

TEST(PacketTrace, ItsFirstRowsAreTheSameOnAnyNumberOfProcessesAndAtAnyWidth) {
    for (auto const* transport : {"none", "dcqcn"}) {
        PacketSettings settings;
        settings.transport = transport;
        settings.trace = {.links = "*leaf*", .limit = 500};
        PacketBench const bench(leaf_spine(), settings);
        auto const alone = bench.run(incast(40, 20'000));
        EXPECT_EQ(alone.trace.size(), 500U);
        for (std::uint32_t const processes : {1U, 2U, 7U})
            EXPECT_EQ(bench.run(incast(40, 20'000), processes, 3, Split::scattered).trace, alone.trace);
        settings.trace = {};
        EXPECT_EQ(PacketBench(leaf_spine(), settings).run(incast(40, 20'000)).last, alone.last);
    }
}

}  // namespace
}  // namespace orrery::testing

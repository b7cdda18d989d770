// SPDX-License-Identifier: Apache-2.0
// What packets meet at each link per time bin: sums that agree with the totals, pauses that are cut at bin ends.
#include "tests/collected_rows.hpp"
#include "tests/netmodels/packet_testing.hpp"
#include "tests/state_bytes.hpp"

#include <map>

namespace orrery::testing {
namespace {

constexpr std::int64_t ser = 81'920;  // ps: 4,096 B at 400 Gb/s
constexpr std::int64_t wire = 500'000;
constexpr std::int64_t bin = 10'000'000;

// Runs to the end, with flushes on the way, at a window width; or goes on in another network every so often.
enum class Go : std::uint8_t { through, from_states };
std::vector<PacketBinRow> bins_of(PacketBench const& bench, std::vector<Message> const& messages,
                                  std::int64_t divisor = 1, Go go = Go::through) {
    auto network = bench.network();
    for (auto const& m : messages) network->offer(m);
    CollectedRows rows;
    auto const width = Time::from_ps(bench.compiled().lookahead().ps() / divisor);
    Time until;
    for (int step = 0; network->next() < Time::infinity(); ++step) {
        auto const window = Window::containing(network->next(), width);
        network->run(window);
        until = window.end;
        if (step % 7 == 0) network->traffic().emit_until(window.begin, rows);
        if (go == Go::through || step % 11 != 0) continue;
        auto const bytes = saved_bytes(*network);
        network = bench.network();
        restore_bytes(*network, bytes);
    }
    network->traffic().emit_until(Time::from_ps((until.ps() / bin + 1) * bin), rows);
    for (std::size_t i = 1; i < rows.packet_bins.size(); ++i) {
        auto const &a = rows.packet_bins[i - 1], &b = rows.packet_bins[i];
        EXPECT_TRUE(a.bin != b.bin ? a.bin < b.bin : a.link < b.link) << "row " << i;
    }
    std::map<std::uint32_t, PacketBinRow> sums;
    for (auto const& row : rows.packet_bins) {
        EXPECT_LE(row.busy.ps(), bin);
        EXPECT_LE(row.paused.ps(), bin);
        auto& sum = sums[row.link];
        sum.wire_bytes += row.wire_bytes;
        sum.busy += row.busy, sum.paused += row.paused;
        sum.max_queue_bytes = std::max(sum.max_queue_bytes, row.max_queue_bytes);
        sum.marks += row.marks, sum.drops += row.drops;
    }
    for (std::uint32_t p = 0; p < bench.compiled().port_count(); ++p) {
        auto const figures = network->figures(p);
        auto const& sum = sums[bench.compiled().link(p).value()];
        EXPECT_EQ(sum.wire_bytes, figures.bytes);
        EXPECT_EQ(sum.paused.ps(), figures.paused_ps);
        EXPECT_EQ(sum.max_queue_bytes, figures.max_queue);
        EXPECT_EQ(sum.marks, figures.marks);
        EXPECT_EQ(sum.drops, figures.drops);
        EXPECT_NEAR(static_cast<double>(sum.busy.ps()), static_cast<double>(figures.busy_ps), 300);
    }
    return rows.packet_bins;
}

bool same(std::vector<PacketBinRow> const& a, std::vector<PacketBinRow> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](PacketBinRow const& x, PacketBinRow const& y) {
        return x.link == y.link && x.bin == y.bin && x.wire_bytes == y.wire_bytes && x.busy == y.busy &&
               x.paused == y.paused && x.max_queue_bytes == y.max_queue_bytes && x.marks == y.marks &&
               x.drops == y.drops;
    });
}

std::vector<Message> incast(std::uint32_t senders, std::int64_t bytes) {
    std::vector<Message> messages;
    for (std::uint32_t s = 1; s <= senders; ++s) messages.push_back(message(s, 0, bytes));
    return messages;
}

PacketSettings settings_of(std::string transport, Lossless lossless) {
    PacketSettings settings;
    settings.transport = std::move(transport);
    settings.lossless = lossless;
    settings.port_buffer = 256 * 1024;
    settings.ecn_kmin = 32 * 1024;
    settings.ecn_kmax = 128 * 1024;
    settings.bin_width = Time::from_ps(bin);
    return settings;
}

TEST(PacketBins, OneFlowFillsItsLinkBinByBin) {
    PacketSettings settings;
    settings.bin_width = Time::from_ps(bin);
    for (bool const queues : {false, true}) {
        settings.keep_queues = queues;
        PacketBench const bench(single_switch(4), settings);
        auto const rows = bins_of(bench, {message(0, 1, 1000 * 4096)});
        // From 0 and from one packet and one wire on; the bins between are full to the picosecond.
        std::map<std::uint32_t, std::vector<Time>> busy;
        for (auto const& row : rows) busy[row.link].push_back(row.busy);
        ASSERT_EQ(busy.size(), 2U);
        for (auto const& [link, times] : busy) {
            ASSERT_EQ(times.size(), 9U);
            for (std::size_t b = 1; b < 8; ++b) EXPECT_EQ(times[b].ps(), bin);
        }
        EXPECT_EQ(busy.begin()->second[0].ps(), bin);
        EXPECT_EQ(busy.rbegin()->second[0].ps(), bin - ser - wire);
    }
}

TEST(PacketBins, SumsAreTheTotalsAndNoWidthOrRestartChangesARow) {
    for (auto const& settings :
         {settings_of("dcqcn", Lossless::pfc), settings_of("window", Lossless::off),
          settings_of("none", Lossless::credit), settings_of("receiver_credit", Lossless::off)}) {
        PacketBench const bench(leaf_spine(), settings);
        auto const messages = incast(24, 300'000);
        auto const rows = bins_of(bench, messages);
        EXPECT_TRUE(same(rows, bins_of(bench, messages, 3))) << settings.transport;
        EXPECT_TRUE(same(rows, bins_of(bench, messages, 1, Go::from_states))) << settings.transport;
        EXPECT_GT(rows.size(), 100U);
    }
}

// A pause that lasts over several bins in which its link does nothing appears in each of them.
TEST(PacketBins, ALongPauseIsCutAtTheEndsOfBins) {
    auto settings = settings_of("none", Lossless::pfc);
    settings.ecn_kmin = settings.ecn_kmax = PacketSettings::unbounded;
    scenario::LeafSpine spec;
    spec.set_hosts(64);
    PacketBench const bench(leaf_spine(spec), settings);
    std::map<std::uint32_t, std::int64_t> whole;
    for (auto const& row : bins_of(bench, incast(48, 600'000)))
        if (row.paused.ps() == bin) ++whole[row.link];
    EXPECT_FALSE(whole.empty());
}

}  // namespace
}  // namespace orrery::testing

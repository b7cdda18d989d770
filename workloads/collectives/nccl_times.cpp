// SPDX-License-Identifier: Apache-2.0
// Fitted to the calibration rows (4 KiB, 64 KiB, 1 MiB, 16 MiB, 256 MiB on all ranks of a node) of NCCL 2.27.3
// and 2.29.2 as measured by ai-dynamo/aiconfigurator, commit 095f58a51 (Apache-2.0).
#include "workloads/collectives/nccl_times.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace orrery {
namespace {

constexpr int sizes = 5;
constexpr std::array<double, sizes> size_of = {4096, 65'536, 1'048'576, 16'777'216, 268'435'456};

// Which elements a row was measured with: those that the switch adds, bytes that it does not, or both alike.
enum class Elements : std::uint8_t { any, adds, bytes };

struct FixedTimes {
    char const* hardware;
    CollectiveOp op;
    Elements elements;
    int with_ll;                   // the first so many sizes were sent with LL
    std::array<double, sizes> us;  // beside the transfer
};

using enum Elements;
constexpr FixedTimes fixed_times[] = {
    // clang-format off
    {"A100", CollectiveOp::all_gather, any, 3, {14.68, 20.3, 15.99, 68.36, 152.33}},
    {"A100", CollectiveOp::all_to_all, any, 0, {14.17, 13.83, 21.76, 47.61, 134.83}},
    {"A100", CollectiveOp::reduce_scatter, any, 3, {14.76, 17.74, 13.48, 67.56, 115.18}},
    {"A100", CollectiveOp::all_reduce, adds, 3, {21.35, 26.75, 17.93, 83.53, 54.95}},
    {"A100", CollectiveOp::all_reduce, bytes, 3, {21.23, 29.58, 19.47, 82.43, 128.95}},
    {"H100", CollectiveOp::all_gather, any, 3, {10.53, 12.7, 10.63, 25.43, 41.36}},
    {"H100", CollectiveOp::all_to_all, any, 0, {7.82, 8.31, 13.07, 31.63, 76.46}},
    {"H100", CollectiveOp::reduce_scatter, any, 3, {10.51, 11.37, 8.3, 26.01, 44.31}},
    {"H100", CollectiveOp::all_reduce, adds, 3, {15.97, 17.87, 12.39, 56.82, 50.63}},
    {"H100", CollectiveOp::all_reduce, bytes, 3, {15.87, 19.26, 14.84, 33.76, 1.65}},
    {"H200", CollectiveOp::all_gather, any, 3, {10.51, 13.52, 11.28, 23.95, 36.89}},
    {"H200", CollectiveOp::all_to_all, any, 0, {10.01, 10.61, 13.77, 30.41, 82.54}},
    {"H200", CollectiveOp::reduce_scatter, any, 3, {10.67, 13.37, 9.4, 26.34, 35.56}},
    {"H200", CollectiveOp::all_reduce, adds, 3, {15.99, 19.08, 13.13, 56.65, 11.16}},
    {"H200", CollectiveOp::all_reduce, bytes, 3, {17.04, 20.59, 14.82, 30.51, -14.74}},
    {"B200", CollectiveOp::all_gather, any, 3, {17.52, 18.83, 15.41, 80.78, 39.13}},
    {"B200", CollectiveOp::all_to_all, any, 0, {12.04, 12.59, 17.44, 28.03, 82.97}},
    {"B200", CollectiveOp::reduce_scatter, any, 3, {16.55, 20.06, 16.32, 76.19, 54.94}},
    {"B200", CollectiveOp::all_reduce, adds, 3, {25.95, 28.61, 23.63, 60.66, 100.86}},
    {"B200", CollectiveOp::all_reduce, bytes, 3, {28.1, 28.84, 22.01, 34.17, 44.65}},
    {"GB200", CollectiveOp::all_gather, any, 3, {11.96, 13.06, 12.41, 40.24, 67.25}},
    {"GB200", CollectiveOp::all_to_all, any, 0, {10.84, 13.22, 16.52, 27.76, 124.3}},
    {"GB200", CollectiveOp::reduce_scatter, any, 3, {11.92, 12.87, 13.9, 37.53, 96.91}},
    {"GB200", CollectiveOp::all_reduce, adds, 3, {16.1, 16.85, 14.08, 57.5, 56.5}},
    {"GB200", CollectiveOp::all_reduce, bytes, 3, {16.14, 17.24, 14.48, 62.67, 84.83}},
    // clang-format on
};

// The part of every fixed time that does not grow with the steps: all-gather and reduce-scatter of n ranks take n-1, an
// all-reduce twice as many, so what is left when the difference is taken off.
double launch_us(std::string const& hardware) {
    double once = 0, twice = 0;
    for (auto const& row : fixed_times) {
        if (hardware != row.hardware) continue;
        if (row.op == CollectiveOp::all_gather || row.op == CollectiveOp::reduce_scatter) once += row.us[0] / 2;
        if (row.op == CollectiveOp::all_reduce) twice += row.us[0] / 2;
    }
    return 2 * once - twice;
}
std::uint32_t measured_members(std::string const& hardware) {
    return hardware == "GB200" ? 4 : 8;
}

FixedTimes const& row_of(NcclHardware const& hardware, NcclQuestion const& q) {
    auto const elements = q.element_bytes == 2 || q.element_bytes == 4 ? adds : bytes;
    for (auto const& row : fixed_times)
        if (hardware.name == row.hardware && q.op == row.op && (row.elements == any || row.elements == elements))
            return row;
    throw InputError(
        fmt::format("{} was not measured on {} (all-reduce, reduce-scatter, all-gather and all-to-all were)",
                    name_of(q.op), hardware.name));
}

// Between the sizes of [first, last), by the logarithm of the size or (all-to-all, whose pipe fills in proportion) by
// the size; constant beyond them.
double between(FixedTimes const& row, int first, int last, double bytes) {
    auto const scale = [&](double x) { return row.op == CollectiveOp::all_to_all ? x : std::log(x); };
    auto const at = [](auto const& values, int i) { return values[static_cast<std::size_t>(i)]; };
    if (bytes <= at(size_of, first)) return at(row.us, first);
    for (int i = first; i + 1 < last; ++i) {
        if (bytes > at(size_of, i + 1)) continue;
        auto const part = (scale(bytes) - scale(at(size_of, i))) / (scale(at(size_of, i + 1)) - scale(at(size_of, i)));
        return at(row.us, i) + part * (at(row.us, i + 1) - at(row.us, i));
    }
    return at(row.us, last - 1);
}

// Simple reaches this share of the wires' rate, as LL128 does by its flags.
constexpr double simple_share = 0.92;

double transfer_us(NcclHardware const& hardware, NcclQuestion const& q, NcclChoice const& choice) {
    if (choice.algorithm == "in_switch") {
        auto const fixed = nccl_options(hardware, {.op = q.op, .members = q.members, .element_bytes = q.element_bytes});
        return (choice.microseconds - fixed.back().microseconds) / simple_share;
    }
    auto const steps = (q.op == CollectiveOp::all_reduce ? 2.0 : 1.0) * (q.members - 1);
    auto const through_port = static_cast<double>(q.bytes) * steps / q.members;
    return through_port / 1e3 /
           (nccl_bandwidth(hardware, choice.protocol) * (choice.protocol == NcclProtocol::simple ? simple_share : 1));
}

}  // namespace

std::string NcclTime::text() const {
    return fmt::format("{} {}: {:.1f} us + {:.1f} us", choice.algorithm, name_of(choice.protocol), fixed_us,
                       transfer_us);
}

NcclTime nccl_time(NcclHardware const& hardware, NcclQuestion const& question) {
    auto const& row = row_of(hardware, question);
    ORRERY_VALIDATE(question.nodes == 1, "{} nodes of {} (times were measured on one node)", question.nodes,
                    hardware.name);
    NcclTime result{.choice = nccl_choice(hardware, question)};
    bool const ll = result.choice.protocol == NcclProtocol::ll;
    auto const bytes = static_cast<double>(question.bytes);
    // Where another protocol takes over from LL, the pipe fills from what LL needed last.
    result.fixed_us =
        ll ? between(row, 0, row.with_ll, bytes) : between(row, std::max(row.with_ll - 1, 0), sizes, bytes);
    if (ll) {
        auto const launch = launch_us(hardware.name);
        result.fixed_us =
            launch + (result.fixed_us - launch) * (question.members - 1.0) / (measured_members(hardware.name) - 1.0);
    }
    result.transfer_us = transfer_us(hardware, question, result.choice);
    return result;
}

}  // namespace orrery

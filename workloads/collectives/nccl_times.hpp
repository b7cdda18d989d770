// SPDX-License-Identifier: Apache-2.0
// How long NCCL takes on measured machines: the tuner's choice, the bandwidth it then has, and fitted fixed times.
#pragma once

#include "workloads/collectives/nccl_tuner.hpp"

namespace orrery {

// T = fixed + bytes through the busiest port / bandwidth of the protocol. The bandwidth follows from published
// constants alone; the fixed part (launch, steps, filling the pipe) is a curve over five sizes per machine and
// operation, fitted to measurements on all ranks of one node. On fewer ranks its part per step is scaled by the number
// of steps while the protocol is LL. See docs/accuracy.md for the errors.
struct NcclTime {
    NcclChoice choice;
    double fixed_us = 0, transfer_us = 0;
    double microseconds() const { return fixed_us + transfer_us; }
    std::string text() const;  // "ring LL: 10.5 us + 0.9 us"
};

// Within one node; all-reduce, reduce-scatter, all-gather and all-to-all. Anything else is an InputError.
NcclTime nccl_time(NcclHardware const& hardware, NcclQuestion const& question);

}  // namespace orrery

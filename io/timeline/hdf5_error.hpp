// SPDX-License-Identifier: Apache-2.0
// Turns a negative return value of HDF5 into an InputError with the innermost reason. Internal to the HDF5 layer.
#pragma once

#include <string>

namespace orrery::hdf5 {

// Stops HDF5 from printing its error stack by itself.
void silence_hdf5();

// The innermost reason on HDF5's error stack; the next call of HDF5 clears it.
std::string innermost_reason();

// Throws "<problem> <where> (<reason>)".
[[noreturn]] void raise_hdf5(char const* problem, std::string const& where,
                             std::string const& reason = innermost_reason());

template <class Status>
Status check(Status status, char const* problem, std::string const& where) {
    if (status < 0) [[unlikely]]
        raise_hdf5(problem, where);
    return status;
}

}  // namespace orrery::hdf5

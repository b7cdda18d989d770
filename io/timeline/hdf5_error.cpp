// SPDX-License-Identifier: Apache-2.0
// Reads HDF5's error stack.
#include "io/timeline/hdf5_error.hpp"

#include "core/check.hpp"

#include <hdf5.h>

namespace orrery::hdf5 {
namespace {

// "unable to open file: name = 'x', errno = 13, error message = 'Permission denied', ..." -> "Permission denied"
std::string essence(std::string const& text) {
    static std::string const marker = "error message = '";
    auto const begin = text.find(marker);
    if (begin == std::string::npos) return text;
    auto const end = text.find('\'', begin + marker.size());
    return text.substr(begin + marker.size(), end - begin - marker.size());
}

}  // namespace

std::string innermost_reason() {
    std::string reason;
    auto const visit = [](unsigned depth, H5E_error2_t const* entry, void* out) -> herr_t {
        if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
    return reason.empty() ? "HDF5 gives no reason" : essence(reason);
}

void silence_hdf5() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void raise_hdf5(char const* problem, std::string const& where, std::string const& reason) {
    throw StorageError(fmt::format("{} {} ({})", problem, where, reason));
}

}  // namespace orrery::hdf5

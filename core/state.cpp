// SPDX-License-Identifier: Apache-2.0
#include "core/state.hpp"

namespace orrery {

void StateStream::bytes(std::span<std::byte> data) {
    if (data.empty()) return;
    if (restoring()) {
        ORRERY_ENSURE(data.size() <= rest_.size(), "a saved state ends {} bytes too early for this program",
                      data.size() - rest_.size());
        std::memcpy(data.data(), rest_.data(), data.size());
        rest_ = rest_.subspan(data.size());
        return;
    }
    if (buffer_.size() + data.size() > buffer_bytes) flush();
    if (data.size() >= buffer_bytes) return sink_->write(data);
    buffer_.insert(buffer_.end(), data.begin(), data.end());
}

// A count that the rest cannot hold is refused before memory is taken for it.
std::size_t StateStream::size(std::size_t present, std::size_t least_bytes_each) {
    auto const count = static_cast<std::size_t>(value(static_cast<std::uint64_t>(present)));
    ORRERY_ENSURE(!restoring() || least_bytes_each == 0 || count <= rest_.size() / least_bytes_each,
                  "a saved state ends before its {} entries", count);
    return count;
}

void StateStream::flush() {
    if (!buffer_.empty()) sink_->write(buffer_);
    buffer_.clear();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Decides when the streamed rows of a process become durable: by wall time and by bytes.
#pragma once

#include "apps/run/limits.hpp"
#include "io/timeline/part_writer.hpp"

#include <cstdint>

namespace orrery {

// At the first window boundary after either is reached.
struct FlushRules {
    double interval_s = 10;
    std::int64_t bytes = std::int64_t{256} << 20;  // of rows added
};

class Flusher {
  public:
    Flusher(PartWriter& part, FlushRules const& rules) : part_(&part), rules_(rules) {}

    // Flushes when it is time to. Every row with a time before `complete_until` has been added.
    void at_window(Time complete_until) {
        auto const bytes = part_->bytes();
        if (clock_.seconds() < next_ && bytes - flushed_bytes_ < rules_.bytes) return;
        WallClock const watch;
        part_->flush(complete_until);
        seconds_ += watch.seconds();
        // After the flush: a slow disk never leaves less than an interval for the run.
        next_ = clock_.seconds() + rules_.interval_s;
        flushed_bytes_ = bytes;
    }

    double seconds() const { return seconds_; }  // spent in flushes

  private:
    PartWriter* part_;
    FlushRules rules_;
    WallClock clock_;
    double next_ = rules_.interval_s;
    std::int64_t flushed_bytes_ = 0;
    double seconds_ = 0;
};

}  // namespace orrery

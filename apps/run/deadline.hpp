// SPDX-License-Identifier: Apache-2.0
// When a run has to stop simulating so that it has ended, files and all, by a wall-clock time.
#pragma once

#include <optional>
#include <string>

namespace orrery {

// "600s" or any other time with its unit, "MM:SS", "HH:MM:SS", "D-HH:MM:SS". InputError that begins with `option`.
double parse_walltime(std::string const& option, std::string const& text);

// Seconds until Slurm ends the job this process runs in; nothing outside a job, or in one without a limit. Newer
// versions of Slurm tell SLURM_JOB_END_TIME, older ones are asked by squeue.
std::optional<double> slurm_seconds_left();

// A process can only leave at the end of a window, and then writes a checkpoint and closes its files. So it asks for
// the end as early as two windows like the longest so far, what writing will cost, and the end of the program need.
class Deadline {
  public:
    // In seconds of the clock that is handed to the other members. Nothing: never due.
    // `ending_s`: what a launcher needs to start and to end the program.
    Deadline(std::optional<double> end_s, double ending_s) : end_s_(end_s), ending_s_(ending_s) {}

    void window_begins(double now) { began_ = now; }
    void window_ended(double now);
    // `slowness`: wall clock that this process needs for one second of CPU; other work on its cores makes it slow.
    bool due(double now, double writing_s, double slowness) const {
        return end_s_ && now + margin(writing_s, slowness) >= *end_s_;
    }
    double margin(double writing_s, double slowness) const;

  private:
    std::optional<double> end_s_;
    double ending_s_, began_ = 0, longest_window_ = 0;
};

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The options that run and resume have in common: how a leg is run, and what ends it.
#pragma once

#include "apps/run/leg.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace orrery {

class LaunchOptions {
  public:
    void add_to(CLI::App& command, LaunchArguments& arguments);
    // After parsing: quantities with their units into the arguments. InputError.
    void apply(LaunchArguments& arguments) const;

  private:
    std::string until_, memory_limit_, walltime_, stall_limit_, hang_limit_, flush_interval_, flush_bytes_,
        checkpoint_interval_, checkpoint_every_;
};

}  // namespace orrery

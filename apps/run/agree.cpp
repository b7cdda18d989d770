// SPDX-License-Identifier: Apache-2.0
#include "apps/run/agree.hpp"

namespace orrery {

void all_or_none(World const& world, std::function<void()> const& work) {
    std::string problem;
    try {
        work();
    } catch (StorageError const& error) {
        problem = fmt::format("s{}", error.what());
    } catch (InputError const& error) {
        problem = fmt::format("u{}", error.what());
    } catch (std::exception const& error) {
        problem = fmt::format("i{}", error.what());
    }
    std::string first;
    for (auto const& text : world.gather(problem))
        if (first.empty()) first = text;
    first = world.broadcast(first);
    if (first.empty()) return;
    if (first.front() == 's') throw StorageError(first.substr(1));
    if (first.front() == 'u') throw InputError(first.substr(1));
    throw InternalError(first.substr(1));
}

}  // namespace orrery

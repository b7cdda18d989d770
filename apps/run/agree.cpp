// SPDX-License-Identifier: Apache-2.0
#include "apps/run/agree.hpp"

#include <new>

namespace orrery {

void all_or_none(World const& world, std::function<void()> const& work) {
    std::string problem;
    try {
        work();
    } catch (StorageError const& error) {
        problem = fmt::format("s{}", error.what());
    } catch (InputError const& error) {
        problem = fmt::format("u{}", error.what());
    } catch (std::bad_alloc const&) {
        problem.assign(1, 'm');
    } catch (std::exception const& error) {
        problem = fmt::format("i{}", error.what());
    }
    std::string first;
    for (auto const& text : world.gather(problem))
        if (first.empty()) first = text;
    first = world.broadcast(first);
    if (first.empty()) return;
    if (first.front() == 'm') throw std::bad_alloc();
    if (first.front() == 's') throw StorageError(first.substr(1));
    if (first.front() == 'u') throw InputError(first.substr(1));
    throw InternalError(first.substr(1));
}

}  // namespace orrery

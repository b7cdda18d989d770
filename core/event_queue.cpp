// SPDX-License-Identifier: Apache-2.0
#include "core/event_queue.hpp"

#include "core/event_queue_impl.hpp"

namespace orrery {

template class EventQueue<TotalOrder>;

}  // namespace orrery

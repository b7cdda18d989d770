// SPDX-License-Identifier: Apache-2.0
#include "netmodels/exchange/message_timing.hpp"

#include <algorithm>

namespace orrery {

// With the shift s, an arrival that is known a ahead, and an answer of h hops (two when it passes through another
// domain):  lookahead <= send_overhead + s   and   h * lookahead <= a + receive_overhead - s.
MessageTiming MessageTiming::make(Wish const& wish) {
    auto const hops = wish.many_domains ? 2 : 1;
    auto const room = wish.known_ahead + wish.receive_overhead;
    auto const even = (room.ps() - hops * wish.send_overhead.ps()) / (hops + 1);
    auto const shift = Time::from_ps(std::max<std::int64_t>(even, 0));
    auto const answer = Time::from_ps((room - shift).ps() / hops);
    auto lookahead = std::min(wish.send_overhead + shift, answer);
    // What one domain tells another of an arrival must be there before it.
    if (wish.many_domains) lookahead = std::min(lookahead, std::max(wish.known_ahead, Time{}));
    return {.send_overhead = wish.send_overhead,
            .receive_overhead = wish.receive_overhead,
            .post = wish.send_overhead + shift,
            .back = wish.receive_overhead - shift,
            .lookahead = lookahead};
}

}  // namespace orrery

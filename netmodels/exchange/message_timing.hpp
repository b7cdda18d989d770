// SPDX-License-Identifier: Apache-2.0
// When ranks and domains tell each other of messages, so that no message is late and every event has its lookahead.
#pragma once

#include "core/units.hpp"

#include <string>

namespace orrery {

// A message sent at t, over a route of latency l, that moves for x, is over at t + send_overhead + x + l +
// receive_overhead for both ends (LogGP, Alexandrov et al., SPAA'95: o_s, x = G k, L, o_r). Its event to the domain and
// those back each need one lookahead. Where the overheads are shorter than that, the domain's clock runs late by
// `shift`, which its answers take off the latency again: everything in the domain is late alike, so nothing in it
// changes, and what a rank sees is exact.
struct MessageTiming {
    Time send_overhead, receive_overhead;
    Time post;       // from the start of a task to its event in the domain: send_overhead + shift
    Time back;       // from an arrival in the domain's clock to its event at a rank: receive_overhead - shift
    Time lookahead;  // both, and what passes between domains, take at least as long

    struct Wish {
        Time send_overhead, receive_overhead;
        Time known_ahead;           // an arrival is known so long before it, or longer; negative: after it
        bool many_domains = false;  // one domain hears of arrivals in another, a lookahead after they are known
    };
    // The split with the longest lookahead.
    static MessageTiming make(Wish const& wish);
};

}  // namespace orrery

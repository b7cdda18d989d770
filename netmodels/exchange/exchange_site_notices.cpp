// SPDX-License-Identifier: Apache-2.0
// What a site tells the others and hears from them: readers that begin, levels, transfers served, parts that are over.
#include "netmodels/exchange/exchange_site.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::uint64_t no_indices = ~std::uint64_t{0};  // four of 0xffff

Time time_in(std::uint64_t word) {
    return Time::from_ps(static_cast<std::int64_t>(word));
}
std::uint64_t word_of(Time time) {
    return static_cast<std::uint64_t>(time.ps());
}

}  // namespace

void ExchangeSite::send(SiteId site, SiteNotice kind, std::array<std::uint64_t, 5> const& body, Outbox& out) {
    if (site == me_) return out.schedule(now_, kind, body);
    out.send(lp_of(site), now_ + setup_.map->notice(), kind, body);
}

// All members have posted, and every site knows it: each finds out when its readers may begin, and tells the others.
void ExchangeSite::announce_all(std::uint32_t slot, Outbox& out) {
    auto const& instance = instances_[slot];
    std::vector<BeginWord> begins;
    for (std::uint32_t m = 0; m < instance.own.size(); ++m) {
        auto const target = instance.first + m;
        if (instance.part->senders_to[target] == 0) continue;
        // Not before the last member has come, even one that does not reach this target in this domain.
        auto met = std::max(now_, instance.peers[target].loop_end);
        for (std::uint32_t source = 0; source < instance.members(); ++source) {
            if (source == target || instance.part->senders_to[source] == 0) continue;
            auto const way = route(instance.key, source, target);
            if (way.domain != site_->domain) continue;
            met = std::max(met, flag_leaves(instance, source, target) + way.latency);
        }
        out.schedule(met, begin_event, {slot, target, 0, 0, 0});
        begins.push_back({target, met});
    }
    for (auto const site : setup_.map->concerned(instance.key.group, site_->domain)) {
        if (site == me_) continue;
        auto const arrival = now_ + setup_.map->notice();
        NoticePacker<1> notice(out, lp_of(site), arrival, begins_notice, {instance.key.pack()});
        for (auto const& begin : begins)
            notice.add(BeginWord{begin.member, std::max(begin.after, arrival) - arrival}.pack());
        notice.flush();
    }
}

void ExchangeSite::hear_begins(Event const& event, Outbox& out) {
    auto const it = open_.find(ExchangeKey::unpack(event.body[0]));
    ORRERY_ENSURE(it != open_.end(), "site {} hears of readers of an exchange that is not open", me_.value());
    for (std::size_t i = 1; i < event.body.size() && event.body[i] != 0; ++i) {
        auto const begin = BeginWord::unpack(event.body[i]);
        out.schedule(now_ + begin.after, begin_event, {it->second, begin.member, 0, 0, 0});
    }
}

void ExchangeSite::want_tell(Outbox& out) {
    if (tell_wanted_ || site_->peers.empty()) return;
    tell_wanted_ = true;
    out.schedule(std::max(now_, next_tell_), tell_event, {});
}

void ExchangeSite::tell(Outbox& out) {
    tell_wanted_ = false;
    auto const arrival = now_ + setup_.map->notice();
    next_tell_ = arrival;
    for (std::uint32_t peer = 0; peer < site_->peers.size(); ++peer) {
        tell_levels(peer, arrival, out);
        tell_served(peer, arrival, out);
    }
    tell_loops(arrival, out);
}

void ExchangeSite::tell_levels(std::uint32_t peer, Time arrival, Outbox& out) {
    NoticePacker<1> notice(out, lp_of(site_->peers[peer]), arrival, levels_notice, {no_indices});
    book_.news_for(
        peer, [this](std::uint32_t index) { return flows_.level(index); },
        [&](std::uint32_t index, std::int64_t level) {
            auto const place = notice.add(static_cast<std::uint64_t>(level));
            notice.body()[0] &= ~(std::uint64_t{0xffff} << 16 * place);
            notice.body()[0] |= std::uint64_t{index} << 16 * place;
        });
    notice.flush();
}

void ExchangeSite::hear_levels(Event const& event, Outbox& out) {
    bool news = false;
    for (std::size_t place = 0; place < 4; ++place) {
        auto const index = static_cast<std::uint32_t>(event.body[0] >> 16 * place) & 0xffff;
        if (index == 0xffff) break;
        news = flows_.hear(sender_of(event), index, static_cast<std::int64_t>(event.body[place + 1])) || news;
    }
    if (news) want_tick(out);
}

void ExchangeSite::tell_served(std::uint32_t peer, Time arrival, Outbox& out) {
    auto& untold = untold_[peer];
    for (auto at = untold.begin(); at != untold.end();) {
        auto const key = at->key;
        NoticePacker<1> notice(out, lp_of(site_->peers[peer]), arrival, served_notice, {key.pack()});
        for (; at != untold.end() && at->key == key; ++at)
            notice.add(ServedWord{at->source, at->target, arrival - at->when}.pack());
        notice.flush();
    }
    untold.clear();
}

void ExchangeSite::hear_served(Event const& event, Outbox& out) {
    auto const key = ExchangeKey::unpack(event.body[0]);
    auto const it = open_.find(key);  // a site that waits for nothing more may have closed it
    for (std::size_t i = 1; i < event.body.size() && event.body[i] != 0; ++i) {
        auto const served = ServedWord::unpack(event.body[i]);
        auto const way = route(key, served.source, served.target);
        book_.served_by(way, sender_of(event));
        if (it != open_.end()) note_served(it->second, served.source, served.target, now_ - served.before, way, out);
    }
    if (it != open_.end()) close_if_over(it->second, out);
}

void ExchangeSite::tell_loops(Time arrival, Outbox& out) {
    for (auto const& [key, slot] : open_) {
        auto& instance = instances_[slot];
        if (instance.plan->loop != ExchangeLoop::overlapped) continue;
        for (std::uint32_t m = 0; m < instance.own.size(); ++m) {
            auto& peer = instance.peers[instance.first + m];
            if (peer.loop == 0) continue;
            auto const level = flows_.loop_level(peer.loop);
            if (!LevelBook::moved(peer.loop_told, level)) continue;
            peer.loop_told = level;
            for (auto const site : setup_.map->concerned(key.group, site_->domain))
                if (site != me_)
                    out.send(lp_of(site), arrival, loop_notice,
                             {key.pack(), instance.first + m, static_cast<std::uint64_t>(level), 0, 0});
        }
    }
}

void ExchangeSite::hear_loop(Event const& event, Outbox& out) {
    auto const it = open_.find(ExchangeKey::unpack(event.body[0]));
    if (it == open_.end()) return;
    auto const& peer = instances_[it->second].peers[event.body[1]];
    if (peer.loop == 0) return;
    flows_.impose_loop(peer.loop, static_cast<std::int64_t>(event.body[2]));
    want_tick(out);
}

void ExchangeSite::send_part(Instance& instance, Outbox& out) {
    auto const bound = charge_ports(instance);
    auto const home = setup_.map->concerned(instance.key.group, site_->domain).front();
    if (home == me_) {  // it has heard every post
        auto const& mine = instance.facts;
        auto& facts = gathered_[instance.key].facts;
        facts.first_start = mine.first_start;
        facts.last_start = mine.last_start;
        facts.longest_loop = mine.longest_loop;
        facts.shortest_loop = mine.shortest_loop;
    }
    send(home, part_notice,
         {instance.key.pack(), word_of(instance.facts.last_end),
          static_cast<std::uint64_t>(instance.facts.payload_bytes), word_of(bound.time), bound.bundle},
         out);
}

void ExchangeSite::hear_part(Event const& event, Outbox& out) {
    auto const key = ExchangeKey::unpack(event.body[0]);
    auto& gathered = gathered_[key];
    auto& facts = gathered.facts;
    facts.last_end = std::max(facts.last_end, time_in(event.body[1]));
    facts.payload_bytes += static_cast<std::int64_t>(event.body[2]);
    // Of equals the lowest bundle, whichever part came first.
    auto const time = time_in(event.body[3]);
    auto const bundle = static_cast<std::uint32_t>(event.body[4]);
    if (time > gathered.ports.time || (time == gathered.ports.time && bundle < gathered.ports.bundle))
        gathered.ports = {time, bundle};
    if (++gathered.parts < setup_.map->concerned(key.group, site_->domain).size()) return;
    auto const home = setup_.map->first_site(site_->domain);
    send(home, instance_times_notice,
         {key.pack(), word_of(facts.first_start), word_of(facts.last_start), word_of(facts.last_end),
          static_cast<std::uint64_t>(facts.payload_bytes)},
         out);
    send(home, instance_bound_notice,
         {key.pack(), word_of(gathered.ports.time), gathered.ports.bundle, word_of(facts.shortest_loop),
          word_of(facts.longest_loop)},
         out);
    gathered_.erase(key);
}

// Rows of a domain come in the order of their last end. That lies a finish after the last member was told, and what is
// known of it takes three notices at most; where a finish is shorter, all rows wait for as long as it may take.
void ExchangeSite::hear_instance(Event const& event, Outbox& out) {
    auto const key = ExchangeKey::unpack(event.body[0]);
    auto& over = over_[key];
    if (event.kind == instance_times_notice) {
        over.facts.first_start = time_in(event.body[1]);
        over.facts.last_start = time_in(event.body[2]);
        over.facts.last_end = time_in(event.body[3]);
        over.facts.payload_bytes = static_cast<std::int64_t>(event.body[4]);
    } else {
        over.ports = {time_in(event.body[1]), static_cast<std::uint32_t>(event.body[2])};
        over.facts.shortest_loop = time_in(event.body[3]);
        over.facts.longest_loop = time_in(event.body[4]);
    }
    if (++over.parts < 2) return;
    auto lag = Time{};
    if (!site_->peers.empty()) {
        auto const notice = setup_.map->notice();
        auto const ahead = std::max(setup_.lookahead, setup_.finish - 2 * notice);
        lag = std::max(Time{}, 3 * notice - ahead);
    }
    out.schedule(over.facts.last_end + lag, close_event, {key.pack(), 0, 0, 0, 0});
}

void ExchangeSite::emit_row(ExchangeKey key) {
    auto const it = over_.find(key);
    auto const& [facts, ports, parts] = it->second;
    setup_.sink->add(facts.row(key, setup_.traffic->plan(key.kind), ports, site_->domain.value(), collectives_++));
    over_.erase(it);
}

}  // namespace orrery

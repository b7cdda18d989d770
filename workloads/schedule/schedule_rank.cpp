// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/schedule_rank.hpp"

#include "netmodels/exchange/collective_events.hpp"
#include "netmodels/exchange/messages.hpp"

#include <algorithm>
#include <functional>

namespace orrery {

ScheduleRank::ScheduleRank(std::uint32_t rank, ScheduleWorld const& world, TimelineSink& sink)
    : rank_(rank), world_(&world), sink_(&sink), program_(world.schedule->program(rank)), ends_(program_) {
    link_tasks();
    find_streams();
}

void ScheduleRank::link_tasks() {
    progress_.resize(tasks());
    first_successor_.assign(tasks() + 1, 0);
    for (std::uint32_t task = 0; task < tasks(); ++task) {
        progress_[task].waits = static_cast<std::uint32_t>(program_.dependencies(task).size());
        for (auto const& on : program_.dependencies(task)) ++first_successor_[on.task + 1];
    }
    for (std::uint32_t task = 0; task < tasks(); ++task) first_successor_[task + 1] += first_successor_[task];
    successors_.resize(first_successor_.back());
    auto next = first_successor_;
    for (std::uint32_t task = 0; task < tasks(); ++task)
        for (auto const& on : program_.dependencies(task)) successors_[next[on.task]++] = {task, on.after};
}

void ScheduleRank::find_streams() {
    std::vector<std::uint16_t> numbers;
    for (auto const& task : program_.tasks())
        if (task.stream != ScheduleTask::no_stream) numbers.push_back(task.stream);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (auto const number : numbers) streams_.push_back({number, false, {}});
}

ScheduleRank::Stream* ScheduleRank::stream_of(std::uint32_t task) {
    auto const number = program_.tasks()[task].stream;
    if (number == ScheduleTask::no_stream) return nullptr;
    return &*std::lower_bound(streams_.begin(), streams_.end(), number,
                              [](Stream const& stream, std::uint16_t n) { return stream.number < n; });
}

// By an event, so that what happens at time zero comes in the order of ranks.
void ScheduleRank::start(Outbox& out) {
    out.schedule(Time{}, begin_program, {});
}

void ScheduleRank::handle(Event const& event, Outbox& out) {
    auto const task = static_cast<std::uint32_t>(event.body[0]);
    switch (event.kind) {
        case begin_program:
            for (std::uint32_t first = 0; first < tasks(); ++first)
                if (progress_[first].waits == 0) freed_.push_back(first);
            break;
        case compute_over:
            end(task, event.when, {});
            break;
        case wake:
            freed_.push_back(task);
            break;
        case message_sent:
            end(RankMessage::unpack(event.body).task, event.when, {});
            break;
        case message_arrived: {
            auto const message = RankMessage::unpack(event.body);
            arrive(message.source, message.tag, {message.ordinal, message.bytes, message.started}, event.when);
            break;
        }
        case collective_over:
            end(task, event.when, Time::from_ps(static_cast<std::int64_t>(event.body[1])));
            break;
        default:
            ORRERY_ENSURE(false, "rank {} got an event of kind {}", rank_, event.kind);
    }
    advance(event.when, out);
}

// All that may start at this moment is found before a stream chooses among it.
void ScheduleRank::advance(Time now, Outbox& out) {
    do {
        for (std::size_t i = 0; i < freed_.size(); ++i) release(freed_[i], now, out);
        freed_.clear();
        for (auto& stream : streams_) {
            if (stream.busy || stream.ready.empty()) continue;
            std::pop_heap(stream.ready.begin(), stream.ready.end(), std::greater{});
            auto const task = stream.ready.back();
            stream.ready.pop_back();
            stream.busy = true;
            begin(task, now, out);
        }
    } while (!freed_.empty() || std::any_of(streams_.begin(), streams_.end(), [](Stream const& stream) {
        return !stream.busy && !stream.ready.empty();
    }));
    if (finished()) finished_at_ = now;
}

void ScheduleRank::release(std::uint32_t task, Time now, Outbox& out) {
    if (auto const earliest = program_.tasks()[task].not_before; earliest > now)
        return out.schedule(earliest, wake, {task, 0, 0, 0, 0});
    progress_[task].phase = Phase::ready;
    auto* const stream = stream_of(task);
    if (!stream) return begin(task, now, out);
    stream->ready.push_back(task);
    std::push_heap(stream->ready.begin(), stream->ready.end(), std::greater{});
}

void ScheduleRank::signal(std::uint32_t task, After after) {
    for (auto i = first_successor_[task]; i < first_successor_[task + 1]; ++i)
        if (successors_[i].after == after && --progress_[successors_[i].task].waits == 0)
            freed_.push_back(successors_[i].task);
}

void ScheduleRank::begin(std::uint32_t task, Time now, Outbox& out) {
    auto& progress = progress_[task];
    progress.phase = Phase::running;
    progress.started = now;
    progress.computed_at_start = computed_until(now);
    signal(task, After::start);
    switch (program_.tasks()[task].kind) {
        case TaskKind::compute:
            if (computing_++ == 0) computing_since_ = now;
            out.schedule(now + program_.tasks()[task].duration, compute_over, {task, 0, 0, 0, 0});
            return;
        case TaskKind::send:
            return begin_send(task, now, out);
        case TaskKind::receive:
            return begin_receive(task, now);
        case TaskKind::collective:
            return begin_collective(task, now, out);
    }
}

// A message to the own rank is a copy in its memory.
void ScheduleRank::begin_send(std::uint32_t number, Time now, Outbox& out) {
    auto const& task = program_.tasks()[number];
    auto const ordinal = ends_.sent(task.peer, task.tag);
    if (task.peer == rank_) {
        end(number, now, {});
        return arrive(rank_, task.tag, {ordinal, task.bytes, now}, now);
    }
    RankMessage const message{.source = rank_,
                              .target = task.peer,
                              .tag = task.tag,
                              .ordinal = ordinal,
                              .task = number,
                              .bytes = task.bytes,
                              .started = now};
    out.send(world_->carrier(rank_, task.peer), now + world_->timing.post, message_post, message.pack());
}

void ScheduleRank::begin_receive(std::uint32_t number, Time now) {
    auto const& task = program_.tasks()[number];
    if (auto const arrival = ends_.expect(task.peer, task.tag, number)) end(number, now, arrival->sender_started);
}

void ScheduleRank::begin_collective(std::uint32_t number, Time now, Outbox& out) {
    auto const collective = program_.tasks()[number].peer;
    auto const carriers = world_->collectives->carriers_of(collective);
    if (carriers.empty()) return end(number, now, {});
    auto const members = world_->schedule->group(world_->schedule->collective(collective).group);
    auto at = std::lower_bound(members.begin(), members.end(), rank_);  // most groups are in order
    if (at == members.end() || *at != rank_) at = std::find(members.begin(), members.end(), rank_);
    auto const member = static_cast<std::uint64_t>(at - members.begin());
    for (auto const carrier : carriers)
        out.send(carrier, now + world_->timing.post, collective_join,
                 {collective, member, static_cast<std::uint64_t>(now.ps()), number, 0});
}

void ScheduleRank::arrive(std::uint32_t source, std::uint32_t tag, MessageEnds::Arrival const& arrival, Time now) {
    if (auto const task = ends_.arrived(source, tag, arrival)) end(*task, now, arrival.sender_started);
}

void ScheduleRank::end(std::uint32_t task, Time now, Time waited_until) {
    auto& progress = progress_[task];
    ORRERY_ENSURE(progress.phase == Phase::running, "task {} of rank {} ends and does not run", task, rank_);
    if (program_.tasks()[task].kind == TaskKind::compute && --computing_ == 0) computed_ += now - computing_since_;
    record(task, now, std::max(Time{}, std::min(waited_until, now) - progress.started));
    progress.phase = Phase::over;
    ++over_;
    if (auto* const stream = stream_of(task)) stream->busy = false;
    signal(task, After::end);
}

OpKind ScheduleRank::kind_of_task(std::uint32_t number) const {
    auto const& task = program_.tasks()[number];
    switch (task.kind) {
        case TaskKind::compute:
            return OpKind::compute;
        case TaskKind::send:
            return OpKind::send;
        case TaskKind::receive:
            return OpKind::receive;
        default:
            return kind_of(world_->schedule->collective(task.peer).op);
    }
}

void ScheduleRank::record(std::uint32_t task, Time end, Time wait) {
    auto const& progress = progress_[task];
    auto const kind = kind_of_task(task);
    auto const alone = end - progress.started - (computed_until(end) - progress.computed_at_start);
    OperationRow const row{.start = progress.started,
                           .end = end,
                           .wait = wait,
                           .exposed = kind == OpKind::compute ? Time{} : alone,
                           .rank = world_->place[rank_].value(),
                           .sequence = sequence_++,
                           .layer = static_cast<std::uint16_t>(program_.tasks()[task].label),
                           .kind = kind,
                           .microbatch = 0};
    sink_->add(row);
    digest_.add(static_cast<std::uint64_t>(row.start.ps()));
    digest_.add(static_cast<std::uint64_t>(row.end.ps()));
    digest_.add(static_cast<std::uint64_t>(row.wait.ps()));
    digest_.add(static_cast<std::uint64_t>(row.exposed.ps()));
    digest_.add(static_cast<std::uint64_t>(task) << 8 | static_cast<std::uint64_t>(row.kind));
}

void ScheduleRank::state(StateStream& stream) {
    stream(progress_, streams_, ends_, over_, computing_, computing_since_, computed_, finished_at_, sequence_,
           digest_);
}

std::string ScheduleRank::waiting_for() const {
    auto const name = [&](std::uint32_t rank) { return world_->place[rank].value(); };
    auto const describe = [&](std::uint32_t number) {
        auto const& task = program_.tasks()[number];
        auto const& label = world_->schedule->labels()[task.label];
        auto text =
            fmt::format("{} (task {}{}{})", name_of(kind_of_task(number)), number, label.empty() ? "" : ", ", label);
        if (task.kind == TaskKind::send) text += fmt::format(" to rank {}, tag {}", name(task.peer), task.tag);
        if (task.kind == TaskKind::receive) text += fmt::format(" from rank {}, tag {}", name(task.peer), task.tag);
        return text;
    };
    for (std::uint32_t task = 0; task < tasks(); ++task)
        if (progress_[task].phase == Phase::running)
            return fmt::format("rank {} is in {} since {}", name(rank_), describe(task),
                               to_string(progress_[task].started));
    for (std::uint32_t task = 0; task < tasks(); ++task)
        if (progress_[task].phase == Phase::waiting)
            return fmt::format("rank {} waits to start {}", name(rank_), describe(task));
    return fmt::format("rank {} is done", name(rank_));
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Perfetto's Protobuf trace, written packet by packet. Perfetto counts in nanoseconds: times are rounded down, the
// picoseconds of each operation stand in its arguments.
#include "apps/export/trace_slice.hpp"
#include "core/check.hpp"
#include "io/timeline/atomic_file.hpp"
#include "proto/perfetto_trace.pb.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace orrery {
namespace {

namespace pp = perfetto::protos;

constexpr std::uint32_t sequence = 1;
constexpr std::uint32_t names_begin = 1, names_needed = 2;  // TracePacket.SequenceFlags
enum Argument : std::uint64_t { layer = 1, microbatch, duration_ps, wait_ps, exposed_ps };
enum class Stream : std::uint8_t { compute, communication };
constexpr std::uint64_t most_lanes = 64;  // of a stream; what is more at once shares the last one

class TraceFile {
  public:
    explicit TraceFile(std::filesystem::path const& path) : path_(path), temporary_(path) {
        temporary_ += ".tmp";
        out_.open(temporary_, std::ios::binary);
    }
    void write(pp::TracePacket const& packet) {
        pp::Trace one;
        *one.add_packet() = packet;  // a trace is the concatenation of its packets
        one.SerializeToOstream(&out_);
    }
    void close() {
        out_.close();
        ORRERY_VALIDATE(out_.good(), "cannot write {} (no room, or no such directory) choose another file",
                        path_.string());
        publish_file(temporary_, path_);
    }

  private:
    std::filesystem::path path_, temporary_;
    std::ofstream out_;
};

class PerfettoWriter {
  public:
    PerfettoWriter(RunFile const& run, TraceSlice const& slice, TraceFile& file)
        : run_(run), slice_(slice), file_(file), communicates_(run.communicating_kinds()) {}

    Exported write() {
        write_names();
        each_operation(run_, slice_, [&](TraceOperation const& operation) { write(operation); });
        write_counters();
        return exported_;
    }

  private:
    static pp::TracePacket packet() {
        pp::TracePacket packet;
        packet.set_trusted_packet_sequence_id(sequence);
        return packet;
    }
    static std::uint64_t ns(std::int64_t ps) { return static_cast<std::uint64_t>(ps) / 1000; }
    // Tracks of a rank: its own, then the lanes of its streams; the links stand far behind all ranks.
    static std::uint64_t rank_track(std::uint32_t rank) { return 1 + (1 + 2 * most_lanes) * std::uint64_t{rank}; }
    static std::uint64_t lane_track(std::uint32_t rank, Stream stream, std::size_t lane) {
        return rank_track(rank) + 1 + (stream == Stream::communication ? most_lanes : 0) + lane;
    }
    static constexpr std::uint64_t links_track = std::uint64_t{1} << 40;
    static std::uint64_t link_track(std::uint32_t row) { return links_track + 1 + row; }

    // Kinds and arguments by number, so that a slice is few bytes.
    void write_names() {
        auto first = packet();
        first.set_sequence_flags(names_begin);
        auto& names = *first.mutable_interned_data();
        for (std::size_t kind = 0; kind < run_.kinds().size(); ++kind) {
            auto& name = *names.add_event_names();
            name.set_iid(kind + 1);
            name.set_name(run_.kinds()[kind]);
        }
        std::uint64_t iid = 0;
        for (auto const* text : {"layer", "micro-batch", "duration_ps", "wait_ps", "exposed_ps"}) {
            auto& name = *names.add_debug_annotation_names();
            name.set_iid(++iid);
            name.set_name(text);
        }
        file_.write(first);
    }

    void describe(std::uint64_t uuid, std::uint64_t parent, std::string const& name, char const* unit = nullptr) {
        auto describing = packet();
        auto& track = *describing.mutable_track_descriptor();
        track.set_uuid(uuid);
        track.set_name(name);
        if (parent != 0) track.set_parent_uuid(parent);
        if (unit != nullptr) track.mutable_counter()->set_unit_name(unit);
        file_.write(describing);
    }

    // Slices of one track must not overlap, and a stream may do several things at once: the first lane that is free
    // takes an operation. They come in the order of their ends, so a lane's last end is its latest.
    std::uint64_t track_of(TraceOperation const& o) {
        auto const stream = communicates_[o.kind] ? Stream::communication : Stream::compute;
        if (described_.insert(o.rank).second)
            describe(rank_track(o.rank), 0,
                     fmt::format("rank {}: {}", o.rank, run_.fabric().rank_name(RankId{o.rank})));
        auto& ends = lanes_[{o.rank, stream}];
        auto const free = std::ranges::find_if(ends, [&](auto end) { return end <= o.start_ps; });
        auto const lane = std::min<std::size_t>(static_cast<std::size_t>(free - ends.begin()), most_lanes - 1);
        auto const track = lane_track(o.rank, stream, lane);
        if (lane == ends.size()) {
            ends.push_back(0);
            describe(track, rank_track(o.rank), stream == Stream::compute ? "compute" : "communication");
        }
        ends[lane] = o.end_ps;
        return track;
    }

    pp::TracePacket event(std::uint64_t track, pp::TrackEvent::Type type, std::int64_t ps) const {
        auto made = packet();
        made.set_sequence_flags(names_needed);
        made.set_timestamp(ns(ps));
        made.mutable_track_event()->set_type(type);
        made.mutable_track_event()->set_track_uuid(track);
        return made;
    }

    void write(TraceOperation const& o) {
        auto const track = track_of(o);
        auto begin = event(track, pp::TrackEvent::TYPE_SLICE_BEGIN, o.start_ps);
        begin.mutable_track_event()->set_name_iid(std::uint64_t{o.kind} + 1);
        auto const argument = [&](Argument name, std::int64_t value) {
            auto& added = *begin.mutable_track_event()->add_debug_annotations();
            added.set_name_iid(name);
            added.set_int_value(value);
        };
        argument(layer, o.layer);
        argument(microbatch, o.microbatch);
        argument(duration_ps, o.end_ps - o.start_ps);
        if (communicates_[o.kind]) {
            argument(wait_ps, o.wait_ps);
            argument(exposed_ps, o.exposed_ps);
        }
        file_.write(begin);
        file_.write(event(track, pp::TrackEvent::TYPE_SLICE_END, o.end_ps));
        ++exported_.operations;
    }

    // A bin with bytes is a value; where none follows, a zero ends it.
    void write_counters() {
        LinkColumns const links(run_);
        auto const bin = Time::from_ps(run_.integer("manifest", "link_bin_ps"));
        std::map<std::uint32_t, std::uint32_t> busy_until;  // by row: the bin behind the last one written
        auto const value = [&](std::uint32_t row, std::uint32_t at, double percent) {
            auto counted = event(link_track(row), pp::TrackEvent::TYPE_COUNTER, (bin * at).ps());
            counted.mutable_track_event()->set_double_counter_value(percent);
            file_.write(counted);
            ++exported_.counters;
        };
        describe(links_track, 0, "links");
        run_.each_row(TableId::link_bins, [&](RowBlock const& block, std::size_t at) {
            auto const row = links.row_of.at(block.at<std::uint32_t>(0, at));
            auto const number = block.at<std::uint32_t>(1, at);
            if (bin * number >= slice_.until || bin * (number + 1) <= slice_.from) return;
            auto const [seen, fresh] = busy_until.try_emplace(row, number);
            if (fresh) describe(link_track(row), links_track, links.name[row], "% busy");
            if (seen->second < number) value(row, seen->second, 0);
            value(row, number, 100 * share_of_capacity(block.at<std::int64_t>(2, at), links.capacity_bps[row], bin));
            seen->second = number + 1;
        });
        for (auto const& [row, number] : busy_until) value(row, number, 0);
    }

    RunFile const& run_;
    TraceSlice const& slice_;
    TraceFile& file_;
    std::vector<bool> communicates_;
    std::map<std::pair<std::uint32_t, Stream>, std::vector<std::int64_t>> lanes_;  // by their last end
    std::set<std::uint32_t> described_;
    Exported exported_;
};

}  // namespace

Exported export_perfetto(RunFile const& run, TraceSlice const& slice, std::filesystem::path const& path) {
    TraceFile file(path);
    auto const exported = PerfettoWriter(run, slice, file).write();
    file.close();
    return exported;
}

}  // namespace orrery

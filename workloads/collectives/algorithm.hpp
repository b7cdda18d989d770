// SPDX-License-Identifier: Apache-2.0
// A collective algorithm: who sends what to whom in which step, by rule, and what that should take.
#pragma once

#include "core/units.hpp"
#include "workloads/collectives/shape.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// What part of the route from sender to peer a message loads. A switch that reduces takes a message from each member
// (to_switch) and passes one on; a switch that multicasts takes one and passes it on to each (from_switch). A route is
// cut in the middle of its bundles.
enum class Way : std::uint8_t { whole, to_switch, from_switch };
// Does arriving data replace what the peer has, or is it added to it?
enum class Combine : std::uint8_t { copy, reduce };

// Blocks [first, first + count) of the data, as numbered by the plan.
struct Piece {
    std::uint64_t first = 0, count = 0;
    Combine combine{};
};

struct Send {
    std::uint32_t peer = 0;
    Way way{};
    std::int64_t bytes = 0;  // may be zero: then only the latency counts
    std::uint32_t first_piece = 0, piece_count = 0;
};

// Where a plan writes the messages of one step. Pieces are kept on request only: they prove that the algorithm is
// right, and its time does not depend on them.
class SendList {
  public:
    enum class Keep : std::uint8_t { sends, pieces };
    explicit SendList(Keep keep = Keep::sends) : keep_(keep) {}

    bool keeps_pieces() const { return keep_ == Keep::pieces; }
    void message(std::uint32_t peer, std::int64_t bytes, Way way = Way::whole) {
        sends_.push_back({peer, way, bytes, static_cast<std::uint32_t>(pieces_.size()), 0});
    }
    // Belongs to the message begun last.
    void piece(std::uint64_t first, std::uint64_t count, Combine combine) {
        if (!keeps_pieces() || count == 0) return;
        pieces_.push_back({first, count, combine});
        ++sends_.back().piece_count;
    }
    void clear() {
        sends_.clear();
        pieces_.clear();
    }
    std::span<Send const> sends() const { return sends_; }
    std::span<Piece const> pieces(Send const& send) const {
        return std::span{pieces_}.subspan(send.first_piece, send.piece_count);
    }

  private:
    Keep keep_;
    std::vector<Send> sends_;
    std::vector<Piece> pieces_;
};

// What an algorithm takes when every message has one latency and only the ports of the members bind, each serving its
// messages one after the other: the sum over terms of latencies * latency + transfers * transfer_time(bytes).
struct ClosedForm {
    // exactly: to the picosecond. at_most: blocks differ by a byte, or messages of several steps or lanes meet at a
    // port.
    enum class Holds : std::uint8_t { exactly, at_most };
    struct Term {
        std::int64_t latencies = 0;
        std::int64_t transfers = 0;
        std::int64_t bytes = 0;  // each
    };
    Holds holds{};
    std::vector<Term> terms;
    std::string text;  // "2 (n-1) (a + S/n / B)"

    // Steps alike, each of `transfers` messages through the busiest port.
    void add_steps(std::int64_t steps, std::int64_t transfers, std::int64_t bytes) {
        if (steps > 0) terms.push_back({steps, steps * transfers, bytes});
    }
    Time time(Time latency, Rate port) const;
    std::int64_t latencies() const;  // how many follow each other
};

// An algorithm for one shape: pure functions of (member, lane, step), nothing stored per pair of members.
//
// Lanes run side by side, and lane l may follow lane l - follows(). A member begins step k+1 of a lane when all its
// sends and receives of step k have arrived; a step without any is over at once. A message of step k counts for step k
// at its receiver, which may not have begun it.
class CollectivePlan {
  public:
    explicit CollectivePlan(CollectiveShape shape) : shape_(std::move(shape)) {}
    virtual ~CollectivePlan() = default;

    CollectiveShape const& shape() const { return shape_; }
    virtual std::uint32_t lanes() const { return 1; }
    // Zero: lanes know nothing of each other. f: a member begins step k of lane l only when step k of lane l - f is
    // over there, so that chunks follow each other through the steps.
    virtual std::uint32_t follows() const { return 0; }
    // Of one lane. Zero: there is nothing to do (one member).
    virtual std::uint32_t steps() const = 0;
    // Appends the messages that `member` sends in this step.
    virtual void sends(std::uint32_t member, std::uint32_t lane, std::uint32_t step, SendList& out) const = 0;
    // How many messages arrive for this step, whole and from_switch and to_switch ones alike.
    virtual std::uint32_t receives(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const = 0;
    // The first step from `step` on in which the member sends or receives, or a later bound on nothing at all: skipping
    // to it saves time and changes no answer. steps() when there is none.
    virtual std::uint32_t next_step(std::uint32_t member, std::uint32_t lane, std::uint32_t step) const;

    // Data blocks: block_bytes of all blocks add up to what the operation moves around (see docs/collectives.md).
    virtual std::uint64_t blocks() const = 0;
    virtual std::int64_t block_bytes(std::uint64_t block) const = 0;

    virtual ClosedForm closed_form() const = 0;
    // Of `chunks` chunks of which this is the largest, each behind the one before: at most as long as one by one.
    virtual ClosedForm pipelined_form(std::uint32_t chunks) const;

  private:
    CollectiveShape shape_;
};

// An entry of the registry.
struct CollectiveAlgorithm {
    std::string name;    // "ring"
    std::string nccl;    // what NCCL calls it; empty: it has none
    std::string hccl;    // what HCCL calls it
    std::string source;  // where it is published
    std::vector<CollectiveOp> ops;
    // Empty when it can carry out the shape; otherwise why not, as a sentence without subject.
    std::string (*refuses)(CollectiveShape const&);
    std::unique_ptr<CollectivePlan> (*plan)(CollectiveShape const&);
};

// A namespace-scope object of this type, one per algorithm file, is all that adding an algorithm takes.
class CollectiveRegistration {
  public:
    explicit CollectiveRegistration(CollectiveAlgorithm algorithm);
};

// By name, in alphabetical order.
std::vector<CollectiveAlgorithm const*> collective_algorithms();
// Those that can carry out a shape.
std::vector<CollectiveAlgorithm const*> algorithms_for(CollectiveShape const& shape);
// By our name, NCCL's or HCCL's, in any case. An unknown one is an InputError with the nearest names.
CollectiveAlgorithm const& collective_algorithm(std::string_view name);
// The plan of a named algorithm; one that cannot carry out the shape is an InputError with those that can. Algorithms
// for the levels of a hierarchy are named after it, from the node up, or as HCCL_ALGO does: "hierarchical:direct,nhr",
// "level0:mesh;level1:H-D_R". "ring*8" sends in eight chunks.
std::unique_ptr<CollectivePlan> plan_collective(std::string_view algorithm, CollectiveShape const& shape);

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// Carries out a collective on sets instead of numbers: who has which block, and whose contributions are in it.
#pragma once

#include "workloads/collectives/algorithm.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery::testing {

class CollectiveReplay {
  public:
    explicit CollectiveReplay(CollectivePlan const& plan)
        : plan_(&plan), n_(plan.shape().members), words_((n_ + 63) / 64), has_(n_ * plan.blocks() * words_) {
        auto const op = plan.shape().op;
        for (std::uint32_t member = 0; member < n_; ++member)
            for (std::uint64_t block = 0; block < plan.blocks(); ++block)
                if (owns_at_start(op, member, block)) insert(member, block, member);
    }

    // Lockstep is enough: what a member does depends on what arrived for its earlier steps, never on when.
    void run() {
        for (std::uint32_t step = 0; step < plan_->steps(); ++step)
            for (std::uint32_t lane = 0; lane < plan_->lanes(); ++lane) run_step(lane, step);
    }

    // Empty when every member has what the operation promises.
    std::string wrong() const {
        auto const& shape = plan_->shape();
        for (std::uint32_t member = 0; member < n_; ++member)
            for (std::uint64_t block = 0; block < plan_->blocks(); ++block) {
                if (!due(shape, member, block)) continue;
                for (std::uint32_t source = 0; source < n_; ++source)
                    if (wanted(shape.op, block, source) != contains(member, block, source))
                        return fmt::format("member {} block {}: contribution of {} is {}", member, block, source,
                                           contains(member, block, source) ? "not wanted" : "missing");
            }
        return problem_;
    }

  private:
    using Words = std::vector<std::uint64_t>;
    struct Arrival {
        std::uint32_t member;
        std::uint64_t block;
        Combine combine;
        Words contributions;
    };

    // Blocks per member, where members have parts of their own.
    std::uint64_t per_owner() const { return plan_->blocks() / n_; }
    std::uint64_t per_pair() const { return plan_->blocks() / (std::uint64_t{n_} * n_); }
    static bool reduces(CollectiveOp op) {
        return op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter || op == CollectiveOp::reduce ||
               op == CollectiveOp::barrier;
    }
    static bool between_pairs(CollectiveOp op) {
        return op == CollectiveOp::all_to_all || op == CollectiveOp::all_to_all_v;
    }
    std::uint32_t owner(std::uint64_t block) const { return static_cast<std::uint32_t>(block / per_owner()); }

    bool owns_at_start(CollectiveOp op, std::uint32_t member, std::uint64_t block) const {
        if (reduces(op)) return true;
        if (between_pairs(op)) return block / per_pair() / n_ == member;
        if (op == CollectiveOp::broadcast || op == CollectiveOp::scatter) return member == plan_->shape().root;
        return owner(block) == member;
    }

    bool due(CollectiveShape const& shape, std::uint32_t member, std::uint64_t block) const {
        switch (shape.op) {
            case CollectiveOp::reduce:
            case CollectiveOp::gather:
                return member == shape.root;
            case CollectiveOp::reduce_scatter:
            case CollectiveOp::scatter:
                return owner(block) == member;
            case CollectiveOp::send_recv:
                return (owner(block) + 1) % n_ == member;
            case CollectiveOp::all_to_all:
            case CollectiveOp::all_to_all_v:
                return block / per_pair() % n_ == member && (!shape.pair_bytes || plan_->block_bytes(block) > 0);
            default:
                return true;
        }
    }
    bool wanted(CollectiveOp op, std::uint64_t block, std::uint32_t source) const {
        if (reduces(op)) return true;
        if (between_pairs(op)) return source == block / per_pair() / n_;
        if (op == CollectiveOp::broadcast || op == CollectiveOp::scatter) return source == plan_->shape().root;
        return source == owner(block);
    }

    std::uint64_t* at(std::uint32_t member, std::uint64_t block) {
        return has_.data() + (member * plan_->blocks() + block) * words_;
    }
    std::uint64_t const* at(std::uint32_t member, std::uint64_t block) const {
        return has_.data() + (member * plan_->blocks() + block) * words_;
    }
    void insert(std::uint32_t member, std::uint64_t block, std::uint32_t source) {
        at(member, block)[source / 64] |= std::uint64_t{1} << source % 64;
    }
    bool contains(std::uint32_t member, std::uint64_t block, std::uint32_t source) const {
        return (at(member, block)[source / 64] >> source % 64 & 1) != 0;
    }

    void run_step(std::uint32_t lane, std::uint32_t step) {
        std::vector<Arrival> arrivals;
        std::vector<std::uint32_t> received(n_);
        for (std::uint32_t member = 0; member < n_; ++member) {
            SendList list(SendList::Keep::pieces), bare;
            plan_->sends(member, lane, step, list);
            plan_->sends(member, lane, step, bare);
            bool const active = !list.sends().empty() || plan_->receives(member, lane, step) > 0;
            if (active && plan_->next_step(member, lane, step) != step) fail("a step is skipped", member, step);
            if (list.sends().size() != bare.sends().size()) fail("pieces change the messages", member, step);
            for (std::size_t i = 0; i < list.sends().size(); ++i) {
                auto const& send = list.sends()[i];
                if (send.bytes != bare.sends()[i].bytes) fail("pieces change the bytes", member, step);
                if (send.peer >= n_ || send.peer == member) fail("a message to nobody", member, step);
                ++received[send.peer];
                std::int64_t bytes = 0;
                for (auto const& piece : list.pieces(send))
                    for (auto block = piece.first; block < piece.first + piece.count; ++block) {
                        bytes += plan_->block_bytes(block);
                        Words const words(at(member, block), at(member, block) + words_);
                        if (words == Words(words_)) fail("a member sends what it has not", member, step);
                        arrivals.push_back({send.peer, block, piece.combine, words});
                    }
                if (send.way == Way::whole && bytes != send.bytes)
                    fail("bytes are not those of the pieces", member, step);
            }
        }
        for (std::uint32_t member = 0; member < n_; ++member)
            if (received[member] != plan_->receives(member, lane, step))
                fail("another number of messages", member, step);
        for (auto const& arrival : arrivals) arrive(arrival, step);
    }

    void arrive(Arrival const& arrival, std::uint32_t step) {
        auto* const mine = at(arrival.member, arrival.block);
        for (std::size_t word = 0; word < words_; ++word) {
            auto const theirs = arrival.contributions[word];
            if (arrival.combine == Combine::copy) {
                mine[word] = theirs;
                continue;
            }
            if ((mine[word] & theirs) != 0 && plan_->shape().op != CollectiveOp::barrier)
                fail("a contribution is added twice", arrival.member, step);
            mine[word] |= theirs;
        }
    }

    void fail(std::string const& what, std::uint32_t member, std::uint32_t step) {
        if (problem_.empty()) problem_ = fmt::format("{} (member {}, step {})", what, member, step);
    }

    CollectivePlan const* plan_;
    std::uint32_t n_;
    std::size_t words_;
    std::vector<std::uint64_t> has_;  // per member, block: a bit per contribution
    std::string problem_;
};

}  // namespace orrery::testing

// SPDX-License-Identifier: Apache-2.0
#include "partitions/dry_run_exchange.hpp"

#include "core/check.hpp"

namespace orrery {

class DryRun::View final : public Exchange {
  public:
    View(DryRun& board, std::uint32_t index) : board_(board), index_(index) {}
    std::uint32_t index() const override { return index_; }
    std::uint32_t count() const override { return board_.count_; }

    void post(WindowReport const& mine, std::vector<std::vector<Event>>& outgoing, Failure const& failure) override {
        auto& round = board_.rounds_[posts_++ % 2];
        if (round.posted == board_.count_) {  // a round that all have collected: start anew
            round.posted = 0;
            round.all = {};
            round.failure = {};
        }
        ++round.posted;
        round.all.combine(mine);
        if ((mine.flags & window_flag::error) && earlier(failure, round.failure)) round.failure = failure;
        for (std::uint32_t target = 0; target < board_.count_; ++target) {
            auto& mail = round.mail[target];
            mail.insert(mail.end(), outgoing[target].begin(), outgoing[target].end());
            outgoing[target].clear();
        }
    }

    void collect(WindowReport& all, std::vector<Event>& arrivals, Failure& failure) override {
        auto& round = board_.rounds_[collects_++ % 2];
        ORRERY_ENSURE(round.posted == board_.count_ && collects_ == posts_,
                      "process {} of a dry run collects before all of {} have posted", index_, board_.count_);
        all = round.all;
        if (all.flags & window_flag::error) failure = round.failure;
        arrivals.insert(arrivals.end(), round.mail[index_].begin(), round.mail[index_].end());
        round.mail[index_].clear();
    }

  private:
    DryRun& board_;
    std::uint32_t index_;
    std::uint64_t posts_ = 0, collects_ = 0;
};

DryRun::DryRun(std::uint32_t count) : count_(count) {
    ORRERY_ENSURE(count > 0, "a dry run of {} processes", count);
    for (auto& round : rounds_) round.mail.resize(count);
    for (std::uint32_t index = 0; index < count; ++index) views_.push_back(std::make_unique<View>(*this, index));
}

DryRun::~DryRun() = default;

Exchange& DryRun::exchange(std::uint32_t index) {
    return *views_[index];
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "apps/study/worker_pool.hpp"

#include "core/check.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <poll.h>
#include <unistd.h>

namespace orrery {
namespace {

// A whole buffer, or false when the other end is gone.
bool write_all(int file, void const* data, std::size_t bytes) {
    auto const* at = static_cast<char const*>(data);
    while (bytes > 0) {
        auto const written = ::write(file, at, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

bool read_all(int file, void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
        auto const got = ::read(file, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        std::array<int, 2> ends{};
        ORRERY_ENSURE(::pipe(ends.data()) == 0, "no pipe ({})", std::strerror(errno));
        read = ends[0];
        write = ends[1];
    }
};

// Members in, lines out, until the study closes its end.
[[noreturn]] void work(StudyPlan const& plan, int in, int out) {
    std::signal(SIGINT, SIG_IGN);  // the study stops its workers
    std::signal(SIGTERM, SIG_DFL);
    std::uint64_t member = 0;
    while (read_all(in, &member, sizeof member)) {
        auto const line = to_line(run_member(plan, member)) + '\n';
        if (!write_all(out, line.data(), line.size())) break;
    }
    // Without destructors: this process shares MPI's and HDF5's state with the study.
    ::_exit(0);
}

class Worker {
  public:
    explicit Worker(StudyPlan const& plan, std::vector<Worker> const& others) {
        Pipe orders, results;
        std::fflush(nullptr);
        pid_ = ::fork();
        ORRERY_ENSURE(pid_ >= 0, "no child process ({})", std::strerror(errno));
        if (pid_ == 0) {
            for (auto const& other : others) other.close_ends();  // else they would outlive the study
            ::close(orders.write);
            ::close(results.read);
            work(plan, orders.read, results.write);
        }
        ::close(orders.read);
        ::close(results.write);
        in_ = results.read;
        out_ = orders.write;
    }

    int results() const { return in_; }
    bool busy() const { return member_.has_value(); }
    std::uint64_t member() const { return *member_; }

    void give(std::uint64_t member) {
        member_ = member;
        write_all(out_, &member, sizeof member);  // a worker that is gone shows when its result is read
    }
    // What it said since the last time; nothing more comes when it is gone.
    bool receive() {
        std::array<char, 65536> piece{};
        auto const got = ::read(in_, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) return true;
        if (got <= 0) return false;
        said_.append(piece.data(), static_cast<std::size_t>(got));
        return true;
    }
    std::optional<std::string> take_line() {
        auto const end = said_.find('\n');
        if (end == std::string::npos) return std::nullopt;
        auto line = said_.substr(0, end);
        said_.erase(0, end + 1);
        member_.reset();
        return line;
    }
    // Waits for its end and says what that was.
    std::string end() {
        close_ends();
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
        if (WIFSIGNALED(status))
            return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                               ::strsignal(WTERMSIG(status)));
        return fmt::format("its process ended with code {}", WEXITSTATUS(status));
    }

  private:
    void close_ends() const {
        ::close(in_);
        ::close(out_);
    }

    pid_t pid_ = -1;
    int in_ = -1, out_ = -1;
    std::optional<std::uint64_t> member_;
    std::string said_;
};

class Pool {
  public:
    Pool(StudyPlan const& plan, std::vector<std::uint64_t> const& members, PoolRules const& rules,
         std::function<void(MemberResult const&, std::string const&)> const& done)
        : plan_(plan), members_(members), rules_(rules), done_(done) {
        auto const useful = std::min<std::size_t>(rules.workers, members.size());
        for (std::size_t w = 0; w < useful; ++w) workers_.emplace_back(plan, workers_);
    }

    void run() {
        auto const before = std::signal(SIGPIPE, SIG_IGN);
        for (;;) {
            for (auto& worker : workers_)
                if (!worker.busy() && next_ < members_.size() && !rules_.stop()) worker.give(members_[next_++]);
            if (std::ranges::none_of(workers_, &Worker::busy)) break;
            wait();
        }
        for (auto& worker : workers_) worker.end();
        std::signal(SIGPIPE, before);
    }

  private:
    void wait() {
        std::vector<pollfd> files;
        for (auto const& worker : workers_) files.push_back({worker.results(), POLLIN, 0});
        if (::poll(files.data(), files.size(), -1) < 0) return;  // a signal: look whether to stop
        for (std::size_t w = 0; w < workers_.size(); ++w)
            if (files[w].revents != 0) hear(w);
    }

    void hear(std::size_t w) {
        auto& worker = workers_[w];
        if (!worker.receive()) return replace(w);
        if (auto const line = worker.take_line()) done_(from_line(*line), *line);
    }

    // Its process died: that is the result of the member it had.
    void replace(std::size_t w) {
        bool const busy = workers_[w].busy();
        auto const member = busy ? workers_[w].member() : 0;
        auto const why = workers_[w].end();
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(w));
        workers_.emplace_back(plan_, workers_);
        if (!busy) return;
        MemberResult lost;
        lost.member = member;
        lost.key = plan_.key_of(member);
        lost.error = why;
        done_(lost, to_line(lost));
    }

    StudyPlan const& plan_;
    std::vector<std::uint64_t> const& members_;
    PoolRules const& rules_;
    std::function<void(MemberResult const&, std::string const&)> const& done_;
    std::vector<Worker> workers_;
    std::size_t next_ = 0;
};

}  // namespace

void run_members(StudyPlan const& plan, std::vector<std::uint64_t> const& members, PoolRules const& rules,
                 std::function<void(MemberResult const&, std::string const&)> const& done) {
    Pool(plan, members, rules, done).run();
}

}  // namespace orrery

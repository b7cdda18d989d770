// SPDX-License-Identifier: Apache-2.0
#include "io/timeline/atomic_file.hpp"

#include "core/check.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace orrery {
namespace {

[[noreturn]] void fail(std::filesystem::path const& path) {
    throw StorageError(fmt::format("cannot write {} ({})", path.string(), std::strerror(errno)));
}

class Descriptor {
  public:
    Descriptor(std::filesystem::path const& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
        if (fd_ < 0) fail(path);
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

}  // namespace

void replace_file(std::filesystem::path const& path, std::span<std::byte const> content) {
    auto temporary = path;
    temporary += ".tmp";
    {
        Descriptor const file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        for (std::size_t done = 0; done < content.size();) {
            auto const n = ::write(file.get(), content.data() + done, content.size() - done);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail(temporary);
            done += static_cast<std::size_t>(n);
        }
    }
    publish_file(temporary, path);
}

void make_directory(std::filesystem::path const& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    ORRERY_VALIDATE(!error, "cannot create directory {} ({})", path.string(), error.message());
}

void sync_file(std::filesystem::path const& path) {
    Descriptor const file(path, O_RDONLY);
    if (::fsync(file.get()) != 0) fail(path);
}

void publish_file(std::filesystem::path const& temporary, std::filesystem::path const& path) {
    sync_file(temporary);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
}

}  // namespace orrery

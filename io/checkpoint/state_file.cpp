// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/state_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace orrery {
namespace {

[[noreturn]] void fail(char const* verb, std::filesystem::path const& path) {
    throw StorageError(fmt::format("cannot {} {} ({})", verb, path.string(), std::strerror(errno)));
}

std::span<std::byte> bytes_of(auto& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

FileFacts read_facts(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("read", path);
    Checksum sum;
    FileFacts facts{.name = path.filename().string()};
    std::vector<char> block(std::size_t{1} << 20);
    while (file) {
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        auto const got = static_cast<std::size_t>(file.gcount());
        sum.add(std::as_bytes(std::span(block).first(got)));
        facts.bytes += got;
    }
    if (file.bad()) fail("read", path);
    facts.checksum = sum.value();
    return facts;
}

StateFileWriter::StateFileWriter(std::filesystem::path const& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("write", path_);
}

StateFileWriter::~StateFileWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void StateFileWriter::save(std::uint64_t key, std::function<void(StateStream&)> const& fill) {
    auto const offset = written_;
    StateStream stream(static_cast<ByteSink&>(*this));
    fill(stream);
    stream.flush();
    index_.push_back({key, offset, written_ - offset});
}

void StateFileWriter::write(std::span<std::byte const> bytes) {
    sum_.add(bytes);
    written_ += bytes.size();
    // A write takes 2 GiB at most, whatever it is asked for; it says how much it took.
    while (!bytes.empty()) {
        auto const n = ::write(descriptor_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail("write", path_);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}

FileFacts StateFileWriter::finish() {
    std::uint64_t count = index_.size();
    if (count > 0) write(std::as_bytes(std::span(index_)));
    write(bytes_of(count));
    if (::fsync(descriptor_) != 0) fail("write", path_);
    auto const closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0) fail("write", path_);
    return {path_.filename().string(), written_, sum_.value()};
}

StateFiles::StateFiles(std::vector<std::filesystem::path> const& paths) : paths_(paths) {
    for (std::size_t f = 0; f < paths_.size(); ++f) {
        auto& in = file(f);
        in.seekg(0, std::ios::end);
        auto const end = static_cast<std::uint64_t>(in.tellg());
        std::uint64_t count = 0;
        load(f, end - sizeof count, bytes_of(count));
        std::vector<StateEntry> index(count);
        load(f, end - sizeof count - count * sizeof(StateEntry), std::as_writable_bytes(std::span(index)));
        for (auto const& entry : index) places_.push_back({entry, f});
    }
    std::sort(places_.begin(), places_.end(), [](auto const& a, auto const& b) { return a.entry.key < b.entry.key; });
}

std::ifstream& StateFiles::file(std::size_t file) {
    if (file == open_file_) return open_;
    open_ = std::ifstream(paths_[file], std::ios::binary);
    if (!open_) fail("read", paths_[file]);
    open_file_ = file;
    return open_;
}

void StateFiles::load(std::size_t from, std::uint64_t offset, std::span<std::byte> bytes) {
    auto& in = file(from);
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!in) fail("read", paths_[from]);
}

StateFiles::Place const* StateFiles::find(std::uint64_t key) const {
    auto const at = std::lower_bound(places_.begin(), places_.end(), key,
                                     [](Place const& place, std::uint64_t k) { return place.entry.key < k; });
    return at != places_.end() && at->entry.key == key ? &*at : nullptr;
}

void StateFiles::restore(std::uint64_t key, std::function<void(StateStream&)> const& read) {
    auto const* place = find(key);
    ORRERY_ENSURE(place != nullptr, "the checkpoint has no state {}", key);
    bytes_.resize(place->entry.bytes);
    load(place->file, place->entry.offset, bytes_);
    StateStream stream(bytes_);
    read(stream);
    stream.expect_end();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
// The file in which one process saves states under their keys, and its reader.
#pragma once

#include "core/checksum.hpp"
#include "core/state.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace orrery {

// What tells a whole file from a damaged one.
struct FileFacts {
    std::string name;
    std::uint64_t bytes = 0, checksum = 0;
};
// InputError when the file cannot be read.
FileFacts read_facts(std::filesystem::path const& path);

// Layout: the states one after another; the index, an entry per state; the number of entries. States go to the disk as
// they are filled, so memory holds none of them.
struct StateEntry {
    std::uint64_t key = 0, offset = 0, bytes = 0;
};

class StateFileWriter final : public StateSaver, private ByteSink {
  public:
    // InputError with path and reason here and wherever it writes.
    explicit StateFileWriter(std::filesystem::path const& path);
    ~StateFileWriter() override;
    StateFileWriter(StateFileWriter const&) = delete;
    StateFileWriter& operator=(StateFileWriter const&) = delete;

    void save(std::uint64_t key, std::function<void(StateStream&)> const& fill) override;
    // Syncs it to the disk.
    FileFacts finish();

  private:
    void write(std::span<std::byte const> bytes) override;

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::vector<StateEntry> index_;
    std::uint64_t written_ = 0;
    Checksum sum_;
};

// All files of a checkpoint together: a state is found wherever it is.
class StateFiles final : public StateSource {
  public:
    // The files are whole: their facts were compared before. InputError when one cannot be read.
    explicit StateFiles(std::vector<std::filesystem::path> const& paths);

    void restore(std::uint64_t key, std::function<void(StateStream&)> const& read) override;
    bool has(std::uint64_t key) const { return find(key) != nullptr; }

  private:
    struct Place {
        StateEntry entry;
        std::size_t file = 0;
    };
    Place const* find(std::uint64_t key) const;
    std::ifstream& file(std::size_t file);
    void load(std::size_t from, std::uint64_t offset, std::span<std::byte> bytes);

    std::vector<std::filesystem::path> paths_;
    std::ifstream open_;  // one at a time: a checkpoint may have more files than a process may open
    std::size_t open_file_ = ~std::size_t{0};
    std::vector<Place> places_;  // by key
    std::vector<std::byte> bytes_;
};

}  // namespace orrery

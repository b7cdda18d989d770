// SPDX-License-Identifier: Apache-2.0
// Files, groups, one-dimensional datasets and attributes of HDF5 as owning C++ types; every failure is an InputError.
//
// Only what the timeline needs, through the plain (sec2) file driver, from one thread. HDF5's own header stays in
// hdf5.cpp. A failing call raises "problem (reason)" that names the file and the innermost reason HDF5 gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace orrery::hdf5 {

using RawId = std::int64_t;  // HDF5's hid_t

// True once HDF5 could not close something (a full disk). HDF5 1.10.8 then crashes when it closes it again at the end
// of MPI or of the program, so the program must leave without either.
bool closing_failed();

// From here on nothing is closed any more, and closing_failed() is true: files stay as a kill would have left them.
// After a failed write HDF5 would put what it can of its indices to the disk, in an order that loses rows.
void leave_all_open();

// What HDF5 keeps of a streaming file beside its rows: indices of chunks and headers.
inline constexpr std::int64_t streaming_metadata_bytes = std::int64_t{4} << 20;

// Owns one HDF5 identifier of any sort.
class Handle {
  public:
    using Closer = int (*)(RawId);

    Handle() = default;
    Handle(RawId id, Closer closer) : id_(id), closer_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(closer_, other.closer_);
        return *this;
    }
    Handle(Handle const&) = delete;
    Handle& operator=(Handle const&) = delete;
    ~Handle() { close(); }

    RawId id() const { return id_; }
    int close();  // what HDF5 returned; zero when there was nothing to close

  private:
    RawId id_ = -1;
    Closer closer_ = nullptr;
};

// What one row of a dataset is. Stored little-endian.
enum class Element : std::uint8_t { u8, u16, u32, i32, i64, f64, text };

struct RowType {
    Element element{};
    std::size_t text_bytes = 0;  // text only: fixed length in bytes, UTF-8, padded with zero bytes

    std::size_t size() const;
    std::string name() const;  // "i64", "text[24]"
    friend bool operator==(RowType const&, RowType const&) = default;
};

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::string>>;

// What files, groups and datasets share: an identifier, a place for messages ("run.h5:/operations/end"), attributes.
class Object {
  public:
    Object() = default;
    Object(Handle handle, std::string where) : handle_(std::move(handle)), where_(std::move(where)) {}

    std::string const& where() const { return where_; }
    void set_attribute(std::string const& name, AttributeValue const& value);
    AttributeValue attribute(std::string const& name) const;
    std::vector<std::string> attribute_names() const;  // sorted

  protected:
    RawId id() const { return handle_.id(); }

    Handle handle_;
    std::string where_;
};

// A column: one-dimensional, extendible, chunked, shuffled and deflated.
class Dataset : public Object {
  public:
    Dataset() = default;
    Dataset(Handle handle, std::string where);

    std::uint64_t rows() const { return rows_; }  // as of the opening or the last append
    std::uint64_t chunk_rows() const;
    RowType type() const { return type_; }
    // Whole rows, in the layout of memory. Nothing is cached: the call compresses and writes.
    void append(std::span<std::byte const> rows);
    void read(std::uint64_t first, std::span<std::byte> rows) const;
    // Copies whole chunks of a dataset of equal type and chunks as they are on the disk, without unpacking them. This
    // one ends at the end of a chunk.
    void append_chunks(Dataset const& other, std::uint64_t first_chunk, std::uint64_t count);

  private:
    RowType type_;
    Handle memory_type_;
    std::uint64_t rows_ = 0;
};

struct Child {
    std::string name;
    bool group = false;
};

class Group : public Object {
  public:
    using Object::Object;

    Group create_group(std::string const& name);
    Group open_group(std::string const& name) const;
    Dataset create_dataset(std::string const& name, RowType type, std::uint64_t chunk_rows);
    Dataset open_dataset(std::string const& name) const;
    std::vector<Child> children() const;  // sorted by name
    // Copies a member of another group, with all it holds.
    void copy_from(Group const& other, std::string const& name);
};

// How a file is written. `streaming` is for single-writer-multiple-reader access: others may read while it grows.
enum class Format { compatible, streaming };
// How a file is read. `live` reads a file that is still being written, or whose writer was killed.
enum class ReadMode { closed, live };

class File : public Group {
  public:
    File() = default;
    static File create(std::filesystem::path const& path, Format format);
    static File open(std::filesystem::path const& path, ReadMode mode);

    // From here on readers may look; no group, dataset or attribute may be created any more.
    void start_streaming();
    void flush();
    // The caller has let go of all groups and datasets. Unlike the destructor it reports what went wrong.
    void close();

  private:
    using Group::Group;
};

}  // namespace orrery::hdf5

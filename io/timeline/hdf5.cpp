// SPDX-License-Identifier: Apache-2.0
// Identifiers, rows, groups and files of the HDF5 layer.
#include "io/timeline/hdf5.hpp"

#include "core/check.hpp"
#include "io/timeline/hdf5_error.hpp"

#include <hdf5.h>

#include <algorithm>
#include <type_traits>

namespace orrery::hdf5 {

static_assert(std::is_same_v<RawId, hid_t>);

namespace {
bool left_something_open = false, leaves_all_open = false;
}

bool closing_failed() {
    return left_something_open;
}

void leave_all_open() {
    left_something_open = leaves_all_open = true;
}

int Handle::close() {
    auto const id = std::exchange(id_, -1);
    auto const status = id >= 0 && !leaves_all_open ? closer_(id) : 0;
    if (status < 0) left_something_open = true;
    return status;
}

namespace {

Handle file_type(RowType type) {
    switch (type.element) {
        case Element::u8:
            return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
        case Element::u16:
            return {H5Tcopy(H5T_STD_U16LE), H5Tclose};
        case Element::u32:
            return {H5Tcopy(H5T_STD_U32LE), H5Tclose};
        case Element::i32:
            return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
        case Element::i64:
            return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
        case Element::f64:
            return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
        case Element::text:
            break;
    }
    Handle text{H5Tcopy(H5T_C_S1), H5Tclose};
    H5Tset_size(text.id(), type.text_bytes);
    H5Tset_strpad(text.id(), H5T_STR_NULLPAD);
    H5Tset_cset(text.id(), H5T_CSET_UTF8);
    return text;
}

RowType row_type(hid_t type, std::string const& where) {
    auto const size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_STRING:
            return {Element::text, size};
        case H5T_FLOAT:
            if (size == 8) return {Element::f64};
            break;
        case H5T_INTEGER:
            if (H5Tget_sign(type) == H5T_SGN_NONE) {
                if (size == 1) return {Element::u8};
                if (size == 2) return {Element::u16};
                if (size == 4) return {Element::u32};
            } else {
                if (size == 4) return {Element::i32};
                if (size == 8) return {Element::i64};
            }
            break;
        default:
            break;
    }
    throw InputError(fmt::format("cannot read {} (its element type is not one that Orrery writes)", where));
}

// No chunk cache: only whole blocks are written and read, each chunk once; a cache of 1 MiB per column would add up.
Handle uncached() {
    Handle access{H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
    H5Pset_chunk_cache(access.id(), 1, 0, 1.0);
    return access;
}

Handle file_access(Format format) {
    Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    H5Pset_fapl_sec2(access.id());
    // Every file has one writer, and some parallel file systems know no locks.
    H5Pset_file_locking(access.id(), false, true);
    if (format == Format::compatible) return access;
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5AC_cache_config_t cache{};
    cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    H5Pget_mdc_config(access.id(), &cache);
    cache.max_size = streaming_metadata_bytes;
    cache.initial_size = std::min(cache.initial_size, cache.max_size);
    H5Pset_mdc_config(access.id(), &cache);
    return access;
}

std::string child_name(std::string const& where, std::string const& name) {
    return where + (where.find(":/") == std::string::npos ? ":/" : "/") + name;
}

// One hyperslab of `count` rows from `first`, and its space in memory.
struct Selection {
    Handle file, memory;
};

Selection select(hid_t dataset, std::uint64_t first, std::uint64_t count, std::string const& where) {
    hsize_t const start = first, length = count;
    Selection s{{H5Dget_space(dataset), H5Sclose}, {H5Screate_simple(1, &length, nullptr), H5Sclose}};
    check(H5Sselect_hyperslab(s.file.id(), H5S_SELECT_SET, &start, nullptr, &length, nullptr), "cannot select rows of",
          where);
    return s;
}

}  // namespace

std::size_t RowType::size() const {
    switch (element) {
        case Element::u8:
            return 1;
        case Element::u16:
            return 2;
        case Element::u32:
        case Element::i32:
            return 4;
        case Element::i64:
        case Element::f64:
            return 8;
        case Element::text:
            break;
    }
    return text_bytes;
}

std::string RowType::name() const {
    static constexpr char const* names[] = {"u8", "u16", "u32", "i32", "i64", "f64"};
    return element == Element::text ? fmt::format("text[{}]", text_bytes) : names[static_cast<int>(element)];
}

Dataset::Dataset(Handle handle, std::string where) : Object(std::move(handle), std::move(where)) {
    Handle const stored{check(H5Dget_type(id()), "cannot read the type of", where_), H5Tclose};
    type_ = row_type(stored.id(), where_);
    memory_type_ = Handle{H5Tget_native_type(stored.id(), H5T_DIR_ASCEND), H5Tclose};
    Handle const space{check(H5Dget_space(id()), "cannot read the shape of", where_), H5Sclose};
    ORRERY_VALIDATE(H5Sget_simple_extent_ndims(space.id()) == 1, "cannot read {} (it is not one-dimensional)", where_);
    hsize_t extent = 0;
    H5Sget_simple_extent_dims(space.id(), &extent, nullptr);
    rows_ = extent;
}

std::uint64_t Dataset::chunk_rows() const {
    Handle const plist{check(H5Dget_create_plist(id()), "cannot read the layout of", where_), H5Pclose};
    hsize_t rows = 0;
    check(H5Pget_chunk(plist.id(), 1, &rows), "cannot read the chunk size of", where_);
    return rows;
}

void Dataset::append(std::span<std::byte const> rows) {
    ORRERY_ENSURE(rows.size() % type_.size() == 0, "{} B are not whole rows of {}", rows.size(), where_);
    std::uint64_t const count = rows.size() / type_.size();
    if (count == 0) return;
    hsize_t const extent = rows_ + count;
    check(H5Dset_extent(id(), &extent), "cannot extend", where_);
    auto const selection = select(id(), rows_, count, where_);
    auto const status =
        H5Dwrite(id(), memory_type_.id(), selection.memory.id(), selection.file.id(), H5P_DEFAULT, rows.data());
    if (status < 0) {
        auto const reason = innermost_reason();
        hsize_t const before = rows_;
        H5Dset_extent(id(), &before);  // rows that are not there must not be read as zeros
        raise_hdf5("cannot write", where_, reason);
    }
    rows_ = extent;
}

void Dataset::read(std::uint64_t first, std::span<std::byte> rows) const {
    std::uint64_t const count = rows.size() / type_.size();
    ORRERY_ENSURE(first + count <= rows_ && rows.size() % type_.size() == 0, "rows {}..{} of {} in {}", first,
                  first + count, rows_, where_);
    if (count == 0) return;
    auto const selection = select(id(), first, count, where_);
    check(H5Dread(id(), memory_type_.id(), selection.memory.id(), selection.file.id(), H5P_DEFAULT, rows.data()),
          "cannot read", where_);
}

void Dataset::append_chunks(Dataset const& other, std::uint64_t first_chunk, std::uint64_t count) {
    if (count == 0) return;
    auto const chunk = chunk_rows();
    ORRERY_ENSURE(type_ == other.type_ && chunk == other.chunk_rows() && rows_ % chunk == 0 &&
                      (first_chunk + count) * chunk <= other.rows_,
                  "chunks {}..{} of {} do not fit {}", first_chunk, first_chunk + count, other.where_, where_);
    hsize_t const extent = rows_ + count * chunk;
    check(H5Dset_extent(id(), &extent), "cannot extend", where_);
    std::vector<std::byte> bytes;
    for (std::uint64_t c = 0; c < count; ++c) {
        hsize_t const from = (first_chunk + c) * chunk, to = rows_ + c * chunk;
        hsize_t size = 0;
        check(H5Dget_chunk_storage_size(other.id(), &from, &size), "cannot read", other.where_);
        bytes.resize(size);
        std::uint32_t skipped_filters = 0;
        check(H5Dread_chunk(other.id(), H5P_DEFAULT, &from, &skipped_filters, bytes.data()), "cannot read",
              other.where_);
        check(H5Dwrite_chunk(id(), H5P_DEFAULT, skipped_filters, &to, size, bytes.data()), "cannot write", where_);
    }
    rows_ = extent;
}

Group Group::create_group(std::string const& name) {
    auto const where = child_name(where_, name);
    Handle const plist{H5Pcreate(H5P_GROUP_CREATE), H5Pclose};
    H5Pset_obj_track_times(plist.id(), false);  // two runs of one scenario write the same bytes
    return {
        {check(H5Gcreate2(id(), name.c_str(), H5P_DEFAULT, plist.id(), H5P_DEFAULT), "cannot create", where), H5Gclose},
        where};
}

Group Group::open_group(std::string const& name) const {
    auto const where = child_name(where_, name);
    return {{check(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), "cannot open", where), H5Gclose}, where};
}

Dataset Group::create_dataset(std::string const& name, RowType type, std::uint64_t chunk_rows) {
    auto const where = child_name(where_, name);
    hsize_t const none = 0, unlimited = H5S_UNLIMITED, chunk = chunk_rows;
    Handle const space{H5Screate_simple(1, &none, &unlimited), H5Sclose};
    Handle const plist{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    H5Pset_obj_track_times(plist.id(), false);
    H5Pset_chunk(plist.id(), 1, &chunk);
    H5Pset_shuffle(plist.id());
    H5Pset_deflate(plist.id(), 1);
    auto const stored = file_type(type);
    return {{check(H5Dcreate2(id(), name.c_str(), stored.id(), space.id(), H5P_DEFAULT, plist.id(), uncached().id()),
                   "cannot create", where),
             H5Dclose},
            where};
}

Dataset Group::open_dataset(std::string const& name) const {
    auto const where = child_name(where_, name);
    return {{check(H5Dopen2(id(), name.c_str(), uncached().id()), "cannot open", where), H5Dclose}, where};
}

void Group::copy_from(Group const& other, std::string const& name) {
    check(H5Ocopy(other.id(), name.c_str(), id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "cannot copy",
          child_name(other.where_, name));
}

std::vector<Child> Group::children() const {
    std::vector<Child> found;
    auto const visit = [](hid_t group, char const* name, H5L_info_t const*, void* out) -> herr_t {
        H5O_info_t info;
        if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) return -1;
        static_cast<std::vector<Child>*>(out)->push_back({name, info.type == H5O_TYPE_GROUP});
        return 0;
    };
    check(H5Literate(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found), "cannot list", where_);
    std::ranges::sort(found, {}, &Child::name);
    return found;
}

File File::create(std::filesystem::path const& path, Format format) {
    silence_hdf5();
    Handle const plist{H5Pcreate(H5P_FILE_CREATE), H5Pclose};
    H5Pset_obj_track_times(plist.id(), false);
    return {{check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, plist.id(), file_access(format).id()), "cannot create",
                   path.string()),
             H5Fclose},
            path.string()};
}

File File::open(std::filesystem::path const& path, ReadMode mode) {
    silence_hdf5();
    unsigned const flags = H5F_ACC_RDONLY | (mode == ReadMode::live ? H5F_ACC_SWMR_READ : 0U);
    return {{check(H5Fopen(path.c_str(), flags, file_access(Format::compatible).id()), "cannot open", path.string()),
             H5Fclose},
            path.string()};
}

void File::start_streaming() {
    check(H5Fstart_swmr_write(id()), "cannot start streaming to", where_);
}

void File::flush() {
    check(H5Fflush(id(), H5F_SCOPE_LOCAL), "cannot flush", where_);
}

void File::close() {
    check(handle_.close(), "cannot close", where_);
}

}  // namespace orrery::hdf5

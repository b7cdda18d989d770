// SPDX-License-Identifier: Apache-2.0
// Attributes of the HDF5 layer: 64-bit integers, doubles, texts of any length and lists of texts.
#include "core/check.hpp"
#include "io/timeline/hdf5.hpp"
#include "io/timeline/hdf5_error.hpp"

#include <hdf5.h>

#include <algorithm>

namespace orrery::hdf5 {
namespace {

// Variable length keeps the text out of the object header, which holds at most 64 KiB.
Handle text_type() {
    Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
    H5Tset_size(type.id(), H5T_VARIABLE);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    return type;
}

void write(hid_t object, std::string const& name, hid_t stored, hid_t memory, Handle const& space, void const* data,
           std::string const& where) {
    if (check(H5Aexists(object, name.c_str()), "cannot look for attributes of", where) > 0)
        check(H5Adelete(object, name.c_str()), "cannot replace an attribute of", where);
    Handle const attribute{check(H5Acreate2(object, name.c_str(), stored, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                                 "cannot create an attribute of", where),
                           H5Aclose};
    check(H5Awrite(attribute.id(), memory, data), "cannot write an attribute of", where);
}

Handle scalar() {
    return {H5Screate(H5S_SCALAR), H5Sclose};
}

}  // namespace

void Object::set_attribute(std::string const& name, AttributeValue const& value) {
    if (auto const* integer = std::get_if<std::int64_t>(&value)) {
        write(id(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, scalar(), integer, where_);
    } else if (auto const* real = std::get_if<double>(&value)) {
        write(id(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, scalar(), real, where_);
    } else if (auto const* text = std::get_if<std::string>(&value)) {
        auto const type = text_type();
        char const* const pointer = text->c_str();
        write(id(), name, type.id(), type.id(), scalar(), &pointer, where_);
    } else {
        auto const& texts = std::get<std::vector<std::string>>(value);
        auto const type = text_type();
        std::vector<char const*> pointers;
        pointers.reserve(texts.size() + 1);  // HDF5 wants an address even for no texts
        for (auto const& entry : texts) pointers.push_back(entry.c_str());
        hsize_t const count = pointers.size();
        Handle const space{H5Screate_simple(1, &count, nullptr), H5Sclose};
        write(id(), name, type.id(), type.id(), space, pointers.data(), where_);
    }
}

AttributeValue Object::attribute(std::string const& name) const {
    Handle const attribute{check(H5Aopen(id(), name.c_str(), H5P_DEFAULT), "cannot read an attribute of", where_),
                           H5Aclose};
    Handle const stored{H5Aget_type(attribute.id()), H5Tclose};
    Handle const space{H5Aget_space(attribute.id()), H5Sclose};
    auto const read = [&](hid_t memory, void* data) {
        check(H5Aread(attribute.id(), memory, data), "cannot read an attribute of", where_);
    };
    switch (H5Tget_class(stored.id())) {
        case H5T_INTEGER: {
            std::int64_t value = 0;
            read(H5T_NATIVE_INT64, &value);
            return value;
        }
        case H5T_FLOAT: {
            double value = 0;
            read(H5T_NATIVE_DOUBLE, &value);
            return value;
        }
        case H5T_STRING:
            break;
        default:
            throw InputError(fmt::format("cannot read attribute {} of {} (unknown type)", name, where_));
    }
    auto const type = text_type();
    auto const count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id()));
    std::vector<char*> pointers(count);
    pointers.reserve(count + 1);
    read(type.id(), pointers.data());
    std::vector<std::string> texts(pointers.begin(), pointers.end());
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
    if (H5Sget_simple_extent_type(space.id()) == H5S_SCALAR) return texts.front();
    return texts;
}

std::vector<std::string> Object::attribute_names() const {
    std::vector<std::string> names;
    auto const visit = [](hid_t, char const* name, H5A_info_t const*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
    };
    check(H5Aiterate2(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &names), "cannot list attributes of", where_);
    std::ranges::sort(names);
    return names;
}

}  // namespace orrery::hdf5

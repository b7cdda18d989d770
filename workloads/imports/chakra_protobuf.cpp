// SPDX-License-Identifier: Apache-2.0
// Chakra traces as length-delimited Protobuf.
#include "proto/chakra_et.pb.h"
#include "workloads/imports/chakra_trace.hpp"
#include "workloads/models/json_file.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

namespace pb = google::protobuf;

std::optional<std::int64_t> in_range(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(value);
}
int unknown_fields(pb::Message const& message) {
    return message.GetReflection()->GetUnknownFields(message).field_count();
}
std::optional<std::int64_t> if_whole(double value) {
    if (value < -9e18 || value > 9e18 || value != static_cast<double>(static_cast<std::int64_t>(value)))
        return std::nullopt;
    return static_cast<std::int64_t>(value);
}

ChakraValue value_of(chakra::Attribute const& attribute) {
    using A = chakra::Attribute;
    switch (attribute.value_case()) {
        case A::kDoubleVal:
            return {.whole = if_whole(attribute.double_val()), .text = {}};
        case A::kFloatVal:
            return {.whole = if_whole(static_cast<double>(attribute.float_val())), .text = {}};
        case A::kInt32Val:
            return {.whole = attribute.int32_val(), .text = {}};
        case A::kInt64Val:
            return {.whole = attribute.int64_val(), .text = {}};
        case A::kUint32Val:
            return {.whole = attribute.uint32_val(), .text = {}};
        case A::kUint64Val:
            return {.whole = in_range(attribute.uint64_val()), .text = {}};
        case A::kSint32Val:
            return {.whole = attribute.sint32_val(), .text = {}};
        case A::kSint64Val:
            return {.whole = attribute.sint64_val(), .text = {}};
        case A::kFixed32Val:
            return {.whole = attribute.fixed32_val(), .text = {}};
        case A::kFixed64Val:
            return {.whole = in_range(attribute.fixed64_val()), .text = {}};
        case A::kSfixed32Val:
            return {.whole = attribute.sfixed32_val(), .text = {}};
        case A::kSfixed64Val:
            return {.whole = attribute.sfixed64_val(), .text = {}};
        case A::kBoolVal:
            return {.whole = attribute.bool_val() ? 1 : 0, .text = {}};
        case A::kStringVal:
            return {.whole = {}, .text = attribute.string_val()};
        case A::kBoolList: {
            auto const& list = attribute.bool_list().values();
            return {
                .whole = {}, .text = {}, .all_true = std::all_of(list.begin(), list.end(), [](bool b) { return b; })};
        }
        default:
            return {.whole = {}, .text = {}};
    }
}

class ProtobufReader {
  public:
    ProtobufReader(std::filesystem::path const& path, Findings& findings)
        : path_(path), findings_(findings), file_(open_input(path, "Chakra trace")), stream_(&file_), coded_(&stream_) {
        trace_.file = path.string();
    }

    ChakraTrace read() {
        chakra::GlobalMetadata metadata;
        if (!next(metadata)) refuse("it is empty", "the metadata come first");
        ORRERY_VALIDATE(unknown_fields(metadata) == 0 && well_formed(metadata),
                        "{}: it does not begin with the metadata of a trace (a version and attributes) give a Chakra "
                        "trace of schema 0.0.4",
                        trace_.file);
        trace_.version = metadata.version();
        chakra::Node node;
        while (next(node)) take(node);
        return std::move(trace_);
    }

  private:
    [[noreturn]] void refuse(std::string_view problem, std::string_view reason) const {
        throw InputError(fmt::format("{}: byte {}: {} ({}) give a complete Chakra trace", trace_.file,
                                     coded_.CurrentPosition(), problem, reason));
    }

    // A message after its length; false at the end of the file.
    template <class Message>
    bool next(Message& message) {
        coded_.SetTotalBytesLimit(std::numeric_limits<int>::max());
        auto const start = coded_.CurrentPosition();
        std::uint32_t size = 0;
        if (!coded_.ReadVarint32(&size)) {
            if (coded_.CurrentPosition() == start) return false;
            refuse("the length of a message is cut", "the file ends here");
        }
        auto const limit = coded_.PushLimit(static_cast<int>(size));
        message.Clear();
        if (!message.MergeFromCodedStream(&coded_) || !coded_.ConsumedEntireMessage())
            refuse(fmt::format("the message of {} bytes is no part of a trace", size), "it is cut or damaged");
        if (coded_.BytesUntilLimit() != 0) refuse("a message is cut", "the file ends here");
        coded_.PopLimit(limit);
        return true;
    }

    // Anything parses as something: names of attributes are what tells.
    static bool well_formed(chakra::GlobalMetadata const& metadata) {
        return std::all_of(metadata.attr().begin(), metadata.attr().end(),
                           [](auto const& attribute) { return !attribute.name().empty(); });
    }

    void take(chakra::Node const& from) {
        ChakraNode node;
        node.id = from.id();
        node.name = from.name();
        auto const place = FilePlace{trace_.file, node.id, FilePlace::Unit::node};
        if (from.type() < 0 || from.type() > static_cast<int>(ChakraType::collective))
            findings_.mend(place, fmt::format("the node is of type {}", from.type()),
                           "(schema 0.0.4 has 0 to 7) correct it", "it takes no time");
        else
            node.type = static_cast<ChakraType>(from.type());
        node.data_deps.assign(from.data_deps().begin(), from.data_deps().end());
        node.control_deps.assign(from.ctrl_deps().begin(), from.ctrl_deps().end());
        if (auto const duration = in_range(from.duration_micros()); duration && *duration < 9'000'000'000'000)
            node.duration_us = *duration;
        else
            findings_.refuse(place, fmt::format("the duration is {} us", from.duration_micros()),
                             "(beyond the range of simulated time) correct it");
        if (auto const unknown = unknown_fields(from); unknown > 0)
            findings_.ignores("fields of nodes that schema 0.0.4 does not have", place, unknown);
        for (auto const& attribute : from.attr()) {
            if (unknown_fields(attribute) > 0)
                findings_.ignores("attributes of a type that schema 0.0.4 does not have", place);
            auto const use = set_chakra_attribute(node, attribute.name(), value_of(attribute));
            if (use == ChakraUse::unknown) findings_.ignores(fmt::format("attribute {}", attribute.name()), place);
        }
        trace_.nodes.push_back(std::move(node));
    }

    std::filesystem::path path_;
    Findings& findings_;
    std::ifstream file_;
    pb::io::IstreamInputStream stream_;
    pb::io::CodedInputStream coded_;
    ChakraTrace trace_;
};

}  // namespace

ChakraTrace read_chakra_protobuf(std::filesystem::path const& path, Findings& findings) {
    return ProtobufReader(path, findings).read();
}

}  // namespace orrery

// SPDX-License-Identifier: Apache-2.0
#include "workloads/schedule/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>

namespace orrery {
namespace {

// A function, so that it exists before the first registration of any file.
std::map<std::string, ScheduleFormat>& registry() {
    static std::map<std::string, ScheduleFormat> formats;
    return formats;
}

std::string head_of(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    ORRERY_VALIDATE(in.good(), "{} (cannot be read) check the name and its permissions", file.string());
    std::string head(4096, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    return head;
}

}  // namespace

ScheduleFormatRegistration::ScheduleFormatRegistration(ScheduleFormat format) {
    auto name = format.name;
    registry().emplace(std::move(name), std::move(format));
}

std::vector<ScheduleFormat const*> schedule_formats() {
    std::vector<ScheduleFormat const*> formats;
    for (auto const& [name, format] : registry()) formats.push_back(&format);
    return formats;
}

ReadSchedule read_schedule(std::filesystem::path const& file) {
    auto const head = head_of(file);
    std::vector<std::string> names;
    for (auto const* format : schedule_formats()) {
        if (format->recognises(file, head)) return format->read(file);
        names.push_back(format->name);
    }
    throw InputError(
        fmt::format("{} (no schedule in a known format) use one of {}", file.string(), fmt::join(names, ", ")));
}

}  // namespace orrery

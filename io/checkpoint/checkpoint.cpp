// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint.hpp"

#include "io/scenario/schema.hpp"
#include "io/timeline/about.hpp"
#include "io/timeline/atomic_file.hpp"
#include "orrery_version.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kept = 2;

Json json_of(FileFacts const& facts) {
    return {{"name", facts.name}, {"bytes", facts.bytes}, {"checksum", facts.checksum}};
}
FileFacts facts_of(Json const& json) {
    return {json.at("name"), json.at("bytes"), json.at("checksum")};
}

std::vector<std::uint8_t> binary_of(scenario::Scenario const& scenario) {
    auto const text = scenario.SerializeAsString();
    return {text.begin(), text.end()};
}

Json json_of(CheckpointManifest const& m) {
    Json json{{"number", m.number},
              {"program", m.program},
              {"scenario", Json{{"name", m.loaded.scenario.name()},
                                {"message", binary_of(m.loaded.scenario)},
                                {"origin", m.loaded.origin},
                                {"ignored", m.loaded.ignored},
                                {"directory", m.loaded.directory.string()}}},
              {"simulated_ps", m.simulated_ps},
              {"windows", m.windows},
              {"events", m.events},
              {"processes", m.processes},
              {"leg", m.leg},
              {"wall_s", m.wall_s},
              {"cpu_s", m.cpu_s},
              {"inputs", Json::array()},
              {"parts", Json::array()},
              {"files", Json::array()}};
    for (auto const& input : m.inputs) json["inputs"].push_back(json_of(input));
    for (auto const& part : m.parts)
        json["parts"].push_back({{"leg", part.leg}, {"process", part.process}, {"rows", part.rows}});
    for (auto const& file : m.files) json["files"].push_back(json_of(file));
    return json;
}

CheckpointManifest manifest_of(Json const& json) {
    CheckpointManifest m;
    m.number = json.at("number");
    m.program = json.at("program");
    auto const& scenario = json.at("scenario");
    auto const message = scenario.at("message").get<std::vector<std::uint8_t>>();
    ORRERY_VALIDATE(m.loaded.scenario.ParseFromArray(message.data(), static_cast<int>(message.size())),
                    "its scenario is damaged");
    m.loaded.origin = scenario.at("origin").get<std::map<std::string, std::string>>();
    m.loaded.ignored = scenario.at("ignored").get<std::vector<std::string>>();
    m.loaded.directory = scenario.at("directory").get<std::string>();
    m.simulated_ps = json.at("simulated_ps");
    m.windows = json.at("windows");
    m.events = json.at("events");
    m.processes = json.at("processes");
    m.leg = json.at("leg");
    m.wall_s = json.at("wall_s");
    m.cpu_s = json.at("cpu_s");
    for (auto const& input : json.at("inputs")) m.inputs.push_back(facts_of(input));
    for (auto const& part : json.at("parts")) m.parts.push_back({part.at("leg"), part.at("process"), part.at("rows")});
    for (auto const& file : json.at("files")) m.files.push_back(facts_of(file));
    return m;
}

std::string checksum_text(Json const& manifest) {
    auto const text = manifest.dump();
    return fmt::format("{:016x}", checksum_of(std::as_bytes(std::span(text))));
}

// A rename is on the disk when the folder that holds the name is.
void sync_folder(fs::path const& folder) {
    auto const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;  // some file systems have no such thing; the rename stands all the same
    ::fsync(descriptor);
    ::close(descriptor);
}

void ensure_gone_or_made(std::error_code const& error, fs::path const& path) {
    if (error) throw StorageError(fmt::format("cannot write {} ({})", path.string(), error.message()));
}

// The first line in which two texts part, without what follows the value.
std::string first_difference(std::string const& wanted, std::string const& found) {
    std::size_t at = 0;
    while (at < wanted.size() && at < found.size() && wanted[at] == found[at]) ++at;
    auto const line = [at](std::string const& text) {
        auto const newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
        auto const begin = newline == std::string::npos ? 0 : newline + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    return fmt::format("\"{}\" there, \"{}\" here", line(wanted), line(found));
}

}  // namespace

std::string program_identity() {
    static std::string const identity = fmt::format("orrery {} ({}, {}), executable {:016x}", version_text, commit_text,
                                                    build_text, read_facts("/proc/self/exe").checksum);
    return identity;
}

std::vector<FileFacts> input_facts(scenario::Scenario const& scenario) {
    std::vector<FileFacts> all;
    loader::visit_fields(scenario, "",
                         [&](std::string const&, loader::Message const& message, loader::Field const& field) {
                             if (loader::facts_of(field).unit != scenario::PATH || !loader::is_set(message, field))
                                 return;
                             fs::path const path = message.GetReflection()->GetString(message, &field);
                             if (!fs::is_regular_file(path))
                                 return;  // it has no effect, else the scenario would have been refused
                             all.push_back(read_facts(path));
                             all.back().name = path.string();
                         });
    return all;
}

fs::path checkpoints_of(fs::path const& run) {
    return run / "checkpoints";
}

std::string checkpoint_name(std::uint32_t number) {
    return fmt::format("c{:06}", number);
}

fs::path state_path(fs::path const& checkpoint, std::uint32_t process) {
    return checkpoint / fmt::format("p{:04}.state", process);
}

fs::path unpublished_checkpoint(fs::path const& run, std::uint32_t number) {
    auto path = checkpoints_of(run) / checkpoint_name(number);
    path += ".tmp";
    return path;
}

void begin_checkpoint(fs::path const& run, std::uint32_t number) {
    auto const path = unpublished_checkpoint(run, number);
    std::error_code error;
    fs::remove_all(path, error);
    ensure_gone_or_made(error, path);
    fs::create_directories(path, error);
    ensure_gone_or_made(error, path);
}

void publish_checkpoint(fs::path const& run, CheckpointManifest const& manifest) {
    auto const temporary = unpublished_checkpoint(run, manifest.number);
    auto const path = checkpoints_of(run) / checkpoint_name(manifest.number);
    auto const json = json_of(manifest);
    auto const text = Json{{"checksum", checksum_text(json)}, {"checkpoint", json}}.dump(1);
    replace_file(temporary / "manifest.json", std::as_bytes(std::span(text)));
    sync_folder(temporary);
    std::error_code error;
    fs::rename(temporary, path, error);
    ensure_gone_or_made(error, path);
    sync_folder(checkpoints_of(run));
    auto const all = published_checkpoints(run);
    for (std::size_t i = kept; i < all.size(); ++i)
        fs::remove_all(checkpoints_of(run) / checkpoint_name(all[i]), error);
}

std::vector<std::uint32_t> published_checkpoints(fs::path const& run) {
    std::vector<std::uint32_t> numbers;
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(checkpoints_of(run), error)) {
        auto const name = entry.path().filename().string();
        bool const named = name.size() == 7 && name.front() == 'c' &&
                           std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (named) numbers.push_back(static_cast<std::uint32_t>(std::stoul(name.substr(1))));
    }
    std::sort(numbers.rbegin(), numbers.rend());
    return numbers;
}

void remove_checkpoints_after(fs::path const& run, std::uint32_t number) {
    for (auto const found : published_checkpoints(run)) {
        if (found <= number) continue;
        std::error_code error;
        auto const folder = checkpoints_of(run) / checkpoint_name(found);
        fs::remove_all(folder, error);
        ensure_gone_or_made(error, folder);
    }
}

void remove_checkpoints(fs::path const& run) {
    std::error_code ignored;
    fs::remove_all(checkpoints_of(run), ignored);
}

CheckpointManifest read_manifest(fs::path const& run, std::uint32_t number) {
    auto const folder = checkpoints_of(run) / checkpoint_name(number);
    auto const path = folder / "manifest.json";
    CheckpointManifest manifest;
    try {
        std::ifstream file(path, std::ios::binary);
        ORRERY_VALIDATE(static_cast<bool>(file), "there is no such file");
        auto const json = Json::parse(file);
        ORRERY_VALIDATE(json.at("checksum") == checksum_text(json.at("checkpoint")), "its checksum does not match");
        manifest = manifest_of(json.at("checkpoint"));
        ORRERY_VALIDATE(manifest.number == number && manifest.files.size() == manifest.processes,
                        "it is the manifest of another checkpoint");
    } catch (InputError const& error) {
        throw InputError(fmt::format("cannot use {} ({})", path.string(), error.what()));
    } catch (Json::exception const&) {
        throw InputError(fmt::format("cannot use {} (it is damaged or cut short)", path.string()));
    }
    ORRERY_VALIDATE(manifest.program == program_identity(),
                    "cannot use {} (written by {}; this is {}) resume with the program that wrote it", folder.string(),
                    manifest.program, program_identity());
    return manifest;
}

void verify_file(fs::path const& checkpoint, FileFacts const& expected) {
    auto const path = checkpoint / expected.name;
    auto const found = read_facts(path);
    ORRERY_VALIDATE(found.bytes == expected.bytes, "cannot use {} ({} bytes where {} were written)", path.string(),
                    found.bytes, expected.bytes);
    ORRERY_VALIDATE(found.checksum == expected.checksum, "cannot use {} (its bytes have changed since it was written)",
                    path.string());
}

void verify_inputs(fs::path const& run, CheckpointManifest const& manifest) {
    auto const folder = checkpoints_of(run) / checkpoint_name(manifest.number);
    auto const path = about_path(run);
    auto const about = hdf5::File::open(path, hdf5::ReadMode::closed).open_group("manifest");
    auto const found = std::get<std::string>(about.attribute("scenario"));
    auto const wanted = resolved_text(manifest.loaded);
    ORRERY_VALIDATE(found == wanted,
                    "cannot use {} (its scenario is not that of {}: {}) put the scenario back, or start a new run",
                    folder.string(), path.string(), first_difference(wanted, found));
    for (auto const& input : manifest.inputs) {
        auto const now = read_facts(input.name);
        ORRERY_VALIDATE(now.bytes == input.bytes && now.checksum == input.checksum,
                        "cannot resume from {} ({} has changed since) put that file back, or start a new run",
                        folder.string(), input.name);
    }
}

}  // namespace orrery

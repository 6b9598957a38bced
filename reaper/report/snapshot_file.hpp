// Snapshot files: the cloud as the reaper saw it at one time, to look at and plan on without a
// cloud. `"format": "reaper-snapshot", "version": 1`; every field is described in SNAPSHOT.md
// beside this file. A change that would break a reader gets a new number.
#pragma once

#include <new>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "reaper/json/json_place.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/rooms/ledger.hpp"
#include "tagging/tagger.hpp"

namespace reaper::report {

// The parts of a snapshot file by themselves, for recordings, which have them one by one.

/// As SNAPSHOT.md describes them; what servers hold on any provider is kept.
nlohmann::json host_json(const Host& host);
nlohmann::json ledger_json(const Ledger& ledger);
nlohmann::json tag_data_json(const TagData& tag_data);

/// Adds those of the projects that have servers on the host to an object of id to name.
void add_project_names(nlohmann::json& object, const Host& host, const ProjectNames& names);

/// The inverses; `bad_input` with the place for anything of another shape.
Result<Host> host_from_json(const nlohmann::json& document);
Result<Ledger> ledger_from_json(const nlohmann::json& document);
Result<TagData> tag_data_from_json(const nlohmann::json& document);
Result<ProjectNames> project_names_from_json(const nlohmann::json& document);

/// The same for readers of whole files. Each throws WrongJson.
Host host_in(const JsonPlace& in);
Ledger ledger_in(const JsonPlace& in);
TagData tag_data_in(const JsonPlace& in);
ProjectNames project_names_in(const JsonPlace& in);
/// A resource class or trait, as Placement admits them.
const std::string& upper_name(const JsonPlace& place, const std::string& name);

/// What `build` makes of a document, or what is wrong with it.
template <class Build>
auto guarded(Build build) -> Result<decltype(build())> {
    try {
        return build();
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    } catch (const std::bad_alloc&) {
        return Error{Errc::bad_input, "takes more memory to read than there is"};
    } catch (const nlohmann::json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

inline constexpr int snapshot_version = 1;
/// Of these a file has no more, and none are read beyond them; where there are more, the last one
/// says so.
inline constexpr std::size_t max_snapshot_remarks = 1'000;
/// That last one.
std::string more_remarks(std::size_t count);

struct SnapshotFile {
    Snapshot snapshot;
    TagData tag_data;  ///< the answers that the servers' `revocable_because` stands on
    Ledger ledger;     ///< as the journal shows it: nothing expired yet
    bool anonymous = false;
};

/// Written host by host, so that memory does not grow with the cloud. Ends in a newline.
void write_snapshot(std::ostream& out, const SnapshotFile& file);

/// The inverse. `bad_input` with the place (`hosts[3].servers[17].created: ...`) for text that is
/// not JSON, has another format or version, or whose fields are missing, duplicate or of another
/// type. The same for contradictions (a host without a provider, a duplicate server, more held than
/// used). Unknown members are skipped. Builds one host at a time, at most 16 levels deep; time and
/// memory stay in proportion to the text.
Result<SnapshotFile> read_snapshot(std::string_view text);

}  // namespace reaper::report

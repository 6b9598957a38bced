// The parts of a snapshot file by themselves, for recordings, which have them one by one.
#pragma once

#include <new>
#include <nlohmann/json.hpp>

#include "reaper/json/json_place.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/rooms/ledger.hpp"
#include "tagging/tagger.hpp"

namespace reaper::report {

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

}  // namespace reaper::report

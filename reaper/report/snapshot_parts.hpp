// The parts of a snapshot file by themselves, for recordings, which have them one by one.
#pragma once

#include <nlohmann/json.hpp>

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

}  // namespace reaper::report

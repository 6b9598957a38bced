// Internal to Keystone's files.
#pragma once

#include <span>
#include <string>

#include "tests/cloudsim/api/call.hpp"

namespace reaper::cloudsim {

// What needs a token.
std::span<const Route> keystone_projects();
/// Users, roles, grants, application credentials, the domain.
std::span<const Route> keystone_users();

Response empty(int status = 204);
/// 404 as Keystone words it; `what` is the kind of thing.
[[noreturn]] void missing(const char* what, const std::string& id);
Project& project_of(Call& call, const std::string& id);
User& user_of(Call& call, const std::string& id);
void write_self(JsonWriter& json, const Call& call, const std::string& path);
/// The end of a list, with its links.
void close_list(JsonWriter& json, const Call& call, const std::string& path);

}  // namespace reaper::cloudsim

// What Keystone's resources share.
#include "tests/cloudsim/api/keystone_parts.hpp"

namespace reaper::cloudsim {

Response empty(int status) {
    Response response;
    response.status = status;
    response.content_type.clear();
    return response;
}

void missing(const char* what, const std::string& id) {
    throw ApiError(404, std::string("Could not find ") + what + ": " + id + ".");
}

Project& project_of(Call& call, const std::string& id) {
    Project* project = call.world.identity.project(id);
    if (!project) missing("project", id);
    return *project;
}

User& user_of(Call& call, const std::string& id) {
    User* user = call.world.identity.user(id);
    if (!user) missing("user", id);
    return *user;
}

void write_self(JsonWriter& json, const Call& call, const std::string& path) {
    json.open_object("links").member("self", call.base + "/v3" + path).close_object();
}

void close_list(JsonWriter& json, const Call& call, const std::string& path) {
    const std::string query = call.request.query_text();
    json.close_array().open_object("links").member("next", nullptr);
    json.member("self", call.base + "/v3" + path + (query.empty() ? "" : "?" + query));
    json.member("previous", nullptr).close_object().close_object();
}

}  // namespace reaper::cloudsim

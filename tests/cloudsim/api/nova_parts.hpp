// Internal to Nova's files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tests/cloudsim/api/call.hpp"

namespace reaper::cloudsim {

std::span<const Route> nova_servers();
std::span<const Route> nova_server_parts();  ///< metadata, tags, actions of one server
std::span<const Route> nova_hosts();
std::span<const Route> nova_aggregates();
std::span<const Route> nova_catalogue();  ///< flavors, groups, limits

/// POST /servers/{id}/action
Response server_action(Call& call);

/// POST /servers
Response create_servers(Call& call);

/// 202 or 204 without a body.
Response accepted(int status);
/// The server of the path, if the caller may know of it; 404 otherwise.
Server& server_of(Call& call);
void throw_refused(const Outcome& refused);

void write_server(JsonWriter& json, const Call& call, const Server& server, bool single);
void write_links(JsonWriter& json, const Call& call, const std::string& collection,
                 const std::string& id);
void write_bookmark(JsonWriter& json, const Call& call, const std::string& collection,
                    const std::string& id);
/// `{"rel": "next"}` with the same query and another marker.
void write_next_link(JsonWriter& json, const Call& call, const std::string& key,
                     const std::string& marker);
/// What the query asks for, at most the cloud's own limit.
std::size_t page_size(const Call& call);
/// sha224 of project and host, as Nova's `hostId`.
std::string host_id(const std::string& project, const std::string& host);

}  // namespace reaper::cloudsim

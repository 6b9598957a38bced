// A service's refusal as an Error of ours. Pure.
#pragma once

#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/ports/http_client.hpp"

namespace reaper::openstack {

/// An answer of a service, and the call that it answers: `GET nova http://host:8774/v2.1/servers`.
struct Answer {
    http::Response response;
    std::string where;
};

/// The message in an error body of Nova, Keystone or Placement; of another body its beginning. One
/// line, cut; empty if there is nothing.
std::string service_message(std::string_view body);

/// For an unwanted answer. `who` names the user that asked, for the hint of a 403.
Error status_error(const Answer& answer, const std::string& who);

}  // namespace reaper::openstack

// Glance (API version 2) as the Images port.
//
// Answers are kept for a minute, so that a flood of requests of one image asks once. After a
// failure nothing is asked for half a minute: an image service that is away must not slow down
// culls.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clients/openstack/session.hpp"
#include "reaper/ports/images.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::openstack {

/// `clock` must outlive the port and its calls.
std::shared_ptr<Images> make_images(std::shared_ptr<Session> session, Clock& clock);

/// Where Glance is; `bad_input` if the catalog has none. Nothing is sent to it.
ResultTask<EndpointInfo> glance_info(std::shared_ptr<Session> session);

/// The top-level members of an image that are texts. Pure. `where` names the call in the error.
Result<ImageProperties> read_image(std::string_view body, const std::string& where);

struct ServerImagePage {
    std::vector<ServerImage> images;
    std::string last_id;  ///< where the next page begins; empty: this is the last one
};
/// Images that name the server that they were made of. Pure.
Result<ServerImagePage> read_server_images(std::string_view body, const std::string& where);

/// The root of the version 2 API below the catalog's endpoint, which may have the version or not.
std::string images_root(std::string endpoint);

}  // namespace reaper::openstack

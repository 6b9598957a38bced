// Port: the image service, in the domain's words.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// What an image's owner wrote on it, by name.
using ImageProperties = std::map<std::string, std::string>;

/// An image that Nova made of a server.
struct ServerImage {
    std::string id;
    std::string name;
    ServerId server;
    TimePoint created{};
};

class Images {
public:
    virtual ~Images() = default;
    /// The image's properties that are texts, as they were within the last minute; none if there is
    /// no such image, or no image service. An error if it may not be seen (`forbidden`), or there
    /// is no answer within a few seconds, or none that can be used: what the image says is not
    /// known then.
    virtual ResultTask<std::optional<ImageProperties>> image(std::string id) = 0;
    /// Those that belong to the reaper's project and that Nova made for the reaper's user, as of a
    /// server that it shelved. None where there is no image service.
    virtual ResultTask<std::vector<ServerImage>> own_server_images() = 0;
    /// False: there is no such image.
    virtual ResultTask<bool> delete_image(std::string id) = 0;
};

}  // namespace reaper

// Port: the image service, in the domain's words.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/ports/task.hpp"

namespace reaper {

/// What an image's owner wrote on it, by name.
using ImageProperties = std::map<std::string, std::string>;

/// The image service is optional, and nothing waits for it for long: an image that can't be read is
/// as good as one without properties. The log says so once, until one can be read again.
class Images {
public:
    virtual ~Images() = default;
    /// The image's properties that are texts, as they were within the last minute; none if there is
    /// no such image, no image service, no right to see it, or no answer within a few seconds.
    virtual Task<std::optional<ImageProperties>> image(std::string id) = 0;
};

}  // namespace reaper

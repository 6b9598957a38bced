// Reads one picture of the cloud through the ports: bulk calls first, then three for each provider,
// as many at a time as the clients allow.
#pragma once

#include <functional>

#include "reaper/cloud_cache/assemble.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

/// The answers to the taggers' questions, from Keystone.
ResultTask<TagFacts> read_tag_facts(CloudPorts ports, TagQuestions questions);

/// All of it, or the first failure: a picture with holes is not a picture. `taggers` must live
/// until the end. `progress` (may be empty) is told the providers read and their number.
ResultTask<Picture> read_picture(CloudPorts ports, const Taggers& taggers,
                                 std::function<void(std::size_t, std::size_t)> progress);

}  // namespace reaper

// Reads the whole cloud in few calls: lists from Nova, Keystone and Placement, and the room of
// thousands of hosts from Placement's summaries. Only hosts that no summary covers (full in every
// class) are read one by one.
#pragma once

#include <functional>
#include <string>

#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

/// Told what is being read, for people; may be empty.
using Tell = std::function<void(const std::string&)>;

/// A picture whose hosts are `estimated`, but for those read one by one. The first failure is the
/// answer: a picture with holes is not a picture. `taggers` must live until the end.
ResultTask<Picture> read_bulk_picture(CloudPorts ports, const Taggers& taggers, Tell tell);

}  // namespace reaper

// Deletes the images of servers that the reaper shelved, when they are of no more use.
//
// Nova copies a server that is shelved to Glance for the reaper's user, and deletes the image as
// the user that brings the server back or deletes it. An owner may not, so that the image would
// stay.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

class ShelvedImages {
public:
    /// Between two looks.
    static constexpr Duration step = std::chrono::minutes{1};

    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        std::function<bool()> may_act;  ///< this reaper serves, shelves servers, is not paused
    };
    explicit ShelvedImages(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look. An error: which images there are is not known, or of some, whether their servers
    /// are back, or they could not be deleted.
    ResultTask<void> look();

private:
    ResultTask<void> judge(ServerImage image);

    Dependencies dependencies_;
    std::set<std::string> not_ours_;  ///< images of no server that a reaper shelved then
    std::set<std::string> of_gone_;   ///< whose servers were gone at the last look
};

}  // namespace reaper

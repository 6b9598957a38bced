// Says on servers, in their metadata, as what they run: `res-type=regular` or `res-type=revocable`,
// so that billing can tell. Set once, after the server got its room; what is there already is its
// user's and stays, which is told in the log where it says something else.
//
// Which servers: `mark.servers` of the configuration. Nothing of it is urgent: few calls, one after
// the other, behind everything else; what fails is tried again a few times.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

class ServerMarks {
public:
    /// References must outlive the marks.
    struct Parts {
        CloudPorts cloud;
        PictureKeeper& keeper;
        const ServiceOptions& options;  ///< as of now: a reload counts at the next pass
        const bool& stopping;
    };

    explicit ServerMarks(Parts parts) : parts_(parts) {}

    /// It took room that was freed for it.
    void served(const ServerId& server);

    /// Until the service stops.
    Task<void> run();

private:
    enum class Marked { done, later, failed };

    Task<void> pass();
    std::vector<ServerId> due();
    Task<Marked> mark(ServerId id, const Taggers& taggers, const TagFacts& facts);
    Task<Marked> mark_as(ServerId id, std::string type);
    void settle(const ServerId& id, Marked marked);

    Parts parts_;
    std::map<ServerId, Duration> served_;  ///< until when (steady) it is tried
    std::set<ServerId> done_;              ///< of those in the picture
    std::map<ServerId, int> failures_;
};

}  // namespace reaper

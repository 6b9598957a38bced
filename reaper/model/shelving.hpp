// Which revocable servers are shelved instead of deleted: Nova takes them off their hosts, and
// keeps their volumes, ports, addresses and names, so that they can come back.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/notice_settings.hpp"

namespace reaper {

/// How a server goes.
enum class Departure {
    deleted,
    shelved,
    offloaded,  ///< it is shelved already, and still holds its room
};

/// Nova does it just now, or has and its room may be on the way.
bool is_being_shelved(const Server& server);

class ShelveRules {
public:
    explicit ShelveRules(const ShelveSettings& settings = {});

    /// No server is shelved, whatever it is.
    bool none() const { return servers_.empty() && owner_key_.empty(); }
    /// By what its owner says, if owners may; else by its flavor, project or a tagger of it.
    bool apply_to(const Server& server) const;
    /// One that Nova can't shelve in its state is deleted.
    Departure departure_of(const Server& server) const;
    /// Of one that is being shelved: why its room is on the way; none if it is not.
    std::optional<std::string> why_leaving(const Server& server) const;

private:
    std::set<std::string, std::less<>> servers_;
    std::string owner_key_;
};

}  // namespace reaper

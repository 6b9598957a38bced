// After freed room was taken: how long is it used?
//
// Each server that took some is watched until it has had it for `short_lived.lived`. If the cloud
// cache no longer shows it on its host, or no events keep the cache fresh, Nova is asked whether it
// is gone and which user wanted that: room that its project gave back makes the request's result
// `short-lived` in the journal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

class RoomLives {
public:
    /// What it works with; all of it must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        CacheRefresher& refresher;
        const bool& stopping;
        /// Room that is used for this time was worth it; from the configuration in force.
        std::function<Duration()> long_enough;
    };
    /// Called for each server that gave its room back after this time, or (none) has used it for
    /// long enough. Not called for one that an operator removed.
    using OnUse = std::function<void(const Request&, std::optional<Duration> lived)>;

    RoomLives(Dependencies dependencies, OnUse on_use);

    /// Those that a previous process watched.
    ResultTask<void> restore();
    /// Nothing happens if the room was not taken.
    void watch(Request request, FreedRoomResult taken);
    /// To be called every `step`.
    ResultTask<void> check();
    static constexpr Duration step{2000};

private:
    /// At a time; of the oldest it counts as used.
    static constexpr std::size_t max_watched = 20'000;
    /// Reads of Nova in one check.
    static constexpr int max_reads = 20;

    struct Watched {
        Request request;
        FreedRoomResult result;
        std::set<ServerId> open;  ///< of which it is not known yet
        std::map<ServerId, HostId> seen_on;
        std::map<ServerId, Duration>
            read_at;  ///< steady; servers that are not where the cache says
    };
    enum class Fate { there, given_back, removed };

    struct Open {
        RequestId request;
        ServerId server;
        TimePoint at{};  ///< since when it has its room
    };
    std::vector<Open> all_open() const;
    bool shown(Watched& watched, const ServerId& server);
    Task<void> judge(Open one);
    ResultTask<Fate> fate_of(Request request, ServerId server);
    Task<bool> given_back_by_its_project(Request request, ServerId server);
    Task<void> note_given_back(Open one, Duration lived);
    void end(const Open& one, std::optional<Duration> lived);

    Dependencies dependencies_;
    OnUse on_use_;
    std::map<RequestId, Watched> watched_;
};

}  // namespace reaper

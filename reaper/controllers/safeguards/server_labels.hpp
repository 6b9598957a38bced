// Says on servers, in their metadata, as what they run: `res-type=regular` or `res-type=revocable`,
// for billing. Set once, after the server got its room, in place of the existing value: a user's
// value says where a server may go, and the label says what it got.
//
// Which servers: `labels.servers` of the configuration. Nothing of it is urgent: few calls, one
// after the other, behind everything else; what fails is tried again a few times.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

class ServerLabels {
public:
    /// References must outlive the labels.
    struct Dependencies {
        CloudPorts cloud;
        CacheRefresher& refresher;
        const LiveSettings& settings;  ///< the present ones: a reload counts at the next pass
        const bool& stopping;
    };

    explicit ServerLabels(Dependencies dependencies) : dependencies_(dependencies) {}

    /// Those that took freed room shortly before: a former process, or another reaper, may have
    /// left them without a label.
    ResultTask<void> restore(JournalReader& journal);

    /// It took room that was freed for it.
    void served(const ServerId& server);

    /// It was placed in the kind of room that it admits, and its earlier label is out of date.
    void placed(const ServerId& server);

    /// Labels what is due. To be called every `step`. An error: which servers are revocable is not
    /// known now.
    ResultTask<void> check();
    /// An operator may have granted a right: servers whose labels were refused are due again.
    void ask_refused_again();
    /// Between two calls of `check`.
    static constexpr Duration step{5000};

private:
    enum class Labeled { done, later, failed };

    std::vector<ServerId> due();
    Task<Labeled> label(ServerId id, const Taggers& taggers, const TagData& tag_data);
    Task<Labeled> label_as(ServerId id, std::string type);
    void settle(const ServerId& id, Labeled labeled);

    Dependencies dependencies_;
    std::map<ServerId, Duration> served_;    ///< until when (steady) it is tried
    std::set<ServerId> done_;                ///< of those in the cache
    std::map<ServerId, int> failures_;       ///< in a row
    std::map<ServerId, Duration> given_up_;  ///< of those in the cache, until when (steady)
};

}  // namespace reaper

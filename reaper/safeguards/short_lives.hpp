// What victims bought: a project whose servers give freed room back within minutes, again and
// again, owes for its victims. Each victim counts by the part of `lived` for which the room was not
// used; room that was used for `lived` pays for as many as it cost. A project that owes `allowance`
// or more within the window, by two requests at least, is left alone for a while, longer each time.
//
// Pure, one thread; the caller passes all times. To be fed from the journal at the start.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/safeguards/breaker.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

// What room of a request was freed for, as far as it decides where Nova lets it go: requests of one
// project and shape fail or fit alike.

/// Resources and extra specs of the flavor, image, zone, traits, places; not the requester, nor how
/// many slots, nor aggregates: they follow from the rest, and a notification does not contain them.
/// Equal texts, equal shapes.
std::string request_shape(const Request& request);

/// For people: `VCPU=4 MEMORY_MB=8192, image ..., zone ...`.
std::string shape_text(const Request& request);

class ShortLives {
public:
    struct Change {
        bool opened = false;  ///< else: closed
        double owed = 0;      ///< victims
        std::optional<TimePoint> until{};
    };

    void reload(const ShortLivedSettings& settings);

    /// Room that cost `harm` victims is used by so many servers since then.
    void note_taken(const RequestId& request, const ProjectId& project, double harm, int takers,
                    TimePoint at);
    /// One of them gave its part back after this long, or has used it for long enough. What that
    /// changes.
    std::optional<Change> note_given_back(const RequestId& request, Duration lived, TimePoint at);
    std::optional<Change> note_stayed(const RequestId& request, TimePoint at);

    CircuitState state(const ProjectId& project, TimePoint now) const {
        return circuits_.state(project.str(), now);
    }
    std::optional<TimePoint> until(const ProjectId& project) const {
        return circuits_.until(project.str());
    }
    /// It is not known yet of how much use some of its room is.
    bool any_young(const ProjectId& project) const;
    double owed(const ProjectId& project, TimePoint now) const;
    /// Those that are not closed; `wasted` are slots that were given back.
    std::vector<CullCircuits::Open> open(TimePoint now) const { return circuits_.open(now); }

    void prune(TimePoint now);
    void shift(Duration by);
    void clear();

private:
    struct Young {
        ProjectId project;
        double harm = 0;  ///< of each taker
        int takers = 0;   ///< of which it is not known yet
        TimePoint at{};
    };
    struct Entry {
        TimePoint at{};
        RequestId request;
        double owed = 0;  ///< less than 0: paid
    };
    std::optional<Young> one_of(const RequestId& request);
    bool is_try(const Young& young, TimePoint at) const;

    ShortLivedSettings settings_;
    CullCircuits circuits_;  ///< by project
    std::map<RequestId, Young> young_;
    std::map<ProjectId, std::deque<Entry>> accounts_;
};

}  // namespace reaper

// Port: the reapers that have one journal in common. One writes it, the others stand by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reaper/model/time.hpp"

namespace reaper {

/// What a reaper tells the others of itself.
struct ReaperNote {
    std::string name;           ///< `ctl-1, process 4711`: as the holder of the journal
    std::string machine;        ///< its host name
    std::string version;        ///< of the program
    std::string gateway;        ///< the URL of its gateway; empty: it has none
    std::string configuration;  ///< a digest
    std::string sections{};     ///< `cull=1f2e3d4c limits=...`: a digest of each section of it
};

/// How it is.
struct ReaperState {
    std::optional<Duration> cache_age{};  ///< of its oldest reading of a host; none: it has none
    std::int64_t in_flight = 0;           ///< requests that it serves
    std::optional<bool> broker{};         ///< RabbitMQ delivers to it; none: it stands by
};

struct JournalReaper {
    ReaperNote note;
    std::optional<ReaperState> state{};  ///< at its last sign of life; none: it has not told yet
    bool here = false;
    bool active = false;  ///< it holds the journal
    TimePoint since{};    ///< when it became active, or began to stand by
    Duration silent{};    ///< since its last sign of life: it gives one every two seconds
};

/// As far as the database has answered.
struct ReaperList {
    std::vector<JournalReaper> all{};  ///< the active one first, then by name
    bool held = false;                 ///< a reaper has the journal: one of them, or an unknown one
    std::string holder{};              ///< its name
    std::string trouble{};             ///< why nothing newer is known; empty: it is current

    const JournalReaper* active() const {
        return all.empty() || !all.front().active ? nullptr : &all.front();
    }
    /// Does one stand by for this one? Those that ended are listed for a while: they are silent for
    /// longer than we are.
    bool another_stands_by() const {
        constexpr Duration three_signs{6'000};
        const auto here = std::find_if(all.begin(), all.end(),
                                       [](const JournalReaper& each) { return each.here; });
        return std::any_of(all.begin(), all.end(), [&](const JournalReaper& each) {
            return !each.here && (here == all.end() || each.silent < here->silent + three_signs);
        });
    }
};

/// Of two ReaperNote::sections, those whose digests differ, or that only one has.
inline std::vector<std::string> differing_sections(const std::string& one,
                                                   const std::string& other) {
    const auto digests = [](const std::string& text) {
        std::set<std::string> all;
        std::istringstream words{text};
        for (std::string word; words >> word;) all.insert(word);
        return all;
    };
    const auto here = digests(one), there = digests(other);
    std::vector<std::string> differ, names;
    std::ranges::set_symmetric_difference(here, there, std::back_inserter(differ));
    for (const std::string& each : differ) {
        std::string name = each.substr(0, each.find('='));
        if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
}

class Reapers {
public:
    virtual ~Reapers() = default;
    /// As asked last; does not block.
    virtual ReaperList list() const = 0;
    /// This reaper's configuration has other digests from now on, as in ReaperNote.
    virtual void configured(std::string digest, std::string sections) = 0;
    /// How this reaper is, for the others; does not block.
    virtual void note_state(ReaperState state) = 0;
};

}  // namespace reaper

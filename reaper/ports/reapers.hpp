// Port: the reapers that have one journal in common. One writes it, the others stand by.
#pragma once

#include <algorithm>
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
};

struct JournalReaper {
    ReaperNote note;
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

class Reapers {
public:
    virtual ~Reapers() = default;
    /// As asked last; does not block.
    virtual ReaperList list() const = 0;
    /// This reaper's configuration has another digest from now on.
    virtual void configured(std::string digest) = 0;
};

}  // namespace reaper

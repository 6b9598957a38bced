// Duties: which servers end although no request waits for their room. All are off by default.
#pragma once

#include <string>
#include <vector>

#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// In per cent of what the hosts can give of the class.
struct Mark {
    ResourceClass resource_class;
    int high = 0;  ///< servers go when more is used
    int low = 0;   ///< below it: until not more than this is used

    friend bool operator==(const Mark&, const Mark&) = default;
};

/// `watermark:`
struct WatermarkSettings {
    std::vector<Mark> marks;       ///< of different classes; empty: off
    Duration cooldown{1'800'000};  ///< between two culls of the same hosts

    friend bool operator==(const WatermarkSettings&, const WatermarkSettings&) = default;
};

/// How long servers live that this tagger calls revocable.
struct TaggerSpan {
    std::string tagger;
    Duration after{};  ///< 0: as long as they like

    friend bool operator==(const TaggerSpan&, const TaggerSpan&) = default;
};

/// `life_span:`
struct LifeSpanSettings {
    Duration after{};  ///< of servers of which nothing else says it; 0: as long as they like
    std::vector<TaggerSpan> taggers;
    std::string flavor_key;      ///< extra spec with a duration; empty: none is asked
    Duration jitter{3'600'000};  ///< a server ends up to this time later
    int per_hour = 300;          ///< servers that end, at most

    bool on() const { return after > Duration{} || !taggers.empty() || !flavor_key.empty(); }
    friend bool operator==(const LifeSpanSettings&, const LifeSpanSettings&) = default;
};

struct DutySettings {
    WatermarkSettings watermark;
    LifeSpanSettings life_span;

    friend bool operator==(const DutySettings&, const DutySettings&) = default;
};

}  // namespace reaper

// Life span: a revocable server ends after a time. Pure.
#pragma once

#include <optional>
#include <string>

#include "reaper/duties/settings.hpp"
#include "reaper/model/cloud.hpp"

namespace reaper {

struct LifeSpan {
    Duration after{};
    TimePoint ends_at{};  ///< with the server's jitter, which its id decides: always the same
    const char* of = "all revocable servers";  ///< for people: whose life span it is
};

/// None: it lives as long as it likes, is not revocable, or its creation is not known. What the
/// flavor says holds, then the longest of its taggers', then `after`. A flavor's text that is no
/// duration ends no server.
std::optional<LifeSpan> life_span_of(const Server& server, const LifeSpanSettings& settings);

/// Why the server does not end at `now`; none if its life span is over.
std::optional<std::string> why_lives_on(const Server& server, const LifeSpanSettings& settings,
                                        TimePoint now);

/// What its flavor says, if that is no duration.
std::optional<std::string> wrong_life_span(const Server& server, const LifeSpanSettings& settings);

}  // namespace reaper

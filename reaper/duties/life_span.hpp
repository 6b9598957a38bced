// Life span: a revocable server ends after a time. Pure.
#pragma once

#include <optional>

#include "reaper/duties/settings.hpp"
#include "reaper/model/cloud.hpp"

namespace reaper {

struct LifeSpan {
    Duration after{};
    TimePoint ends_at{};  ///< with the server's jitter, which its id decides: always the same
    const char* of = "all revocable servers";  ///< for people: whose life span it is
};

/// None: it lives as long as it likes, or is not revocable. What the flavor says holds, then the
/// longest of its taggers', then `after`. What is no duration there ends no server.
std::optional<LifeSpan> life_span_of(const Server& server, const LifeSpanSettings& settings);

}  // namespace reaper

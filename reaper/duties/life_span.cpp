#include "reaper/duties/life_span.hpp"

#include <algorithm>
#include <cstdint>

#include "reaper/safeguards/protection.hpp"

namespace reaper {
namespace {

/// FNV-1a: the same in each process and build.
Duration jitter_of(const ServerId& server, Duration most) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : server.str())
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    const auto range = static_cast<std::uint64_t>(std::max(most, Duration{}).count()) + 1;
    return Duration{static_cast<Duration::rep>((hash >> 16U) % range)};
}

/// `by`: names of taggers, with ", " between them.
bool names(const std::string& by, const std::string& tagger) {
    return (", " + by + ", ").find(", " + tagger + ", ") != std::string::npos;
}

/// Null: the flavor says nothing.
const std::string* of_flavor(const Server& server, const LifeSpanSettings& settings) {
    const auto spec = server.flavor_extra_specs.find(settings.flavor_key);
    const bool there = !settings.flavor_key.empty() && spec != server.flavor_extra_specs.end();
    return there ? &spec->second : nullptr;
}

LifeSpan span_for(const Server& server, const LifeSpanSettings& settings) {
    if (const auto* const text = of_flavor(server, settings))
        return {parse_duration(*text).value_or(Duration{}), {}, "its flavor"};
    std::optional<Duration> longest;
    for (const TaggerSpan& each : settings.taggers) {
        if (!names(server.revocable_by.str(), each.tagger)) continue;
        if (each.after == Duration{}) return {};
        longest = std::max(longest.value_or(each.after), each.after);
    }
    if (longest) return {*longest, {}, "its tagger"};
    return {settings.after, {}};
}

}  // namespace

std::optional<LifeSpan> life_span_of(const Server& server, const LifeSpanSettings& settings) {
    if (!settings.on() || !server.revocable()) return std::nullopt;
    LifeSpan span = span_for(server, settings);
    if (span.after <= Duration{} || start_of(server) == TimePoint{}) return std::nullopt;
    span.ends_at = start_of(server) + span.after + jitter_of(server.id, settings.jitter);
    return span;
}

std::optional<std::string> why_lives_on(const Server& server, const LifeSpanSettings& settings,
                                        TimePoint now) {
    const auto span = life_span_of(server, settings);
    if (!span) return "it has no life span";
    if (span->ends_at > now) return "its life span ends at " + iso_time(span->ends_at);
    return std::nullopt;
}

std::optional<std::string> wrong_life_span(const Server& server, const LifeSpanSettings& settings) {
    const auto* const text = of_flavor(server, settings);
    if (text == nullptr || parse_duration(*text)) return std::nullopt;
    return *text;
}

}  // namespace reaper

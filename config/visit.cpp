#include "config/visit.hpp"

#include <utility>

#include "config/dry_run.hpp"
#include "config/values.hpp"
#include "reaper/model/text.hpp"

namespace reaper::config {
namespace {

using std::chrono::milliseconds;

/// Secrets and what only says where they come from stay out of a draft that is made of settings.
Draft draft_of(const Settings& settings) {
    return Draft{settings, "", "", false, ""};
}

bool is_live(const Section& section, const Key& key) {
    return key.live.value_or(section.live);
}

Value shown(const Key& key, std::uint64_t number) {
    return static_cast<std::int64_t>(number) / std::get<WholeNumber>(key.type).unit;
}
Value shown(const Key&, std::chrono::seconds span) {
    return std::chrono::duration_cast<milliseconds>(span);
}
Value shown(const Key&, int number) {
    return std::int64_t{number};
}
template <class T>
Value shown(const Key&, const T& value) {
    return value;
}

/// With the places of a dry run, whether it is one or not.
Settings placed_as_dry_run(Settings settings) {
    auto kept = kept_by_dry_run(settings.journal, settings.record);
    settings.journal = std::move(kept.journal);
    settings.record = std::move(kept.record);
    return settings;
}

Value value_in(const Key& key, Draft& draft) {
    return std::visit([&](auto target) { return shown(key, target(draft)); }, key.target);
}

}  // namespace

Value value_of(const Key& key, const Settings& settings) {
    Draft draft = draft_of(settings);
    return value_in(key, draft);
}

void for_each_key(const std::function<void(const Section&, const Key&)>& visit) {
    for (const auto& section : sections())
        for (const auto& key : section.keys) visit(section, key);
}

Difference difference(const Settings& before, const Settings& after) {
    // What `dry_run` moves is no change of its own.
    const bool moved = before.dry_run != after.dry_run;
    Draft old_values = draft_of(moved ? placed_as_dry_run(before) : before);
    Draft new_values = draft_of(moved ? placed_as_dry_run(after) : after);
    Difference found;
    for_each_key([&](const Section& section, const Key& key) {
        if (value_in(key, old_values) == value_in(key, new_values)) return;
        (is_live(section, key) ? found.live : found.needs_restart)
            .push_back(join_path(section.path, key.name));
    });
    return found;
}

Settings with_live_values(Settings in_force, const Settings& wanted) {
    Draft into = draft_of(in_force);
    Draft from = draft_of(wanted);
    for_each_key([&](const Section& section, const Key& key) {
        if (!is_live(section, key)) return;
        std::visit([&](auto target) { target(into) = target(from); }, key.target);
    });
    return std::move(into.settings);
}

std::string to_string(const Difference& difference) {
    if (difference.empty()) return "nothing changed";
    std::string text;
    if (!difference.live.empty()) text = "applied: " + joined(difference.live);
    if (!difference.needs_restart.empty())
        text +=
            (text.empty() ? "" : "; ") + ("needs a restart: " + joined(difference.needs_restart));
    return text;
}

}  // namespace reaper::config

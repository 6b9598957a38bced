#include "reaper/safeguards/protection.hpp"

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper {
namespace {

bool means_no(const std::string& text) {
    const std::string value = to_lower(text);
    return value == "false" || value == "no" || value == "0";
}

}  // namespace

Protection::Protection(const ProtectSettings& settings)
    : owners_{settings.owners},
      flavors_{settings.flavors.begin(), settings.flavors.end()},
      aggregates_{settings.aggregates.begin(), settings.aggregates.end()} {
    if (owners_) {
        tags_ = settings.tags;
        metadata_ = settings.metadata;
    }
    for (const auto& [server, reason] : settings.servers)
        servers_.emplace(ServerId{server}, reason);
    for (const auto& written : settings.projects) {
        const auto id = settings.project_ids.find(written);
        if (id != settings.project_ids.end())
            projects_.emplace(id->second, written);
        else if (unknown_.empty())
            unknown_ = written;
    }
}

const std::string* Protection::tag_of(const Server& server) const {
    if (server.tags.empty()) return nullptr;
    for (const auto& tag : tags_)
        if (server.tags.contains(tag)) return &tag;
    return nullptr;
}

const std::string* Protection::key_of(const Server& server) const {
    if (server.metadata.empty()) return nullptr;
    for (const auto& key : metadata_) {
        const auto at = server.metadata.find(key);
        if (at != server.metadata.end() && !means_no(at->second)) return &key;
    }
    return nullptr;
}

const std::string* Protection::aggregate_among(const HostAggregates& of_host) const {
    for (const auto& [uuid, aggregate] : of_host) {
        if (const auto at = aggregates_.find(aggregate.name); at != aggregates_.end()) return &*at;
        if (const auto at = aggregates_.find(uuid); at != aggregates_.end()) return &*at;
    }
    return nullptr;
}

bool Protection::protects(const Server& server) const {
    return !unknown_.empty() || !server.protected_because.empty() || (owners_ && server.locked) ||
           tag_of(server) != nullptr || key_of(server) != nullptr ||
           (!servers_.empty() && servers_.contains(server.id)) ||
           (!projects_.empty() && projects_.contains(server.project)) ||
           (!flavors_.empty() && flavors_.contains(server.flavor_name));
}

std::optional<std::string> Protection::why(const Server& server,
                                           const HostAggregates& of_host) const {
    if (!server.protected_because.empty()) return server.protected_because.str();
    if (const auto at = servers_.find(server.id); at != servers_.end())
        return "it is protected by an operator" +
               (at->second.empty() ? "" : ": " + printable(at->second, 255));
    if (flavors_.contains(server.flavor_name))
        return "it is protected by its flavor '" + printable(server.flavor_name, 64) + "'";
    if (const auto* aggregate = aggregate_among(of_host))
        return "it is protected by its host's aggregate '" + printable(*aggregate, 64) + "'";
    if (owners_ && server.locked) return "it is locked";
    if (const auto* tag = tag_of(server))
        return "it is protected by its tag '" + printable(*tag, 64) + "'";
    if (const auto* key = key_of(server))
        return "it is protected by its metadata '" + printable(*key, 64) + "'";
    if (const auto its = projects_.find(server.project); its != projects_.end())
        return "it is protected by its project " + project_text(server.project, its->second);
    if (!unknown_.empty())
        return "it is unknown which project protect.projects means by '" + printable(unknown_, 64) +
               "': until it is, every server is protected";
    return std::nullopt;
}

void note_protection(const Protection& protection, Host& host) {
    if (protection.empty()) return;
    for (auto& server : host.servers)
        if (server.revocable())
            server.protected_because = protection.why(server, host.member_of).value_or("");
}

TimePoint start_of(const Server& server) {
    return server.created;
}

std::optional<std::string> why_too_young(const Server& server, Duration min_run_time,
                                         TimePoint now) {
    if (min_run_time <= Duration::zero() || start_of(server) <= now - min_run_time)
        return std::nullopt;
    return "it has not run for " + format_duration(min_run_time) + " yet (min_run_time)";
}

}  // namespace reaper

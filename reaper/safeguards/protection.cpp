#include "reaper/safeguards/protection.hpp"

#include <algorithm>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

bool means_no(std::string value) {
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return value == "false" || value == "no" || value == "0";
}

}  // namespace

Protection::Protection(const ProtectSettings& settings)
    : tags_{settings.tags}, metadata_{settings.metadata} {
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

bool Protection::protects(const Server& server) const {
    return !unknown_.empty() || tag_of(server) != nullptr || key_of(server) != nullptr ||
           (!projects_.empty() && projects_.contains(server.project));
}

std::optional<std::string> Protection::why(const Server& server) const {
    if (const auto* tag = tag_of(server))
        return "it is protected by its tag '" + printable(*tag, 64) + "'";
    if (const auto* key = key_of(server))
        return "it is protected by its metadata '" + printable(*key, 64) + "'";
    if (const auto its = projects_.find(server.project); its != projects_.end())
        return "it is protected by its project " + project_text(server.project, its->second);
    if (!unknown_.empty())
        return "it is not known which project protect.projects means by '" +
               printable(unknown_, 64) + "': until it is, every server is protected";
    return std::nullopt;
}

TimePoint start_of(const Server& server) {
    return server.launched.value_or(server.created);
}

std::optional<std::string> why_too_young(const Server& server, Duration min_run_time,
                                         TimePoint now) {
    if (min_run_time <= Duration::zero() || start_of(server) <= now - min_run_time)
        return std::nullopt;
    return "it has not run for " + format_duration(min_run_time) + " yet (min_run_time)";
}

}  // namespace reaper

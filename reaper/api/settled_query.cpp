#include "reaper/api/settled_query.hpp"

#include <utility>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper {
namespace {

std::string unknown_to_all(const char* what, const std::string& value) {
    return "neither the journal nor the cloud knows a " + std::string{what} + " " +
           in_quotes(value);
}

std::string only_journal_asked(const char* what, const std::string& value, const std::string& why) {
    return "the journal knows no " + std::string{what} + " " + in_quotes(value) +
           ", and whether there is one could not be asked: " + why;
}

constexpr const char* no_cloud_to_ask = "there is no cloud to ask";

/// None: it could not be asked.
using Known = std::optional<bool>;

void note(Known known, const char* what, const std::string& value, const std::string& why,
          SettledQuery& settled) {
    if (!known)
        settled.not_asked.push_back(only_journal_asked(what, value, why));
    else if (!*known && !settled.unknown)
        settled.unknown = unknown_to_all(what, value);
}

Task<void> find_in_keystone(Identity* identity, SettledQuery& settled) {
    std::string& project = settled.query.project;
    if (identity == nullptr) {
        note({}, "project", project, no_cloud_to_ask, settled);
        co_return;
    }
    std::string written = project;
    auto search = co_await identity->find_project(std::move(written));
    if (!search) {
        note({}, "project", project, search.error().what, settled);
    } else if (search->found) {
        project = search->found->id.str();
    } else if (search->several) {
        settled.ambiguous = std::move(search->why_not);
    } else {
        settled.unknown = unknown_to_all("project", project) + ": " + search->why_not;
    }
}

Task<void> find_host(Compute* compute, SettledQuery& settled) {
    const std::string& host = settled.query.host;
    if (compute == nullptr) {
        note({}, "host", host, no_cloud_to_ask, settled);
        co_return;
    }
    std::string name = host;
    auto service = co_await compute->compute_service(std::move(name));
    if (!service) {
        note({}, "host", host, service.error().what, settled);
        co_return;
    }
    if (service->has_value()) co_return;
    // People know a host by its hypervisor's name, too.
    auto hypervisors = co_await compute->hypervisors();
    if (!hypervisors) {
        note({}, "host", host, hypervisors.error().what, settled);
        co_return;
    }
    for (const HypervisorRecord& each : *hypervisors)
        if (each.name == host || each.id.str() == host) {
            settled.query.host = each.service_host;
            co_return;
        }
    note(false, "host", host, "", settled);
}

Task<void> find_its_flavor(Compute* compute, SettledQuery& settled) {
    const std::string& flavor = settled.query.flavor;
    if (compute == nullptr) {
        note({}, "flavor", flavor, no_cloud_to_ask, settled);
        co_return;
    }
    std::string name = flavor;
    auto search = co_await find_flavor(*compute, std::move(name));
    if (search)
        note(search->found.has_value(), "flavor", flavor, "", settled);
    else
        note({}, "flavor", flavor, search.error().what, settled);
}

constexpr Duration kept_for{60'000};
constexpr std::size_t most_kept = 64;

}  // namespace

std::string RecentlySettled::key_of(const JournalQuery& asked) {
    return asked.project + '\n' + asked.host + '\n' + asked.flavor;
}

std::optional<JournalQuery> RecentlySettled::find(const JournalQuery& asked, Duration now) {
    std::erase_if(answers_, [&](const auto& each) { return now - each.second.used_at > kept_for; });
    const auto at = answers_.find(key_of(asked));
    if (at == answers_.end()) return std::nullopt;
    at->second.used_at = now;
    JournalQuery settled = asked;
    settled.project = at->second.project;
    settled.host = at->second.host;
    return settled;
}

void RecentlySettled::keep(const JournalQuery& asked, const JournalQuery& settled, Duration now) {
    if (answers_.size() < most_kept) answers_[key_of(asked)] = {settled.project, settled.host, now};
}

Task<SettledQuery> settle(JournalQuery query, KnownValues known, WhoKnows cloud) {
    SettledQuery settled;
    settled.query = std::move(query);
    std::string& project = settled.query.project;
    if (known.projects.size() > 1)
        settled.ambiguous = several_projects(project, known.projects);
    else if (known.projects.size() == 1)
        project = known.projects.front().str();
    else if (!project.empty())
        co_await find_in_keystone(cloud.identity, settled);
    if (!known.host) co_await find_host(cloud.compute, settled);
    if (!known.flavor) co_await find_its_flavor(cloud.compute, settled);
    co_return settled;
}

}  // namespace reaper

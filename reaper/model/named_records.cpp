#include "reaper/model/named_records.hpp"

#include <algorithm>
#include <set>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::string_view short_name(std::string_view name) {
    return name.substr(0, name.find('.'));
}

/// As people would write them: short, if what they wrote is.
std::vector<std::string> names_of(const std::vector<const Host*>& hosts, bool shortened) {
    std::set<std::string> names;
    for (const Host* const host : hosts)
        for (const std::string* const name : {&host->name, &host->service_host})
            if (!name->empty()) names.emplace(shortened ? short_name(*name) : *name);
    return {names.begin(), names.end()};
}

Error several(std::string_view written, const std::vector<const Host*>& found) {
    std::set<std::string> which;
    for (const Host* const host : found) which.insert(host->name + " (" + host->id.str() + ")");
    return Error{Errc::bad_input, "several hosts are called " + in_quotes(written) + ": " +
                                      name_list(which) + "; say which by its name or UUID"};
}

}  // namespace

Result<const Host*> host_named(const std::vector<const Host*>& hosts, std::string_view written) {
    const auto by_id =
        std::ranges::find_if(hosts, [&](const Host* each) { return each->id.str() == written; });
    if (by_id != hosts.end()) return *by_id;
    std::vector<const Host*> whole, shortened;
    const std::string begin = std::string{written} + ".";
    for (const Host* const host : hosts) {
        if (host->name == written || host->service_host == written)
            whole.push_back(host);
        else if (host->name.starts_with(begin) || host->service_host.starts_with(begin))
            shortened.push_back(host);
    }
    const auto& found = whole.empty() ? shortened : whole;
    if (found.size() > 1) return several(written, found);
    if (found.size() == 1) return found.front();
    const bool short_one = written.find('.') == std::string_view::npos;
    return Error{Errc::not_found, "there is no host " + in_quotes(written) +
                                      " in this cloud, by name or id" +
                                      did_you_mean(written, names_of(hosts, short_one))};
}

namespace {

template <class Named>
void add_name(const ProjectNames& known, Named& named) {
    if (named.project_name.empty()) named.project_name = name_of_project(known, named.project);
}

}  // namespace

void add_names(const ProjectNames& known, Request& request) {
    add_name(known, request);
}

void add_names(const ProjectNames& known, Decision& decision) {
    auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr) return;
    for (HostPlan& host : plan->hosts) {
        for (Victim& victim : host.victims) add_name(known, victim);
        for (SparedServer& spared : host.spared) add_name(known, spared);
    }
}

void add_names(const ProjectNames& known, RequestRecord& record) {
    add_name(known, record.request);
    for (PlanEntry& entry : record.plans) add_names(known, entry.decision);
}

void add_names(const ProjectNames& known, RequestSummary& line) {
    add_name(known, line.request);
}

void add_names(const ProjectNames& known, VictimEntry& victim) {
    add_name(known, victim);
}

void add_names(const ProjectNames& known, ChosenServer& chosen) {
    add_name(known, chosen);
}

}  // namespace reaper

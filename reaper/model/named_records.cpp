#include "reaper/model/named_records.hpp"

namespace reaper {
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

// GET /allocation_candidates: where a request fits. Pure.
//
// Like Placement: the unnumbered group may spread over the providers of one tree; a numbered or
// named group is met by one provider. Providers that share by aggregates are not imitated.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/cloudsim/core/placement.hpp"

namespace reaper::cloudsim {

/// `resources{SUFFIX}`, `required{SUFFIX}`, `member_of{SUFFIX}`, `in_tree{SUFFIX}`.
struct RequestGroup {
    std::vector<std::pair<NameId, std::int64_t>> resources;
    std::vector<std::set<NameId>> required;  ///< of each set at least one (`in:`)
    std::set<NameId> forbidden;
    std::vector<std::set<Uuid>> member_of;  ///< of each set at least one
    std::set<Uuid> not_member_of;
    std::optional<Uuid> in_tree;
};

struct CandidateQuery {
    std::map<std::string, RequestGroup> groups;  ///< by suffix; "" is the unnumbered one
    bool isolate = false;                        ///< group_policy=isolate
    std::set<NameId> root_required;
    std::set<NameId> root_forbidden;
    std::size_t limit = 0;  ///< 0: none
};

/// One way to meet the request.
struct Candidate {
    std::vector<Held> held;  ///< grouped by provider
    std::map<std::string, std::vector<Provider*>> mappings;
};

struct Candidates {
    std::vector<Candidate> requests;
    std::vector<Provider*> roots;  ///< of the trees that occur, in order
};

/// Whether aggregates, traits and tree let a provider serve a group, whatever room it has.
bool admits(const Provider& provider, const RequestGroup& group);

Candidates find_candidates(const Placement& placement, const CandidateQuery& query);

}  // namespace reaper::cloudsim

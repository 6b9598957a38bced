// Pairs of searches: for dedicated CPUs Nova asks twice, as PCPU, and then for the same as VCPU. It
// takes the hosts of both answers, so one cull is for the two.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reaper/gateway/placement_answers.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper {

/// Searches go by the ids of their calls, which those of several requests may share. References
/// must outlive it.
class SearchPairs {
public:
    SearchPairs(const GatewayPorts& ports, PlacementAnswers& answers)
        : ports_(ports), answers_(answers) {}

    /// The answer to a search, which may be the first of a pair.
    void note(const RequestId& id, const CandidatesQuery& query, const SearchAnswer& asked);
    bool is_second(const RequestId& id, const CandidatesQuery& query) const;
    /// Of both searches; each host counts once.
    Amount places(const RequestId& id, const Candidates& second) const;
    /// Room was freed for the request, and nova-scheduler hears of it by the other search.
    bool has_room_of_the_other_kind(const RequestId& id, const CandidatesQuery& query) const;
    /// A second search whose first one is not known: it may have found hosts.
    std::optional<std::string> why_second_passes(const Request& wanted,
                                                 const CandidatesQuery& query) const;
    /// Do both of Nova's searches have places for it? `first`: the answer to the first one.
    Task<bool> found_by_fallback(HttpRequest request, GatewayCall& call, Request wanted,
                                 std::optional<ResType> only, const Candidates& first);

private:
    /// What the first search found.
    struct First {
        Duration at{};  ///< on the steady clock
        Amount places = 0;
        std::set<HostId> hosts;
        bool enough = false;
        Resources besides_cpus{};  ///< that it asked for
    };

    const GatewayPorts& ports_;
    PlacementAnswers& answers_;
    std::map<RequestId, First> firsts_;
};

}  // namespace reaper

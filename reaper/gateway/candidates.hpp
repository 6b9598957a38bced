// Placement's answer to `GET /allocation_candidates`: read, counted, and written without those
// candidates whose room is another client's.
//
// Source: Placement's API, microversions 1.29 and later (Nova asks at 1.36).
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {

/// A host of which nothing has to be free.
struct OfferedHost {
    HostId host;
    Resources capacity;
    Resources used;
    std::set<Trait> traits;
};

/// One way to place one server. More than one host is in it only where providers are shared.
using PlacementWay = std::map<HostId, Resources>;

/// Hosts that an answer names, at most so many, by a glance that costs a small part of reading it;
/// none where providers share their room.
std::vector<HostId> quick_hosts_of(std::string_view body, std::size_t most);
constexpr std::size_t all_hosts = std::numeric_limits<std::size_t>::max();

class Candidates {
public:
    /// None at all.
    Candidates();
    /// `bad_answer`: it is not of that form.
    static Result<Candidates> read(std::string_view body);

    bool none() const { return ways_.empty(); }
    /// Nor were hosts added.
    bool tells_none() const { return ways_.empty() && added_.empty(); }
    std::size_t count() const { return ways_.size(); }
    /// Root providers that a candidate takes something of.
    std::set<HostId> hosts() const;
    /// Servers that find room one after the other, as the answer tells it: by host, what is free
    /// over what one takes. Where providers are nested, at most so many.
    Amount places() const { return places_besides({}); }
    /// The same without some hosts.
    Amount places_besides(const std::set<HostId>& hosts) const;
    /// The same by host. Where providers are shared, the one that has the fewest counts.
    std::map<HostId, Amount> places_by_host(const std::set<HostId>& besides) const;

    /// Takes the candidates out that are not on these hosts. True if there was one.
    bool keep_to_hosts(const std::set<HostId>& hosts);
    /// What of a host's free room is not for the requester.
    using Withheld = std::function<Resources(const HostId&)>;
    /// Takes the hosts out whose root provider declares itself to be of another kind. True if there
    /// was one.
    bool keep_to(ResType type);
    /// Takes room off each host, and the candidates out that no longer fit. True if one did.
    bool withhold(const Withheld& withheld);
    /// One candidate more for each host, all of it from its root provider. They count as no places.
    void add(const std::vector<OfferedHost>& hosts, const Resources& amounts);
    /// Those of another answer too.
    void join(const Candidates& others);
    /// The answer with the candidates that are left, those that were added, and what it tells of
    /// their hosts.
    std::string text() const;

private:
    std::set<Trait> traits_of(const HostId& host) const;
    bool leave_only(const std::function<bool(const PlacementWay&)>& wanted);

    nlohmann::json answer_;
    std::vector<PlacementWay> ways_;  ///< in the order of the answer's allocation_requests
    std::map<HostId, Resources> free_;
    std::map<ProviderId, HostId> roots_;
    std::set<HostId> added_;
};

}  // namespace reaper

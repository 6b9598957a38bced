// Which requests to boot the calls of nova-scheduler's are known to be for. Pure.
//
// Of several that are alike nobody can tell which one a call is for: it is one of them. Where as
// many calls are known as there are requests that they may be for, none of these is left for
// others.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "reaper/model/ids.hpp"

namespace reaper {

class KnownCalls {
public:
    /// Of one request to boot, or of any.
    using Servers = std::set<ServerId>;

    /// A call of this request begins to wait for its answer; it may have several at once.
    void began(const RequestId& call) { ++waiting_[call]; }
    void ended(const RequestId& call);

    /// From now on it is known that the call is for one of these, of which it is taken for the
    /// first. Replaces what was known.
    void known(const RequestId& call, std::vector<Servers> one_of);
    /// Servers that no call but others can be for. `listed`: those that wait for a host.
    Servers of_others(const RequestId& call, const Servers& listed) const;
    /// May the call be for the server, as far as it was found out?
    bool may_be(const RequestId& call, const ServerId& server) const;
    /// Is another call taken for the one that this server belongs to?
    bool taken_for(const RequestId& call, const ServerId& server) const;

    /// All that something is known of.
    std::set<RequestId> all() const;
    /// Of these calls only those stay that are for servers of the list.
    void forget(const std::set<RequestId>& calls, const Servers& listed);

private:
    struct Known {
        std::vector<Servers> one_of;  ///< never empty
        bool may_be(const ServerId& server) const;
    };
    /// Calls of which each may be for what another may be for, and what they may be for.
    struct Linked {
        std::set<Servers> requests;
        std::size_t calls = 0;
        std::size_t waiting = 0;
    };
    std::vector<Linked> linked(const RequestId& besides) const;

    std::map<RequestId, Known> known_;
    std::map<RequestId, std::size_t> waiting_;  ///< calls
};

}  // namespace reaper

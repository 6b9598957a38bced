#include "reaper/decision/requester_class.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/planner/cells.hpp"

namespace reaper {
namespace {

bool is_requester(const Request& request, const ServerId& server) {
    return std::find(request.requesters.begin(), request.requesters.end(), server) !=
           request.requesters.end();
}

/// By what is held on the host that it leaves.
std::optional<std::string> why_by_room(const CompiledPolicy& policy, const Request& request,
                                       const Host& host) {
    for (const Server& server : host.servers)
        if (is_requester(request, server.id) && server.revocable())
            return "it runs as a revocable server on " + printable(host.name, 64);
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            for (const ResourceClass& offered : policy.revocable_classes)
                if (held.get(offered) > 0)
                    return "a server that holds " + offered.str() + " moves from " +
                           printable(host.name, 64) + ", as this one does";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_requester_revocable(const CompiledPolicy& policy,
                                                   const Request& request, const CloudIndex& hosts,
                                                   const TagData& tag_data) {
    if (auto why = why_revocable(request, policy.taggers, tag_data)) return why;
    if (request.runs_revocable) return "its metadata says that it runs in revocable room";
    if (!is_move(request.operation) || request.from_host.empty() ||
        policy.revocable_classes.empty())
        return std::nullopt;
    const Host* const host = host_by_service(request.from_host, hosts);
    return host == nullptr ? std::nullopt : why_by_room(policy, request, *host);
}

}  // namespace reaper

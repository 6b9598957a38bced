#include "reaper/decision/requester_class.hpp"

#include <algorithm>

#include "reaper/cloud/cache/estimate.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/cells.hpp"

namespace reaper {
namespace {

bool is_requester(const Request& request, const ServerId& server) {
    return std::ranges::find(request.requesters, server) != request.requesters.end();
}

/// From the time when nova-conductor hands what a server holds to its migration until the claim,
/// another consumer is named as the holder.
bool is_handed_over(Operation operation) {
    return operation == Operation::resize || operation == Operation::migrate ||
           operation == Operation::live_migrate;
}

/// May that be what the requester holds? Other servers move from there, too, and what they hold may
/// stay there for as long as their users like.
bool may_be_its(const Request& request, const ServerId& consumer, const ResourceClass& offered,
                Amount held) {
    if (held <= 0 || consumer == unread_consumers) return false;
    if (!request.migrations.empty()) return request.migrations.contains(consumer);
    const Amount wanted = request.resources.get(stands_for(offered));
    return request.operation == Operation::resize || wanted == 0 || wanted == held;
}

/// By what is held on the host that it leaves.
std::optional<std::string> why_by_room(const CompiledPolicy& policy, const Request& request,
                                       const Host& host) {
    for (const Server& server : host.servers)
        if (is_requester(request, server.id) && server.revocable())
            return "it runs as a revocable server on " + printable(host.name, 64);
    if (!is_handed_over(request.operation)) return std::nullopt;
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            for (const ResourceClass& offered : policy.revocable_classes)
                if (may_be_its(request, consumer, offered, held.get(offered)))
                    return "a server that holds " + offered.str() + " moves from " +
                           printable(host.name, 64) + ", as this one does";
    return std::nullopt;
}

}  // namespace

Refused refused_as_revocable(const std::string& why) {
    return Refused{"the requester is revocable itself: " + why};
}

bool moves_from_revocable_room(const CompiledPolicy& policy, const Request& request) {
    return is_move(request.operation) && request.operation != Operation::unshelve &&
           !request.from_host.empty() && !policy.revocable_classes.empty();
}

std::optional<std::string> why_requester_revocable(const CompiledPolicy& policy,
                                                   const Request& request, const CloudIndex& hosts,
                                                   const TagData& tag_data) {
    if (auto why = why_revocable(request, policy.taggers, tag_data)) return why;
    // One that is shelved holds nothing.
    if (request.operation == Operation::unshelve && request.runs_revocable)
        return "its metadata says that it ran in revocable room";
    if (!moves_from_revocable_room(policy, request)) return std::nullopt;
    const Host* const host = host_by_service(request.from_host, hosts);
    return host == nullptr ? std::nullopt : why_by_room(policy, request, *host);
}

}  // namespace reaper

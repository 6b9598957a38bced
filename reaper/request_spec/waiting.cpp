#include "reaper/request_spec/waiting.hpp"

#include <string_view>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const auto candidate : words)
        if (word == candidate) return true;
    return false;
}

bool leaves_its_host(Operation operation) {
    switch (operation) {
        case Operation::resize:
        case Operation::migrate:
        case Operation::live_migrate:
        case Operation::evacuate: return true;
        case Operation::build:
        case Operation::rebuild:
        case Operation::unshelve:
        case Operation::manual: return false;
    }
    return false;
}

/// Of one that was to get a host.
std::optional<std::string> why_placed(const Server& server) {
    if (server.host.empty() || is_any_of(server.status, {"ERROR", "BUILD"})) return std::nullopt;
    return "runs on " + printable(server.host, 64) + " already";
}

/// Of one that was to get another host.
std::optional<std::string> why_moved(const Server& server, const Request& request) {
    if (!request.excluded_hosts.empty() && !server.host.empty() &&
        !request.excluded_hosts.contains(server.host))
        return "is on " + printable(server.host, 64) + " by now";
    if (is_any_of(server.status, {"SHELVED", "SHELVED_OFFLOADED"}) ||
        is_any_of(server.task_state, {"shelving", "shelving_offloading", "shelving_image_uploading",
                                      "shelving_image_pending_upload"}))
        return "is shelved by now";
    // Nova is at it while the gateway holds its search for a host.
    if (request.source == RequestSource::gateway && server.status != "VERIFY_RESIZE")
        return std::nullopt;
    if (is_any_of(server.status, {"RESIZE", "VERIFY_RESIZE", "MIGRATING", "REVERT_RESIZE"}))
        return "is on its way to another host already (" + printable(server.status, 32) + ")";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_waiting(const Request& request, const ServerId& requester,
                                           const std::optional<ServerRecord>& record) {
    const std::string name = "server " + printable(requester.str(), 64) + " ";
    if (!record) return name + "is gone";
    const Server& server = record->server;
    if (is_any_of(server.task_state, {"deleting", "soft-deleting"}) ||
        is_any_of(server.status, {"DELETED", "SOFT_DELETED"}))
        return name + "is being deleted";
    const auto why =
        leaves_its_host(request.operation) ? why_moved(server, request) : why_placed(server);
    if (!why) return std::nullopt;
    return name + *why;
}

bool is_searched_for(const Request& request, const std::optional<ServerRecord>& record) {
    if (!record) return false;
    const Server& server = record->server;
    if (is_any_of(server.task_state, {"deleting", "soft-deleting"})) return false;
    if (request.operation == Operation::build)
        return server.status == "BUILD" && server.host.empty();
    if (request.operation == Operation::unshelve)
        return server.host.empty() && !server.task_state.empty();
    return is_any_of(server.status, {"RESIZE", "MIGRATING", "REBUILD"}) &&
           request.excluded_hosts.contains(server.host);
}

bool is_placed(const Request& request, const std::optional<ServerRecord>& record) {
    if (!record || record->server.host.empty()) return false;
    const Server& server = record->server;
    return server.status != "ERROR" && server.task_state != "deleting" &&
           !request.excluded_hosts.contains(server.host);
}

}  // namespace reaper

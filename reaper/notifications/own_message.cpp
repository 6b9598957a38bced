#include "reaper/notifications/own_message.hpp"

#include <nlohmann/json.hpp>

#include "reaper/report/time_text.hpp"

namespace reaper {

std::string message_of(const UnshelveFailure& failure) {
    using nlohmann::json;
    const json reason{{"exception", "NoValidHost"},
                      {"exception_message", "No valid host was found for the unshelving."}};
    const json payload{{"instance_uuid", failure.server.str()},
                       {"reason", {{"nova_object.data", reason}}}};
    const json message{{"message_id", "reaper/" + failure.request.str()},
                       {"publisher_id", "reaper"},
                       {"event_type", "reaper.unshelve.error"},
                       {"priority", "ERROR"},
                       {"payload", {{"nova_object.data", payload}}},
                       {"timestamp", report::iso_time(failure.at)},
                       {"_context_request_id", failure.request.str()},
                       {"_context_project_id", failure.project.str()}};
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace reaper

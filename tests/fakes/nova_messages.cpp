#include "fakes/nova_messages.hpp"

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace reaper::test {

using nlohmann::json;

namespace {

json object(const std::string& name, json data) {
    return {{"nova_object.name", name},
            {"nova_object.namespace", "nova"},
            {"nova_object.version", "1.1"},
            {"nova_object.data", std::move(data)}};
}

}  // namespace

std::string uuid_of(const std::string& name) {
    std::uint64_t hash = 1469598103934665603ULL;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    char text[40];
    std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012llx",
                  static_cast<unsigned>(hash >> 32U),
                  static_cast<unsigned long long>(hash & 0xffffffffffffULL));
    return text;
}

std::string body_of(const NovaFailure& failure) {
    const json flavor = object("FlavorPayload", {{"flavorid", failure.flavor_id},
                                                 {"name", "flavor"},
                                                 {"vcpus", failure.vcpus},
                                                 {"memory_mb", failure.memory_mb},
                                                 {"root_gb", failure.root_gb},
                                                 {"ephemeral_gb", 0},
                                                 {"swap", 0},
                                                 {"extra_specs", json::object()}});
    const json image = object("ImageMetaPayload", {{"id", "image-1"}, {"name", "tiny"}});
    const json zone = failure.availability_zone.empty() ? json{} : json(failure.availability_zone);
    const json spec = object("RequestSpecPayload", {{"instance_uuid", uuid_of(failure.spec_server)},
                                                    {"project_id", failure.project},
                                                    {"availability_zone", zone},
                                                    {"flavor", flavor},
                                                    {"image", image},
                                                    {"num_instances", failure.num_instances}});
    const json reason = object(
        "ExceptionPayload",
        {{"exception", failure.exception}, {"exception_message", failure.line + "\nTraceback"}});
    const json payload = object("ComputeTaskPayload", {{"instance_uuid", uuid_of(failure.server)},
                                                       {"request_spec", spec},
                                                       {"state", "error"},
                                                       {"reason", reason}});
    const json message = {{"message_id", failure.request_id + "/" + failure.server},
                          {"publisher_id", "nova-conductor:ctl"},
                          {"event_type", failure.event},
                          {"priority", "ERROR"},
                          {"payload", payload},
                          {"timestamp", failure.timestamp},
                          {"_unique_id", "u"},
                          {"_context_request_id", failure.request_id},
                          {"_context_global_request_id",
                           failure.global_id.empty() ? nullptr : nlohmann::json(failure.global_id)},
                          {"_context_project_id", failure.project}};
    const json envelope = {{"oslo.version", "2.0"}, {"oslo.message", message.dump()}};
    return envelope.dump();
}

}  // namespace reaper::test

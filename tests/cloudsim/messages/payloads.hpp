// Internal to the messages: the payloads, each as JSON text.
#pragma once

#include <string>

#include "tests/cloudsim/api/json_writer.hpp"
#include "tests/cloudsim/core/listener.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

/// `{"nova_object.name": ..., "nova_object.data": {` and its end.
void open_nova_object(JsonWriter& json, std::string_view name, std::string_view version);
void close_nova_object(JsonWriter& json);

void write_flavor_payload(JsonWriter& json, const Flavor& flavor);
std::string instance_payload(const World& world, const ServerEvent& event);
/// `lossy`: as conductor tells it when it failed.
void write_request_spec(JsonWriter& json, const World& world, const Placing& placing, bool lossy);
std::string refusal_payload(const World& world, const RefusalEvent& event);
std::string service_payload(const ServiceEvent& event);
std::string aggregate_payload(const AggregateEvent& event);

}  // namespace reaper::cloudsim

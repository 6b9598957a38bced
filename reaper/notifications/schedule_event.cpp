#include "reaper/notifications/schedule_event.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "reaper/notifications/nova_json.hpp"

namespace reaper::amqp {
namespace {

constexpr std::size_t max_texts = 10'000;

/// A list of names, or one name alone; none if it is absent or null.
std::set<std::string> names(const JsonPlace& object, const char* key) {
    std::set<std::string> all;
    const auto list = object.maybe(key);
    if (!list) return all;
    if (list->is_text()) return {name_in(*list)};
    if (list->value().size() > max_texts) list->fail("is too long");
    list->each([&](const JsonPlace& each) { all.insert(name_in(each)); });
    return all;
}

/// Of a hint; what is no UUID can't be a server, and Nova ignores it too.
std::set<ServerId> servers(const JsonPlace& hints, const char* key) {
    std::set<ServerId> all;
    for (const auto& name : names(hints, key))
        if (is_uuid(name)) all.emplace(name);
    return all;
}

/// Each text names the UUIDs of aggregates, separated by commas: one of them will do.
void read_aggregates(const JsonPlace& destination, PlacementConstraints& placement) {
    for (const auto& text : names(destination, "aggregates")) {
        std::set<std::string> any_of;
        for (std::size_t from = 0; from < text.size();) {
            const auto comma = std::min(text.find(',', from), text.size());
            if (comma > from) any_of.insert(text.substr(from, comma - from));
            from = comma + 1;
        }
        placement.aggregates.push_back(std::move(any_of));
    }
}

void read_places(const JsonPlace& spec, Schedule& schedule) {
    PlacementConstraints& placement = schedule.placement;
    if (const auto object = spec.maybe("requested_destination")) {
        const JsonPlace destination = nova_data(*object);
        for (const char* const key : {"host", "node"})
            if (const auto name = destination.maybe(key))
                placement.only_hosts.insert(name_in(*name));
        if (!placement.only_hosts.empty()) placement.why_only = "the request asks for";
        read_aggregates(destination, placement);
    }
    auto forced = names(spec, "force_hosts");
    if (forced.empty()) forced = names(spec, "force_nodes");
    if (!forced.empty()) {
        placement.only_hosts = std::move(forced);
        placement.why_only = "the request is forced onto";
    }
    schedule.ignored_hosts = names(spec, "ignore_hosts");
    if (const auto zone = spec.maybe("availability_zone"))
        schedule.availability_zone = name_in(*zone);
    if (const auto hints = spec.maybe("scheduler_hints")) {
        placement.with = servers(*hints, "same_host");
        placement.apart_from = servers(*hints, "different_host");
    }
}

void read_image(const JsonPlace& spec, Schedule& schedule) {
    const auto image = spec.maybe("image");
    if (!image) return;
    schedule.image = image_in(*image);
    const JsonPlace data = nova_data(*image);
    const auto properties = data.maybe("properties");
    if (!properties) return;
    for (const auto& trait : names(nova_data(*properties), "traits_required"))
        schedule.required_traits.emplace(trait);
}

}  // namespace

Schedule schedule_of(std::string_view message) {
    try {
        const nlohmann::json document = parse_json(message);
        const JsonPlace top(document);
        Schedule schedule;
        schedule.ended = top["event_type"].text().ends_with(".end");
        schedule.request = RequestId(name_in(top["_context_request_id"]));
        schedule.at = top["timestamp"].time();
        const JsonPlace spec = nova_data(top["payload"]);
        schedule.server = ServerId(uuid_in(spec["instance_uuid"]));
        if (const auto project = spec.maybe("project_id"))
            schedule.project = ProjectId(name_in(*project));
        read_places(spec, schedule);
        read_image(spec, schedule);
        return schedule;
    } catch (const nlohmann::json::exception& error) {
        throw WrongJson{std::string("the message can't be read: ") + error.what()};
    }
}

}  // namespace reaper::amqp

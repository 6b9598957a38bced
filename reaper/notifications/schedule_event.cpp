#include "reaper/notifications/schedule_event.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "reaper/notifications/json_field.hpp"
#include "reaper/notifications/utc_time.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr std::size_t most_texts = 10'000;

/// A list of names, or one name alone; none if it is absent or null.
std::set<std::string> names(const JsonField& object, const std::string& key) {
    std::set<std::string> all;
    const auto list = object.maybe(key);
    if (!list) return all;
    if (list->value().is_string()) return {list->name()};
    if (!list->value().is_array()) list->fail("expected a list");
    if (list->value().size() > most_texts) list->fail("is too long");
    for (const auto& element : list->value())
        all.insert(JsonField(element, list->path() + "[]").name());
    return all;
}

/// Of a hint; what is no UUID can't be a server, and Nova ignores it too.
std::set<ServerId> servers(const JsonField& hints, const std::string& key) {
    std::set<ServerId> all;
    for (const auto& name : names(hints, key))
        if (is_uuid(name)) all.emplace(name);
    return all;
}

/// Each text names the UUIDs of aggregates, separated by commas: one of them will do.
void read_aggregates(const JsonField& destination, Landing& landing) {
    for (const auto& text : names(destination, "aggregates")) {
        std::set<std::string> any_of;
        for (std::size_t from = 0; from < text.size();) {
            const auto comma = std::min(text.find(',', from), text.size());
            if (comma > from) any_of.insert(text.substr(from, comma - from));
            from = comma + 1;
        }
        landing.aggregates.push_back(std::move(any_of));
    }
}

void read_places(const JsonField& spec, Schedule& schedule) {
    Landing& landing = schedule.landing;
    if (const auto object = spec.maybe("requested_destination")) {
        const JsonField destination = object->nova_data();
        for (const char* const key : {"host", "node"})
            if (const auto name = destination.maybe(key)) landing.only_hosts.insert(name->name());
        if (!landing.only_hosts.empty()) landing.why_only = "the request asks for";
        read_aggregates(destination, landing);
    }
    auto forced = names(spec, "force_hosts");
    if (forced.empty()) forced = names(spec, "force_nodes");
    if (!forced.empty()) {
        landing.only_hosts = std::move(forced);
        landing.why_only = "the request is forced onto";
    }
    schedule.ignored_hosts = names(spec, "ignore_hosts");
    if (const auto zone = spec.maybe("availability_zone"))
        schedule.availability_zone = zone->name();
    if (const auto hints = spec.maybe("scheduler_hints")) {
        landing.with = servers(*hints, "same_host");
        landing.apart_from = servers(*hints, "different_host");
    }
}

void read_image(const JsonField& spec, Schedule& schedule) {
    const auto image = spec.maybe("image");
    if (!image) return;
    const auto properties = image->nova_data().maybe("properties");
    if (!properties) return;
    for (const auto& trait : names(properties->nova_data(), "traits_required"))
        schedule.required_traits.emplace(trait);
}

}  // namespace

Schedule schedule_of(std::string_view message) {
    try {
        const nlohmann::json document = parse_json(message, "the message");
        const JsonField top(document, "");
        Schedule schedule;
        schedule.ended = top.at("event_type").text().ends_with(".end");
        schedule.request = RequestId(top.at("_context_request_id").name());
        const JsonField sent = top.at("timestamp");
        const auto at = parse_utc_time(sent.text(100));
        if (!at) sent.fail("expected a time, got '" + printable(sent.text(100), 50) + "'");
        schedule.at = *at;
        const JsonField spec = top.at("payload").nova_data();
        schedule.server = ServerId(spec.at("instance_uuid").uuid());
        read_places(spec, schedule);
        read_image(spec, schedule);
        return schedule;
    } catch (const nlohmann::json::exception& error) {
        throw BadField{std::string("the message can't be read: ") + error.what()};
    }
}

}  // namespace reaper::amqp

// From JSON back to values: what the journal keeps. Strict: another shape is an error with its
// place, never a guess. Exceptions end in this file.
#include <limits>

#include "reaper/report/json.hpp"
#include "reaper/report/json_landing.hpp"
#include "reaper/report/time_text.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

struct WrongShape {
    std::string what;
};

const json& member(const json& object, const char* name) {
    if (!object.is_object()) throw WrongShape{std::string{"no object around "} + name};
    const auto at = object.find(name);
    if (at == object.end()) throw WrongShape{std::string{"no "} + name};
    return *at;
}

const std::string& text_of(const json& value, const char* name) {
    const auto* const content = value.get_ptr<const json::string_t*>();
    if (content == nullptr) throw WrongShape{std::string{name} + " is not a text"};
    return *content;
}

const std::string& text(const json& object, const char* name) {
    return text_of(member(object, name), name);
}

Amount whole_number(const json& value, const std::string& name) {
    if (!value.is_number_integer()) throw WrongShape{name + " is not a whole number"};
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Amount>::max()))
        throw WrongShape{name + " is too large"};
    return value.get<Amount>();
}

int small_number(const json& object, const char* name) {
    const Amount value = whole_number(member(object, name), name);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
        throw WrongShape{std::string{name} + " is too large"};
    return static_cast<int>(value);
}

TimePoint time(const json& object, const char* name) {
    const auto value = time_from_iso(text(object, name));
    if (!value) throw WrongShape{std::string{name} + " is not a time"};
    return *value;
}

const json& list(const json& object, const char* name) {
    const json& value = member(object, name);
    if (!value.is_array()) throw WrongShape{std::string{name} + " is not a list"};
    return value;
}

/// Empty where an earlier version did not write it.
std::string newer_text(const json& object, const char* name) {
    return object.contains(name) ? text(object, name) : std::string{};
}

/// The texts of a list, each as a `T`.
template <class T>
std::vector<T> texts(const json& object, const char* name) {
    std::vector<T> all;
    for (const auto& each : list(object, name)) all.emplace_back(text_of(each, name));
    return all;
}

Resources resources(const json& object, const char* name) {
    const json& value = member(object, name);
    if (!value.is_object()) throw WrongShape{std::string{name} + " is not an object"};
    Resources result;
    for (const auto& [resource_class, amount] : value.items())
        result.set(ResourceClass{resource_class}, whole_number(amount, name));
    return result;
}

void check_json_version(const json& object) {
    const Amount version = whole_number(member(object, "version"), "version");
    if (version != json_version)
        throw WrongShape{"version " + std::to_string(version) + ", not " +
                         std::to_string(json_version)};
}

Victim victim(const json& object) {
    Victim result;
    result.server = ServerId{text(object, "server")};
    result.name = text(object, "name");
    result.project = ProjectId{text(object, "project")};
    result.host = text(object, "host");
    result.resources = resources(object, "resources");
    result.created = time(object, "created");
    result.reason = text(object, "reason");
    result.workload = newer_text(object, "workload");
    return result;
}

/// Absent in what earlier versions wrote.
std::vector<Awaited> awaited(const json& object) {
    std::vector<Awaited> all;
    if (!object.contains("awaited")) return all;
    for (const auto& each : list(object, "awaited"))
        all.push_back(
            Awaited{ServerId{text(each, "server")}, text(each, "name"), text(each, "reason")});
    return all;
}

HostPlan host_plan(const json& object) {
    HostPlan result;
    result.host = HostId{text(object, "host")};
    result.host_name = text(object, "host_name");
    result.slots = small_number(object, "slots");
    result.slots_ready = small_number(object, "slots_ready");
    for (const auto& each : list(object, "victims")) result.victims.push_back(victim(each));
    result.awaited = awaited(object);
    result.free_before = resources(object, "free_before");
    result.free_after = resources(object, "free_after");
    result.reason = text(object, "reason");
    return result;
}

Rejection rejection(const json& object) {
    Rejection result;
    result.host = HostId{text(object, "host")};
    result.host_name = text(object, "host_name");
    const auto code = rejection_code_from(text(object, "code"));
    if (!code) throw WrongShape{"code is unknown"};
    result.code = *code;
    result.reason = text(object, "reason");
    return result;
}

std::vector<HostPlan> host_plans(const json& object) {
    std::vector<HostPlan> all;
    for (const auto& each : list(object, "hosts")) all.push_back(host_plan(each));
    return all;
}

std::vector<Rejection> rejections(const json& object) {
    std::vector<Rejection> all;
    for (const auto& each : list(object, "rejected")) all.push_back(rejection(each));
    return all;
}

/// Absent in what earlier versions wrote.
std::vector<RejectionCount> rejection_counts(const json& object) {
    std::vector<RejectionCount> all;
    if (!object.contains("rejected_counts")) return all;
    for (const auto& each : list(object, "rejected_counts")) {
        const auto code = rejection_code_from(text(each, "code"));
        if (!code) throw WrongShape{"code is unknown"};
        all.push_back(RejectionCount{*code, small_number(each, "hosts"), text(each, "sample")});
    }
    return all;
}

Plan plan(const json& object) {
    Plan result;
    result.request = RequestId{text(object, "request")};
    result.strategy = text(object, "strategy");
    result.slots_requested = small_number(object, "slots_requested");
    result.slots_wanted = small_number(object, "slots_wanted");
    result.slots_freed = small_number(object, "slots_freed");
    result.hosts = host_plans(object);
    result.rejected = rejections(object);
    result.rejected_counts = rejection_counts(object);
    result.note = text(object, "note");
    return result;
}

NotEnough not_enough(const json& object) {
    NotEnough result;
    result.slots_requested = small_number(object, "slots_requested");
    result.slots_possible = small_number(object, "slots_possible");
    result.reason = text(object, "reason");
    result.rejected = rejections(object);
    result.rejected_counts = rejection_counts(object);
    result.brake = newer_text(object, "brake");
    return result;
}

/// Regular in what earlier versions wrote.
ResType kind_of_room(const json& object) {
    if (!object.contains("room")) return ResType::regular;
    const auto type = res_type_from(text(object, "room"));
    if (!type) throw WrongShape{"room is unknown"};
    return *type;
}

/// The default in what earlier versions wrote.
Phases phases(const json& object) {
    if (!object.contains("res_type")) return {};
    const auto read = phases_from(text(object, "res_type"));
    if (!read) throw WrongShape{"res_type is unknown"};
    return *read;
}

Decision decision(const json& object) {
    check_json_version(object);
    const std::string& kind = text(object, "decision");
    if (kind == "plan") return plan(object);
    if (kind == "nothing-to-do")
        return NothingToDo{text(object, "reason"), host_plans(object), kind_of_room(object)};
    if (kind == "not-enough") return not_enough(object);
    throw WrongShape{"decision is unknown"};
}

Request request(const json& object) {
    check_json_version(object);
    Request result;
    result.id = RequestId{text(object, "id")};
    const auto operation = operation_from(text(object, "operation"));
    if (!operation) throw WrongShape{"operation is unknown"};
    result.operation = *operation;
    result.project = ProjectId{text(object, "project")};
    result.resources = resources(object, "resources");
    result.slots = small_number(object, "slots");
    result.requesters = texts<ServerId>(object, "requesters");
    if (!member(object, "availability_zone").is_null())
        result.availability_zone = text(object, "availability_zone");
    for (auto& trait : texts<Trait>(object, "required_traits"))
        result.required_traits.insert(std::move(trait));
    for (auto& trait : texts<Trait>(object, "forbidden_traits"))
        result.forbidden_traits.insert(std::move(trait));
    const json& excluded = member(object, "excluded_hosts");
    if (!excluded.is_object()) throw WrongShape{"excluded_hosts is not an object"};
    for (const auto& [host, why] : excluded.items())
        result.excluded_hosts[host] = text_of(why, "excluded_hosts");
    if (object.contains("flavor_extra_specs")) {  // not in what earlier versions wrote
        const json& specs = member(object, "flavor_extra_specs");
        if (!specs.is_object()) throw WrongShape{"flavor_extra_specs is not an object"};
        for (const auto& [key, value] : specs.items())
            result.flavor_extra_specs[key] = text_of(value, "flavor_extra_specs");
    }
    result.phases = phases(object);
    result.phases_because = newer_text(object, "res_type_because");
    result.sent_at = time(object, "sent_at");
    if (object.contains("landing"))
        result.landing = landing_from(JsonPlace{object["landing"], "landing"});
    return result;
}

/// Runs a reader and turns its exceptions into an error.
template <class T>
Result<T> guarded(T (*read)(const json&), const json& document, const char* what) {
    try {
        return read(document);
    } catch (const WrongShape& wrong) {
        return Error{Errc::bad_answer, std::string{"JSON of a "} + what + ": " + wrong.what};
    } catch (const WrongPlace& wrong) {
        return Error{Errc::bad_answer, std::string{"JSON of a "} + what + ": " + wrong.what};
    } catch (const json::exception& exception) {
        return Error{Errc::bad_answer, std::string{"JSON of a "} + what + ": " + exception.what()};
    }
}

}  // namespace

std::optional<RejectionCode> rejection_code_from(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(RejectionCode::ranked_lower); ++i)
        if (const auto code = static_cast<RejectionCode>(i); to_string(code) == text) return code;
    return std::nullopt;
}

Result<Request> request_from_json(const json& document) {
    return guarded(&request, document, "request");
}

Result<Decision> decision_from_json(const json& document) {
    return guarded(&decision, document, "decision");
}

}  // namespace reaper::report

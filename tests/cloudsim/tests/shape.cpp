#include "tests/cloudsim/tests/shape.hpp"

#include <regex>

namespace reaper::cloudsim::test {

namespace {

using Json = nlohmann::json;

struct Format {
    const char* name;
    std::regex pattern;
};

const std::vector<Format>& formats() {
    static const std::vector<Format> all = {
        {"empty", std::regex("")},
        {"uuid", std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")},
        {"hex 32", std::regex("[0-9a-f]{32}")},
        {"hex 56", std::regex("[0-9a-f]{56}")},
        {"request id", std::regex("req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")},
        {"reservation", std::regex("r-[a-z0-9]{8}")},
        {"instance name", std::regex("instance-[0-9a-f]{8}")},
        {"time Z", std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")},
        {"time micro", std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})")},
        {"time micro Z", std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)")},
        {"time spaced", std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6})")},
        {"path of an id", std::regex("(/[a-z_]+)+/[0-9a-f-]{36}(/[a-z]+)?")},
        {"url of an id", std::regex("http://[0-9.:]+(/[a-z0-9_.]+)*/[0-9a-f-]{32,36}")},
        {"url", std::regex("http://[0-9.:]+.*")},
        {"service", std::regex("nova-[a-z]+:[a-z0-9-]+")},
    };
    return all;
}

/// Names that are the cloud's own business: any text will do.
bool is_free(const std::string& path) {
    static const std::regex free(
        R"(.*\.(name|display_name|host_name|hostname|host|node|hypervisor_hostname|flavorid)$)"
        R"(|.*(:host|:hostname|:hypervisor_hostname|original_name|project_name|user_name)$)"
        R"(|.*(audit_ids\.\*|links\.(self|next))$|.*\.(owner|events\.\*\.traceback)$)");
    return std::regex_match(path, free);
}

/// What is the same in every cloud.
bool is_fixed(const std::string& path) {
    // Of an action; a message's is compared.
    if (path.ends_with(".events.*.traceback")) return false;
    static const std::regex fixed(
        R"(.*\.(nova_object\.(name|namespace|version)|event_type|priority|exception)"
        R"(|exception_message|traceback|module_name|function_name|rel|interface|code|title)"
        R"(|state|old_state|old_task_state|new_task_state|task_state|power_state|status)"
        R"(|vm_state|auto_disk_config|consumer_type|message|min_unit|step_size|zone|binary)"
        R"(|hypervisor_type|num_instances|oslo\.version|is_domain|domain_id)$)"
        R"(|.*OS-(DCF|EXT-STS|EXT-AZ):.*)");
    return std::regex_match(path, fixed);
}

/// Maps whose keys are data: ids, resource classes, extra specs, metadata.
bool is_map(const std::string& path) {
    static const std::regex map(
        R"(.*\.(allocations|resources|inventories|usages|provider_summaries|mappings)"
        R"(|extra_specs|metadata)$)");
    return std::regex_match(path, map);
}

void compare(const Json& recorded, const Json& ours, const std::string& path,
             std::vector<std::string>& found);

void compare_with_nearest(const Json& recorded, const Json& ours, const std::string& path,
                          std::vector<std::string>& found);

void compare_members(const Json& recorded, const Json& ours, const std::string& path,
                     std::vector<std::string>& found) {
    for (const auto& [key, value] : recorded.items()) {
        if (!ours.contains(key))
            found.push_back(path + "." + key + " is missing");
        else
            compare(value, ours[key], path + "." + key, found);
    }
    for (const auto& [key, value] : ours.items())
        if (!recorded.contains(key)) found.push_back(path + "." + key + " is not in the real one");
}

void compare_map(const Json& recorded, const Json& ours, const std::string& path,
                 std::vector<std::string>& found) {
    if (recorded.empty() || ours.empty()) return;
    const auto first = recorded.begin();
    Json values = Json::array();
    for (const Json& value : recorded) values.push_back(value);
    for (const auto& [key, value] : ours.items()) {
        if (format_of(key) != format_of(first.key()))
            found.push_back(path + ": the key " + key + " is not like " + first.key());
        compare_with_nearest(values, value, path + ".*", found);
    }
}

/// Lists hold different things (a server in ERROR, one that is ACTIVE): the most similar counts.
void compare_with_nearest(const Json& recorded, const Json& ours, const std::string& path,
                          std::vector<std::string>& found) {
    std::vector<std::string> least;
    for (std::size_t at = 0; at < recorded.size(); ++at) {
        std::vector<std::string> here;
        compare(recorded[at], ours, path, here);
        if (at == 0 || here.size() < least.size()) least = std::move(here);
    }
    found.insert(found.end(), least.begin(), least.end());
}

const char* kind(const Json& value) {
    if (value.is_number_float()) return "float";
    if (value.is_number()) return "integer";
    return value.type_name();
}

void compare(const Json& recorded, const Json& ours, const std::string& path,
             std::vector<std::string>& found) {
    if (std::string_view(kind(recorded)) != kind(ours)) {
        found.push_back(path + " is " + kind(ours) + ", not " + kind(recorded));
    } else if (recorded.is_object() && is_map(path)) {
        compare_map(recorded, ours, path, found);
    } else if (recorded.is_object()) {
        compare_members(recorded, ours, path, found);
    } else if (recorded.is_array() && !recorded.empty()) {
        for (const Json& each : ours) compare_with_nearest(recorded, each, path + ".*", found);
    } else if (is_fixed(path) && recorded != ours) {
        found.push_back(path + " is " + ours.dump() + ", not " + recorded.dump());
    } else if (recorded.is_string() && !is_free(path)) {
        const std::string wanted = format_of(recorded.get<std::string>());
        const std::string is = format_of(ours.get<std::string>());
        if (wanted != is)
            found.push_back(path + " is " + is + " (" + ours.get<std::string>() + "), not " +
                            wanted + " (" + recorded.get<std::string>() + ")");
    }
}

}  // namespace

std::string format_of(const std::string& text) {
    for (const Format& format : formats())
        if (std::regex_match(text, format.pattern)) return format.name;
    return text.find('\n') != std::string::npos ? "lines" : "text";
}

std::vector<std::string> differences(const Json& recorded, const Json& ours) {
    std::vector<std::string> found;
    compare(recorded, ours, "", found);
    return found;
}

}  // namespace reaper::cloudsim::test

#include "tests/cloudsim/api/call.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace reaper::cloudsim {

void Call::need_admin(const std::string& rule) const {
    if (!by || !by->is_admin) throw ApiError(403, rule);
}

nlohmann::json Call::body() const {
    nlohmann::json document = nlohmann::json::parse(request.body, nullptr, false);
    if (document.is_discarded() || !document.is_object())
        throw ApiError(400,
                       "The server could not comply with the request since it is either "
                       "malformed or otherwise incorrect.");
    return document;
}

namespace {

bool matches(std::string_view pattern, std::span<const std::string> path,
             std::vector<std::string>& args) {
    args.clear();
    std::size_t at = 0;
    while (!pattern.empty()) {
        const auto slash = pattern.find('/');
        const std::string_view segment = pattern.substr(0, slash);
        if (at == path.size()) return false;
        if (segment == "*")
            args.push_back(path[at]);
        else if (segment != path[at])
            return false;
        ++at;
        pattern = slash == std::string_view::npos ? "" : pattern.substr(slash + 1);
    }
    return at == path.size();
}

}  // namespace

Handler find_route(std::span<const Route> routes, const std::string& method,
                   std::span<const std::string> path, std::vector<std::string>& args) {
    bool known = false;
    for (const Route& route : routes) {
        if (!matches(route.pattern, path, args)) continue;
        if (method == route.method) return route.handler;
        known = true;
    }
    if (known) throw ApiError(405, "The method " + method + " is not allowed for this resource.");
    throw ApiError(404, "The resource could not be found.");
}

std::int64_t number_in(const std::string& text, const std::string& message) {
    std::int64_t number = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || number < 0)
        throw ApiError(400, message);
    return number;
}

std::string text_in(const nlohmann::json& object, const char* key, const std::string& fallback) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return fallback;
    if (found->is_number_integer()) return std::to_string(found->get<std::int64_t>());
    if (!found->is_string())
        throw ApiError(400, std::string("Invalid input for field/attribute ") + key +
                                ". Value: " + found->dump() + ". It is not of type 'string'");
    return found->get<std::string>();
}

std::string need_text(const nlohmann::json& object, const char* key) {
    const std::string text = text_in(object, key, "");
    if (text.empty())
        throw ApiError(400, std::string("Invalid input for field/attribute: '") + key +
                                "' is a required property");
    return text;
}

const nlohmann::json& need_object(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_object())
        throw ApiError(400, std::string("Invalid input for field/attribute: '") + key +
                                "' is a required property");
    return *found;
}

}  // namespace reaper::cloudsim

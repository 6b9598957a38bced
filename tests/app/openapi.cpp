#include "app/openapi.hpp"

#include <boost/algorithm/string/case_conv.hpp>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace reaper::test {
namespace {

using nlohmann::json;

/// OpenAPI 3.0's schemas as JSON Schema, and strict: a member that is not in the document is wrong.
json as_json_schema(const json& written) {
    if (written.is_array()) {
        json all = json::array();
        for (const json& each : written) all.push_back(as_json_schema(each));
        return all;
    }
    if (!written.is_object()) return written;
    json made = json::object();
    for (const auto& [name, value] : written.items())
        if (name != "nullable" && name != "format") made[name] = as_json_schema(value);
    const bool lists_members =
        written.value("type", json{}) == "object" && written.contains("properties");
    if (lists_members && !written.contains("additionalProperties"))
        made["additionalProperties"] = false;
    if (written.value("nullable", json{}) != true) return made;
    return {{"anyOf", json::array({made, {{"type", "null"}}})}};
}

struct Compiled {
    json source;  // the schema may refer to it
    valijson::Schema schema;
};

const valijson::Schema& compiled(const json& schema) {
    static std::map<std::string, std::unique_ptr<Compiled>> known;
    auto& found = known[schema.dump()];
    if (found) return found->schema;
    found = std::make_unique<Compiled>();
    found->source = {{"allOf", json::array({as_json_schema(schema)})},
                     {"components", as_json_schema(openapi().at("components"))}};
    const valijson::adapters::NlohmannJsonAdapter adapter{found->source};
    valijson::SchemaParser{}.populateSchema(adapter, found->schema);
    return found->schema;
}

std::string first_of(valijson::ValidationResults& results) {
    std::string all;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
        std::string at;
        for (const auto& part : error.context) at += part;
        all += at + ": " + error.description + "\n";
    }
    return all;
}

/// What is wrong with a value by its schema; empty: nothing.
std::string wrong_by(const json& schema, const json& value) {
    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter adapter{value};
    valijson::Validator validator;
    return validator.validate(compiled(schema), adapter, &results) ? "" : first_of(results);
}

/// Of the types of a body or an answer.
void add_examples(const std::string& name, const json& content,
                  std::map<std::string, std::string>& found) {
    for (const auto& [type, media] : content.items())
        if (media.contains("example"))
            found[name] = wrong_by(media.at("schema"), media.at("example"));
}

}  // namespace

const json& openapi() {
    static const json document = [] {
        std::ifstream file{"reaper/api/openapi.json"};
        if (!file) throw std::runtime_error("reaper/api/openapi.json: not found from here");
        return json::parse(file);
    }();
    return document;
}

const json& resolved(const json& part) {
    if (!part.contains("$ref")) return part;
    const std::string where = part.at("$ref");
    return openapi().at(json::json_pointer{where.substr(1)});
}

std::set<std::string> documented_routes() {
    std::set<std::string> routes;
    for (const auto& [path, methods] : openapi().at("paths").items())
        for (const auto& [method, operation] : methods.items())
            routes.insert(boost::algorithm::to_upper_copy(method) + " " + path);
    return routes;
}

std::string wrong_with(const std::string& route, int status, const std::string& content_type,
                       const json& body) {
    const std::size_t space = route.find(' ');
    const json& paths = openapi().at("paths");
    const std::string path = route.substr(space + 1);
    const std::string method = boost::algorithm::to_lower_copy(route.substr(0, space));
    if (!paths.contains(path) || !paths.at(path).contains(method)) return route + ": no such route";
    const json& responses = paths.at(path).at(method).at("responses");
    const std::string code = std::to_string(status);
    if (!responses.contains(code)) return route + ": no status " + code;
    const json& content = resolved(responses.at(code)).at("content");
    if (!content.contains(content_type)) return route + " " + code + ": no " + content_type;
    const std::string wrong = wrong_by(content.at(content_type).at("schema"), body);
    if (wrong.empty()) return {};
    return route + " " + code + ":\n" + wrong + body.dump().substr(0, 2000);
}

std::map<std::string, std::string> documented_examples() {
    std::map<std::string, std::string> found;
    for (const auto& [path, methods] : openapi().at("paths").items())
        for (const auto& [method, operation] : methods.items()) {
            const std::string route = boost::algorithm::to_upper_copy(method) + " " + path;
            if (operation.contains("requestBody"))
                add_examples(route, operation.at("requestBody").at("content"), found);
            for (const auto& [code, response] : operation.at("responses").items())
                add_examples(route + " " + code, resolved(response).at("content"), found);
        }
    return found;
}

}  // namespace reaper::test

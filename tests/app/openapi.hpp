// The API's document, for tests: which routes it has, and whether answers are as it says.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace reaper::test {

/// reaper/api/openapi.json as it is written.
const nlohmann::json& openapi();

/// A part of the document, or where that only refers to another one, that one.
const nlohmann::json& resolved(const nlohmann::json& part);

/// `GET /v1/hosts/{host}`, ...
std::set<std::string> documented_routes();

/// What is wrong with the answer of a route, by the document: a status or a type that it does not
/// have, a member that is missing, of another type, or not in the document. Empty: nothing.
std::string wrong_with(const std::string& route, int status, const std::string& content_type,
                       const nlohmann::json& body);

/// The examples of bodies and answers, and what is wrong with each by its schema; empty: nothing.
std::map<std::string, std::string> documented_examples();

}  // namespace reaper::test

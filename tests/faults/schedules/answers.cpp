#include "faults/schedules/answers.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace reaper::faults {
namespace {

using nlohmann::json;

BrokenAnswer no_answer(std::string cause, bool began) {
    BrokenAnswer answer;
    answer.failure = http::Failure{Errc::unreachable, std::move(cause), true, began};
    return answer;
}

BrokenAnswer status(int code, std::string message) {
    BrokenAnswer answer;
    answer.replaced = true;
    answer.response = cloudsim::json_response(
        code, json{{"error", {{"code", code}, {"message", std::move(message)}}}}.dump());
    return answer;
}

/// Objects of the document that have members with names of the API (not ids of things).
void collect(json& at, std::vector<std::pair<json*, std::string>>& members) {
    if (at.is_array())
        for (auto& element : at) collect(element, members);
    if (!at.is_object()) return;
    for (auto& [name, value] : at.items()) {
        const bool is_id = name.size() == 36 && name[8] == '-';
        if (!is_id) members.emplace_back(&at, name);
        collect(value, members);
    }
}

json of_another_type(const json& value) {
    if (value.is_string()) return json::array({1, "x"});
    if (value.is_number()) return json("many");
    if (value.is_boolean()) return json("perhaps");
    if (value.is_null()) return json::object({{"null", 1}});
    return json(7);
}

void collect_arrays(json& at, std::vector<json*>& arrays) {
    if (at.is_array() && at.size() > 1) arrays.push_back(&at);
    if (at.is_structured())
        for (auto& element : at) collect_arrays(element, arrays);
}

/// Changes the JSON of an answer; not if it has none.
BrokenAnswer mutated(Kind fault, cloudsim::Response truth, Chance& chance) {
    BrokenAnswer answer;
    answer.response = std::move(truth);
    json document = json::parse(answer.response.body, nullptr, false);
    if (document.is_discarded()) return answer;
    if (fault == Kind::half_list) {
        std::vector<json*> arrays;
        collect_arrays(document, arrays);
        if (arrays.empty()) return answer;
        json& list = *chance.any_of(arrays);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
    } else {
        std::vector<std::pair<json*, std::string>> members;
        collect(document, members);
        if (members.empty()) return answer;
        const int times = chance.between(1, 3);
        for (int i = 0; i < times; ++i) {
            auto& [object, name] = chance.any_of(members);
            if (!object->is_object() || !object->contains(name)) continue;
            if (fault == Kind::missing_field) {
                object->erase(name);
                break;  // others may be inside what is gone
            }
            (*object)[name] = of_another_type((*object)[name]);
            break;
        }
    }
    answer.response.body = document.dump();
    answer.untrue = true;
    return answer;
}

}  // namespace

BrokenAnswer broken_answer(std::optional<Kind> fault, cloudsim::Response truth, Chance& chance) {
    BrokenAnswer answer;
    if (!fault) {
        answer.response = std::move(truth);
        return answer;
    }
    switch (*fault) {
        case Kind::status_500: return status(500, "Unexpected API Error");
        case Kind::status_502: return status(502, "Bad Gateway");
        case Kind::status_503: return status(503, "Service Unavailable");
        case Kind::status_504: return status(504, "Gateway Timeout");
        case Kind::busy_429: {
            answer = status(429, "This request was rate-limited.");
            answer.response.headers.emplace_back("Retry-After",
                                                 std::to_string(chance.between(0, 20)));
            return answer;
        }
        case Kind::forbidden_403: return status(403, "Policy doesn't allow it to be performed.");
        case Kind::conflict_409:
            return status(409, "Cannot 'delete' instance while it is in task_state x");
        case Kind::reset_before: return no_answer("the server closed the connection", false);
        case Kind::reset_after:
            return no_answer("the server closed the connection without an answer", false);
        case Kind::cut_body: return no_answer("the answer broke off in the middle", true);
        case Kind::short_json:
            answer.response = std::move(truth);
            answer.response.body.resize(
                chance.below(std::max<std::size_t>(1, answer.response.body.size())));
            answer.replaced = true;
            return answer;
        case Kind::garbage_body:
            answer.response = std::move(truth);
            answer.response.body = "<html><body>Welcome to the proxy</body></html>";
            answer.replaced = true;
            return answer;
        case Kind::wrong_type:
        case Kind::missing_field:
        case Kind::half_list: return mutated(*fault, std::move(truth), chance);
        default: answer.response = std::move(truth); return answer;
    }
}

}  // namespace reaper::faults

// From JSON back to values, for readers of documents that have these within. Each throws WrongJson.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reaper/json/json_place.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/text.hpp"

namespace reaper::report {

/// Of a request or a decision: one that this reaper reads.
void check_json_version(const JsonPlace& in);
Request request_in(const JsonPlace& in);
Decision decision_in(const JsonPlace& in);
PlanEntry plan_entry_in(const JsonPlace& in);
Outcome outcome_in(const JsonPlace& in);
FreedRoomResult freed_room_in(const JsonPlace& in);

/// What `read` makes of each element.
template <class Read>
auto list(const JsonPlace& in, Read read) {
    std::vector<decltype(read(in))> all;
    in.each([&](const JsonPlace& each) { all.push_back(read(each)); });
    return all;
}

/// Runs a reader and turns its exceptions into an error.
template <class Read>
auto read_json(const nlohmann::json& document, const char* what, Read read)
    -> Result<decltype(read(std::declval<const JsonPlace&>()))> {
    const std::string where = std::string{"JSON of a "} + what + ": ";
    try {
        return read(JsonPlace{document});
    } catch (const WrongJson& wrong) {
        return Error{wrong.code, where + wrong.what};
    } catch (const nlohmann::json::exception& exception) {
        return Error{Errc::bad_answer, where + exception.what()};
    }
}

/// The same by a list of fields (reaper/json/fields.hpp).
auto read_as(const nlohmann::json& document, const char* what, const auto& fields) {
    return read_json(document, what, [&](const JsonPlace& in) { return fields.get(in); });
}

auto read_list_as(const nlohmann::json& document, const char* what, const auto& fields) {
    return read_json(document, what, [&](const JsonPlace& in) {
        return list(in, [&](const JsonPlace& each) { return fields.get(each); });
    });
}

}  // namespace reaper::report

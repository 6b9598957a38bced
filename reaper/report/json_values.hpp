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

Request request_in(const JsonPlace& in);
Decision decision_in(const JsonPlace& in);
PlanEntry plan_entry_in(const JsonPlace& in);
Outcome outcome_in(const JsonPlace& in);
FreedRoomResult freed_room_in(const JsonPlace& in);

/// What one of our words means.
template <class Read>
auto meaning(const JsonPlace& in, Read read) {
    const auto value = read(in.text());
    if (!value) in.fail("unknown word '" + printable(in.text(), 50) + "'");
    return *value;
}

/// What `read` makes of each element.
template <class Read>
auto list(const JsonPlace& in, Read read) {
    std::vector<decltype(read(in))> all;
    in.each([&](const JsonPlace& each) { all.push_back(read(each)); });
    return all;
}

/// None if it is null, or not there.
template <class Read>
auto unless_null(const JsonPlace& in, std::string_view name, Read read) {
    std::optional<decltype(read(in))> value;
    if (const auto found = in.maybe(name)) value = read(*found);
    return value;
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

}  // namespace reaper::report

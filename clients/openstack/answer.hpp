// An answer's JSON as a value, or as an error that names the field. JSON's own exceptions and ours
// stop here.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "reaper/json/json_place.hpp"

namespace reaper::openstack {

/// Throws WrongJson.
nlohmann::json parse_json(std::string_view body);

/// What `read(JsonPlace)` makes of the body. `where` names the answer in the error: `GET nova ...`.
template <class Read>
auto read_answer(std::string_view body, const std::string& where, Read read)
    -> Result<decltype(read(std::declval<JsonPlace>()))> {
    try {
        const nlohmann::json document = parse_json(body);
        return read(JsonPlace(document));
    } catch (const WrongJson& wrong) {
        return Error{wrong.code, where + ": " + wrong.what};
    }
}

}  // namespace reaper::openstack

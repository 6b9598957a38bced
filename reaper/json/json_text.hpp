// A JSON text that people write: errors name their place, and a member that is
// there twice is an error, as only one of them could count. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reaper/model/error.hpp"

namespace reaper {

/// `bad_input`, in one line: `line 3, column 7: not JSON: ...`, or which member is there twice.
Result<nlohmann::json> parse_json(const std::string& text);

/// The body of a request, an object. `example`: a correct line, for a client that sends another
/// format.
Result<nlohmann::json> parse_body(const std::string& body, const std::string& example = {});

}  // namespace reaper

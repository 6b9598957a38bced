// From JSON texts to documents, bounded in depth. In a text that people write, errors name their
// place, and a member that is there twice is an error, as only one of them could count. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"

namespace reaper {

/// Levels of a document. A deeper one overflows the stack where it is copied, compared or dumped.
inline constexpr int max_json_depth = 64;

/// Of JSON; of another text anything.
bool is_too_deep(std::string_view text);

/// The text itself; or the copy, in which each lone half of a surrogate pair is U+FFFD, which is as
/// long (`\ud800`, `\ufffd`). Python writes such halves, users may send them, and nlohmann refuses
/// the whole text.
std::string_view without_lone_surrogates(std::string_view text, std::string& copy);

/// Of a text that a program wrote, without lone surrogates; discarded if it is not JSON, or too
/// deep.
nlohmann::json parse_bounded(std::string_view text);

/// `bad_input`, in one line: `line 3, column 7: not JSON: ...`, which member is there twice, or
/// that it is too deep.
Result<nlohmann::json> parse_json(const std::string& text);

/// The body of a request, an object. `example`: a correct line, for a client that sends another
/// format.
Result<nlohmann::json> parse_body(const std::string& body, const std::string& example = {});

}  // namespace reaper

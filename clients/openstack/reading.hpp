// What a service answers as a record, or why there is none: the same errors for every call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "clients/openstack/service.hpp"
#include "clients/openstack/session.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/text.hpp"

namespace reaper::openstack {

// An answer's JSON as a value, or as an error that names the field. JSON's own exceptions and ours
// stop here.

/// Throws WrongJson.
inline nlohmann::json parse_json(std::string_view body) {
    nlohmann::json document = parse_bounded(body);
    if (document.is_discarded())
        throw WrongJson{"not JSON: \"" + one_line(body.substr(0, 200), 80) + '"'};
    return document;
}

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

/// Makes a record of an answer's body. `where` names the call in the error.
template <class T>
using Reader = Result<T> (*)(std::string_view body, const std::string& where);

/// What `reader` makes of the answer, if its status is 200; else the refusal. `Asked` made the
/// call: a Service or a Session.
template <class T, class Asked>
Result<T> record_in(const Result<Answer>& answer, Reader<T> reader, const Asked& asked) {
    if (!answer) return answer.error();
    if (answer->response.status != 200) return asked.refusal(*answer);
    return reader(answer->response.body, answer->where);
}

/// The same, and none if the status is 404.
template <class T, class Asked>
Result<std::optional<T>> found_in(const Result<Answer>& answer, Reader<T> reader,
                                  const Asked& asked) {
    if (answer && answer->response.status == 404) return std::optional<T>();
    auto record = record_in(answer, reader, asked);
    if (!record) return record.error();
    return std::optional<T>(std::move(*record));
}

// These keep what they ask alive until they end, also before they start.

/// `record_in` of a GET.
template <class T, class Asked>
ResultTask<T> read(std::shared_ptr<Asked> asked, std::string path, Reader<T> reader) {
    auto answer = co_await get(asked, std::move(path));
    co_return record_in(answer, reader, *asked);
}

/// `found_in` of a GET.
template <class T, class Asked>
ResultTask<std::optional<T>> find(std::shared_ptr<Asked> asked, std::string path,
                                  Reader<T> reader) {
    auto answer = co_await get(asked, std::move(path));
    co_return found_in(answer, reader, *asked);
}

/// An error, for what is not sent.
template <class T>
ResultTask<T> fails(Error error) {
    co_return error;
}

}  // namespace reaper::openstack

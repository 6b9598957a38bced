// What a service answers as a record, or why there is none: the same errors for every call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "clients/openstack/service.hpp"
#include "clients/openstack/session.hpp"

namespace reaper::openstack {

/// Makes a record of an answer's body. `where` names the call in the error.
template <class T>
using Reader = Result<T> (*)(std::string_view body, const std::string& where);

/// What `reader` makes of the answer, if its status is 200; else the refusal. `Asked` is who sent
/// the call: a Service or a Session.
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

/// Any status but 401 is an Answer.
ResultTask<Answer> get(std::shared_ptr<Service> service, std::string path, Version at_most = {},
                       std::optional<Duration> deadline = std::nullopt);
ResultTask<Answer> get(std::shared_ptr<Session> keystone, std::string path);

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

#include "clients/http_proxy/error_answer.hpp"

#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

namespace reaper::proxy {

std::string_view usual_reason(int status) {
    const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
    if (known == boost::beast::http::status::unknown) return {};
    const auto words = boost::beast::http::obsolete_reason(known);
    return {words.data(), words.size()};
}

OwnAnswer error_answer(int status, std::string_view detail) {
    const nlohmann::json error = {
        {"status", status}, {"title", usual_reason(status)}, {"detail", detail}};
    const nlohmann::json document = {{"errors", nlohmann::json::array({error})}};
    OwnAnswer answer;
    answer.status = status;
    answer.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}};
    answer.body = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    return answer;
}

int status_of(Errc code) {
    switch (code) {
        case Errc::timeout: return 504;
        case Errc::bad_answer: return 502;
        case Errc::bad_input: return 500;
        default: return 503;
    }
}

int status_of(const http::Failure& failure) {
    // It was reached, and left without an answer.
    if (failure.code == Errc::unreachable && failure.sent) return 502;
    return status_of(failure.code);
}

}  // namespace reaper::proxy

// A request and its answer as the API layers see them: no sockets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cloudsim/core/clock.hpp"

namespace reaper::cloudsim {

struct Request {
    std::string method;
    std::string target;                                        ///< as it came
    std::vector<std::string> path;                             ///< segments, decoded
    std::vector<std::pair<std::string, std::string>> query;    ///< decoded
    std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
    std::string body;

    std::string_view header(std::string_view lower_case_name) const;
    std::optional<std::string> parameter(std::string_view name) const;
    std::vector<std::string> parameters(std::string_view name) const;
    /// Splits a target into path and query.
    void set_target(std::string text);
    std::string path_text() const;   ///< without the query
    std::string query_text() const;  ///< as it came, without `?`
};

struct Response {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";  ///< empty: no such header
    std::vector<std::pair<std::string, std::string>> headers;

    // How it misbehaves
    Micros latency{0};                       ///< in real time, before it is sent
    std::optional<std::size_t> truncate_at;  ///< so many bytes of the body, then the end
    bool drop = false;                       ///< the connection ends without an answer
};

Response json_response(int status, std::string body);

}  // namespace reaper::cloudsim

// One call of an API while it is answered: what was asked, by whom, in which version. And the table
// of routes that every service has.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/cloudsim/api/http.hpp"
#include "tests/cloudsim/api/json_writer.hpp"
#include "tests/cloudsim/core/lifecycle.hpp"

namespace reaper::cloudsim {

/// An answer that is an error; each service writes it in its own way.
struct ApiError : std::runtime_error {
    ApiError(int with_status, const std::string& message, std::string with_code = {})
        : std::runtime_error(message), status(with_status), code(std::move(with_code)) {}
    int status;
    std::string code;  ///< Placement's
};

struct Call {
    World& world;
    Lifecycle& lifecycle;
    const Request& request;
    std::string base;  ///< where the service is: `http://127.0.0.1:8000/compute/v2.1`
    std::string root;  ///< where the program is: `http://127.0.0.1:8000`
    ContextPtr by;     ///< null without a token
    const Token* token = nullptr;
    Uuid request_id;
    int minor = 0;                  ///< microversion: 2.minor of Nova, 1.minor of Placement
    bool soft = false;              ///< of the region that defers deletions
    std::vector<std::string> args;  ///< what the stars of the pattern matched

    bool since(int version) const { return minor >= version; }
    /// 403 unless the token has the admin role. `rule` is the policy that refuses.
    void need_admin(const std::string& rule) const;
    /// The body as a JSON object; 400 if it is none.
    nlohmann::json body() const;
};

using Handler = Response (*)(Call&);

struct Route {
    const char* method;
    const char* pattern;  ///< `servers/*/action`
    Handler handler;
};

/// The handler for a path below the service's root; 404 or 405 as ApiError.
Handler find_route(std::span<const Route> routes, const std::string& method,
                   std::span<const std::string> path, std::vector<std::string>& args);

/// `expected` if the text is a non-negative number; else ApiError 400 with the message.
std::int64_t number_in(const std::string& text, const std::string& message);

// Fields of a JSON body. ApiError 400 if the type is wrong.
std::string text_in(const nlohmann::json& object, const char* key, const std::string& fallback);
std::string need_text(const nlohmann::json& object, const char* key);
const nlohmann::json& need_object(const nlohmann::json& object, const char* key);

}  // namespace reaper::cloudsim

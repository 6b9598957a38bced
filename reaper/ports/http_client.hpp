// Port: an HTTP client; what a service is asked, and what it answers.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

enum class Method { get, head, post, put, del };
std::string_view to_string(Method method);

/// May the call be sent again when it is not known whether the first one arrived?
enum class Repeat {
    by_method,  ///< yes for GET and HEAD, no for the others
    safe,       ///< yes: the second call changes nothing that the first did not
    never,
};

struct Header {
    std::string name;
    std::string value;
    friend bool operator==(const Header&, const Header&) = default;
};

struct Request {
    Method method = Method::get;
    std::string url;      ///< absolute, http or https, without user and password
    std::string service;  ///< the called service, in one word for logs: `nova`, `keystone`
    std::vector<Header> headers;
    std::string body;
    Repeat repeat = Repeat::by_method;
    /// All of the call: waiting for a connection, tries and pauses. Absent: the client's own.
    std::optional<Duration> deadline;
    /// Asked right before each try is written to the wire, after all waiting. False ends the call:
    /// with `cancelled` if nothing was sent, else with what the former try came to. The argument: a
    /// former try of this call may have been heard.
    std::function<bool(bool may_be_heard)> still_wanted;
};

struct Response {
    int status = 0;
    std::vector<Header> headers;
    std::string body;
    bool repeated = false;  ///< a try before this one may have been done

    /// The first header of that name, in any case of its letters; empty if there is none.
    std::string_view header(std::string_view name) const;
    /// The service's own name of this call (`x-openstack-request-id`); empty if it gave none.
    std::string_view request_id() const;
    bool ok() const { return status >= 200 && status < 300; }
};

/// The answer to one call on a connection of its own.
struct LocalAnswer {
    int status = 0;
    std::string body;  ///< what came in pieces is not in it
};

/// One try of a call that went out, and its result. The references are valid during the callback.
struct CallSeen {
    std::string_view service;  ///< Request::service
    Method method{};
    std::string_view url;                  ///< Request::url
    int status = 0;                        ///< of the answer; 0: there was none
    Errc failure{};                        ///< why, if there was none
    std::optional<TimePoint> date{};       ///< of the answer, by the service's clock
    std::chrono::duration<double> took{};  ///< waiting for a connection included
};
using CallObserver = std::function<void(const CallSeen&)>;

class Client {
public:
    virtual ~Client() = default;
    /// Any answer of the service is a Response, whatever its status. Failures:
    /// `unreachable`, `timeout`, `tls`, `bad_answer` (not HTTP, or too large), `bad_input` (the
    /// URL), `cancelled` (nothing was sent, or we are stopping). Their text names method, endpoint,
    /// path and cause.
    virtual ResultTask<Response> call(Request request) = 0;
};

}  // namespace reaper::http

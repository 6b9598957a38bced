// What is asked of an HTTP service and what it answers. Plain data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/time_text.hpp"

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

    /// The first header of that name, in any case of its letters; empty if there is none.
    std::string_view header(std::string_view name) const;
    /// The service's own name of this call (`x-openstack-request-id`); empty if it gave none.
    std::string_view request_id() const;
    bool ok() const { return status >= 200 && status < 300; }
};

}  // namespace reaper::http

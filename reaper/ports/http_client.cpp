#include "reaper/ports/http_client.hpp"

#include "reaper/model/text.hpp"

namespace reaper::http {

std::string_view to_string(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::head: return "HEAD";
        case Method::post: return "POST";
        case Method::put: return "PUT";
        case Method::del: return "DELETE";
    }
    return "?";
}

std::string_view Response::header(std::string_view name) const {
    const std::string wanted = to_lower(name);
    for (const Header& entry : headers)
        if (to_lower(entry.name) == wanted) return entry.value;
    return {};
}

std::string_view Response::request_id() const {
    const std::string_view id = header("x-openstack-request-id");
    return id.empty() ? header("x-compute-request-id") : id;
}

}  // namespace reaper::http

// The files that the program carries: GET / is the page, GET /v1/openapi.json the API's document.
#pragma once

#include <string_view>

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// One HTML document with its style and script in it, and a content security policy that lets just
/// these run, and ask this server alone.
Task<HttpResponse> get_page(const Backend& backend, ApiRequest request);

/// As it is written in reaper/api/openapi.json.
Task<HttpResponse> get_openapi(const Backend& backend, ApiRequest request);

/// Built in, from the files of reaper/api/page (see CMakeLists.txt).
namespace embedded {
extern const std::string_view openapi;
extern const std::string_view page_html;  ///< with `@style@` and `@script@` where these go
extern const std::string_view page_style;
extern const std::string_view page_script;
}  // namespace embedded

}  // namespace reaper::api

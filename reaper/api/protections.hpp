// Servers that operators protect, as the admin API shows and changes them.
#pragma once

#include "reaper/api/routes.hpp"

namespace reaper::api {

Task<HttpResponse> get_protections(const Backend& backend, ApiRequest request);
Task<HttpResponse> post_protect(const Backend& backend, ApiRequest request);
Task<HttpResponse> post_unprotect(const Backend& backend, ApiRequest request);

}  // namespace reaper::api

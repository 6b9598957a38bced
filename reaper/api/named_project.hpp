// The project that a query names.
#pragma once

#include <string>
#include <variant>

#include "reaper/api/routes.hpp"

namespace reaper::api {

/// The project of this id or name: the daemon has it in its cache, or Keystone is asked. Else why
/// there is none: 404, 400 where several have the name, 503 while Keystone can't be asked.
Task<std::variant<ProjectId, HttpResponse>> project_of(const Backend& backend, std::string written);

}  // namespace reaper::api

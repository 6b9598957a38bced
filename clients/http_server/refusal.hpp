// What the server itself answers. Internal to clients/http_server.
#pragma once

#include <string>

#include "reaper/ports/http_handler.hpp"

namespace reaper {

/// A refusal as the handlers' own look. `why` needs no escapes in JSON.
HttpResponse refusal(int status, const std::string& why);

}  // namespace reaper

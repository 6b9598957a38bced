// The machine that we run on, for people.
#pragma once

#include <string>

namespace reaper {

/// Its host name; `localhost` if it has none.
std::string machine_name();

}  // namespace reaper

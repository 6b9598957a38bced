// Requests that a user writes down, in YAML or JSON: see config/request_list.hpp.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "reaper/request_spec/described_request.hpp"

namespace reaper {

/// The requests of a list; every mistake, one line each. `name` stands for the text in them.
std::variant<std::vector<DescribedRequest>, std::vector<std::string>> read_requests(
    const std::string& name, const std::string& text);

}  // namespace reaper

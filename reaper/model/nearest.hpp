// Suggests the known word that an unknown one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reaper {

/// By the letters that are wrong, whatever their case; none if no word is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// The three nearest, as text: `; did you mean 'a' or 'b'?`; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace reaper

// What a flavor's extra specs say of being revocable.
#pragma once

#include <map>
#include <string>

namespace reaper {

/// The key is there with this value; the value is case-insensitive (ASCII):
/// OpenStack's own tools write `True` where people write `true`.
bool has_extra_spec(const std::map<std::string, std::string>& specs, const std::string& key,
                    const std::string& value);

}  // namespace reaper

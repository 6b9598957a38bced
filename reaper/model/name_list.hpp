// Names of things in one line, for people.
#pragma once

#include <set>
#include <string>

namespace reaper {

/// `'a', 'b' and 4 more`: each as `in_quotes` shows it, ten at most; `none` if there is none.
std::string name_list(const std::set<std::string>& names);

}  // namespace reaper

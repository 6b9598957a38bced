// The names of an anonymous recording: the same one for the same one as long as the process lives,
// and it can't be traced back. Names come as they are seen, so their order is not that of
// the originals: where a strategy has two equally good victims, it may choose the other one.
#pragma once

#include <memory>
#include <string>

#include "reaper/report/name_changer.hpp"

namespace reaper::recording {

/// By a keyed hash, with a key that is drawn here and written nowhere. The rename may be used in
/// another thread.
report::NameChanger::Rename keyed_pseudonyms();
/// For tests: the key is given.
report::NameChanger::Rename keyed_pseudonyms(std::string key);

}  // namespace reaper::recording

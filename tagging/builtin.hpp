// The taggers that there are; each is one file.
#pragma once

#include "tagging/tagger_table.hpp"

namespace reaper {

TaggerInfo project_tagger();
TaggerInfo resource_tagger();
TaggerInfo flavor_tagger();

}  // namespace reaper

// Between the program and a module's parts: what they throw, and answers that can't be, are logged
// as faults of the module, and no server is deleted for them. A strategy then selects nothing, a
// tagger calls no server revocable and no request regular, an estimator knows nothing, and a QoS
// controller corrects nothing. A call that takes long is logged too; a crash or an endless loop
// ends the program (systemd's watchdog starts it again).
#pragma once

#include <string>

#include "reaper/modules/module.hpp"

namespace reaper {

/// Each of them with the module's title, and with what it makes guarded.
void guard(ModuleParts& parts, const std::string& title);

}  // namespace reaper

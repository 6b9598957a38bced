// How the program ends; `reaper --help` says the same.
#pragma once

namespace reaper {

enum class ExitCode : int {
    ok = 0,
    failed = 1,      ///< something outside failed: the cloud, the broker, the journal
    usage = 2,       ///< the command line or the configuration is wrong
    not_enough = 3,  ///< `plan`, `room`, `request`, `apply`: no servers are or would be deleted
    attention = 4,   ///< `check`: something needs attention
    refused = 5,     ///< `run`: Keystone or the broker refused the credentials at the start
    unknown = 6,     ///< there is no such flavor, zone, project, class, trait, host or server here
    stale = 7,  ///< `apply`: the saved plan is not what would be done now; no server was deleted
};

}  // namespace reaper

// An operator's word that one server stays (`reaper protect`).
#pragma once

#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

struct ServerProtection {
    ServerId server;
    std::string name;  ///< of the server then; empty: not known
    TimePoint since{};
    std::optional<TimePoint> until{};  ///< none: until an operator ends it
    std::string by;                    ///< who said so
    std::string reason;                ///< one line; may be empty

    friend bool operator==(const ServerProtection&, const ServerProtection&) = default;
};

/// `until 2026-11-27T08:00:00.000Z, by alice: it moves tonight`
std::string protection_text(const ServerProtection& protection);

}  // namespace reaper

// Port: the pause switch. While it is on, no deletion is decided on and none is sent.
#pragma once

#include <optional>
#include <string>

#include "reaper/model/error.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

class Switch {
public:
    virtual ~Switch() = default;
    /// Which user paused the reaper, when and why, as one line; none: it may work. Cheap, and
    /// current: asked before each decision and right before each deletion. What can't be determined
    /// counts as paused.
    virtual std::optional<std::string> paused() const = 0;
    /// The pause in force, with its parts.
    virtual std::optional<PauseNote> note() const = 0;
    /// In force when it returns, and durable. A pause that is in force already stays as it is.
    /// Errors are `storage`: then nothing is paused.
    virtual Result<void> pause(std::string by, std::string reason) = 0;
    /// Ends whatever pause is in force.
    virtual Result<void> resume() = 0;
    /// Of one that several machines share: when any of them resumed last, even without a pause.
    /// None: it is this machine's alone, or that is not known. Cheap.
    virtual std::optional<TimePoint> resumed_at() const { return std::nullopt; }
};

}  // namespace reaper

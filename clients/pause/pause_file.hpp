// The pause switch as a file: while it is there, the reaper is paused. It works without a daemon
// and survives restarts, and `touch` throws it too.
//
// `reaper pause` and the circuit breaker write {"version", "by", "at", "reason"} into it. A file of
// other content, or one that can't be read, pauses anyway. So does a path that can't be
// looked at (a directory without the right to enter it): what can't be determined is not permission
// to delete.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "reaper/ports/pause_switch.hpp"

namespace reaper {

/// Where the circuit breaker keeps that it is open, beside the operator's pause.
std::string breaker_file(const std::string& pause_file);

class PauseFile final : public Switch {
public:
    explicit PauseFile(std::string path) : path_(std::move(path)) {}

    /// One look at the file's entry; its content is read when that changed.
    std::optional<std::string> paused() const override;
    Result<void> pause(std::string by, std::string reason) override;
    Result<void> resume() override;

    std::optional<PauseNote> note() const override;
    const std::string& path() const noexcept { return path_; }

private:
    /// Distinguishes one state of the file from another.
    struct Stamp {
        std::uint64_t device = 0, inode = 0;
        std::int64_t size = 0, changed_s = 0, changed_ns = 0;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };

    std::string path_;
    mutable std::optional<Stamp> known_stamp_;
    mutable PauseNote known_;
};

}  // namespace reaper

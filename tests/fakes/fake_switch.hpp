// A kill switch in memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reaper/ports/pause_switch.hpp"

namespace reaper::test {

class FakeSwitch final : public Switch {
public:
    std::optional<std::string> why;    ///< paused, when there
    std::vector<std::string> calls;    ///< `pause BY: REASON`, `resume`
    bool unknown = false;              ///< `why` is why it can't be read
    bool disk_full = false;            ///< pausing fails
    std::optional<TimePoint> resumed;  ///< of one that machines share
    mutable int asked = 0;             ///< how often `paused` was called
    std::function<void()> on_ask;      ///< called each time, before the answer

    std::optional<std::string> paused() const override {
        ++asked;
        if (on_ask) on_ask();
        return why;
    }
    std::optional<PauseNote> note() const override {
        if (!why) return std::nullopt;
        return unknown ? PauseNote{"", "", {}, *why, true} : PauseNote{"", *why, {}};
    }
    Result<void> pause(std::string by, std::string reason) override {
        calls.push_back("pause " + by + ": " + reason);
        if (disk_full) return Error{Errc::storage, "disk full"};
        if (!why) why = "paused by " + by + ": " + reason;
        return {};
    }
    std::optional<TimePoint> resumed_at() const override { return resumed; }
    Result<void> resume() override {
        calls.push_back("resume");
        why.reset();
        return {};
    }
};

}  // namespace reaper::test

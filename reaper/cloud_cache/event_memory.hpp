// Recent events about single servers: a reading that was begun before must not undo it.
#pragma once

#include <unordered_map>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class EventMemory {
public:
    /// `sent` by Nova, on its clock; `arrived` on ours. False if the event is not to be believed:
    /// an older one, or one of a server that is gone.
    bool remember(const ServerId& server, TimePoint sent, TimePoint arrived, bool gone);
    bool heard_since(const ServerId& server, TimePoint began) const;
    bool is_gone(const ServerId& server) const;

    /// The whole cloud was read, beginning at `began`: what events reported before is in it. What
    /// is gone stays gone.
    void forget_before(TimePoint began);
    /// Of events that are older than any is late. False: it is not long since it was done.
    bool forget_old(TimePoint now);
    /// Our clock was set forward by so much (or back).
    void shift(Duration by);

private:
    struct Told {
        TimePoint sent;
        TimePoint arrived;
        bool gone = false;
    };
    std::unordered_map<ServerId, Told> told_;
    TimePoint forgot_at_{};
};

}  // namespace reaper

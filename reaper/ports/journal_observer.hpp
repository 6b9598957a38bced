// Port: what hears of the journal's writes, as metrics and the feed of events do.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "reaper/model/request_record.hpp"

namespace reaper {

/// Each call is made once the write is durable, and before its caller goes on. A failure is
/// reported by `wrote` alone. By default an observer ignores all of it.
class JournalObserver {
public:
    virtual ~JournalObserver() = default;
    /// A write has ended, of any kind; `trouble`: why it failed, or none. Comes first.
    virtual void wrote(std::chrono::duration<double> /*took*/,
                       const std::optional<std::string>& /*trouble*/) {}
    /// What an earlier process wrote was read: unfinished requests, and finished culls.
    virtual void read_back(const RequestRecord& /*record*/) {}
    /// The request is new.
    virtual void admitted(const Request& /*request*/, TimePoint /*now*/) {}
    /// The request was there already, and has not ended: a write that counted as failed was
    /// durable.
    virtual void already_admitted(const Request& /*request*/) {}
    /// It takes the place of what was known of the request.
    virtual void admitted_again(const Request& /*request*/, TimePoint /*now*/) {}
    /// The request ended before it was known what it asks for.
    virtual void ended_at_once(const Request& /*request*/, const Outcome& /*outcome*/) {}
    virtual void planned(const RequestId& /*id*/, const PlanEntry& /*plan*/) {}
    virtual void stepped(const RequestId& /*id*/, const StepEntry& /*step*/) {}
    virtual void ended(const RequestId& /*id*/, const Outcome& /*outcome*/) {}
    virtual void freed_room(const RequestId& /*id*/, const FreedRoomResult& /*result*/) {}
    virtual void noted_message(const MessageEntry& /*message*/) {}
    virtual void noted_event(const JournalEvent& /*event*/) {}
};

}  // namespace reaper

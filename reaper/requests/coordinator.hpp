// The desk: each message becomes a request, a request is completed, served and closed, and what a
// former process left is taken up again. Every step is journalled before the next one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "reaper/runtime/async.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/controllers/freed_room_tracker.hpp"
#include "reaper/controllers/safeguard_controller.hpp"
#include "reaper/triggers/nova_failures.hpp"
#include "reaper/requests/newest_requests.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"
#include "reaper/requests/request_runner.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/schedule_memory.hpp"

namespace reaper {

class RequestDesk {
public:
    /// What the desk works with; all of it must outlive it.
    struct Parts {
        CloudPorts cloud;
        Journal& journal;
        MessageSource& messages;
        Braking& braking;
        AftermathWatch& aftermaths;
        RoomHolds& holds;
        PictureKeeper& keeper;
        Ledger& ledger;
        AsyncSemaphore& planning;
        AsyncSemaphore& deletions;
        const ScheduleMemory& schedules;
        const ServiceOptions& options;
        const bool& stopping;
    };
    using Spawn = std::function<void(Task<void>)>;

    /// `spawn` runs a coroutine of the desk; `on_change` is called when counts change.
    RequestDesk(Parts parts, Spawn spawn, std::function<void()> on_change);

    void on_message(Delivery delivery) { intake_.on_message(std::move(delivery)); }
    /// Takes up what the journal left unfinished. An error if the journal can't be read.
    ResultTask<void> restore();
    std::size_t in_hand() const noexcept { return intake_.in_hand(); }
    std::uint64_t served() const noexcept { return served_; }

private:
    /// A request, in the journal.
    enum class Known { no, begun, served };

    Task<void> handle(FailureNotice notice, RequestId key, bool redelivered);
    Task<Known> known_as(FailureNotice notice, RequestId key);
    /// How a request ended; no outcome if it did not.
    struct Ended {
        std::optional<Outcome> outcome;
        Request request;
        std::vector<HostId> ready_on;
    };
    Task<Ended> outcome_of(FailureNotice notice, RequestId key, Arrival arrival);
    ResultTask<std::variant<Request, Refused>> complete(FailureNotice notice);
    Task<std::optional<Schedule>> schedule_of(FailureNotice notice);
    Task<bool> admit(Request request);
    Task<bool> finish(const Ended& ended);
    Task<void> close(RequestId key, Ended ended);
    void settle(const Ended& ended);
    Task<void> resume(Story story);
    Workshop workshop();

    Parts parts_;
    Spawn spawn_;
    std::function<void()> on_change_;
    NewestRequests newest_;
    RecentRefusals refusals_;
    Intake intake_;
    std::uint64_t served_ = 0;
};

}  // namespace reaper

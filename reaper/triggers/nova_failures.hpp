// Trigger: Nova's failure messages.
//
// A message is acknowledged when its outcome is journaled (rule 6): at once if it makes no request
// (another cause, too old), with its request otherwise. What can't be understood goes to the
// dead-letter queue. The lease of a request is its message: ours until the broker may have given it
// to another reaper.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "config/settings.hpp"
#include "reaper/model/failure_notice.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/request_spec/schedule_memory.hpp"
#include "reaper/triggers/failure_confirmer.hpp"
#include "reaper/triggers/notice_claims.hpp"

namespace reaper {

class NovaFailures {
public:
    /// All of it must outlive the trigger, the requests that it submitted included.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        MessageSource& messages;
        const config::Trigger& settings;
        std::function<SchedulerRules()> scheduler;  ///< how nova-scheduler is set up, by now
        const ScheduleMemory& schedules;
        /// Nova's INFO notifications come in: they report a search for hosts before its failure.
        std::function<bool()> events_flow;
        /// Its search for a host had some, as the gateway saw.
        std::function<bool(const RequestId&)> had_hosts;
        RequestSink& sink;
        std::function<void(Task<void>)> spawn;  ///< runs a coroutine of the trigger
        const bool& stopping;
    };

    explicit NovaFailures(Dependencies dependencies)
        : dependencies_(std::move(dependencies)),
          confirmer_(dependencies_.cloud, dependencies_.settings, dependencies_.spawn) {}

    void on_message(Delivery delivery);

private:
    void on_notice(FailureNotice notice, const Delivery& delivery);
    void on_ignored(Ignored ignored, DeliveryTicket ticket);
    void on_malformed(Malformed malformed, Delivery delivery);
    ResultTask<std::variant<Request, Refused>> complete(FailureNotice notice,
                                                        std::uint64_t arrival);
    ResultTask<std::optional<Refused>> served_by_gateway(FailureNotice notice);
    Task<std::optional<Schedule>> schedule_of(FailureNotice notice);
    Task<bool> note(MessageEntry entry);
    Task<void> note_and_acknowledge(MessageEntry entry, DeliveryTicket ticket);
    Task<void> note_and_set_aside(MessageEntry entry, Delivery delivery);

    Dependencies dependencies_;
    FailureConfirmer confirmer_;
    std::uint64_t arrived_ = 0;
    NoticeClaims claims_;
};

}  // namespace reaper

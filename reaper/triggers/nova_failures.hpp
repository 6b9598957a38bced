// Trigger: Nova's failure messages.
//
// A message is acknowledged when its outcome is journaled (rule 6): at once if it makes no request
// (another cause, too old), with its request otherwise. What can't be understood goes to the
// dead-letter queue. The lease of a request is its message: ours until the broker may have given it
// to another reaper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/failure_notice.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "reaper/request_spec/schedule_memory.hpp"

namespace reaper {

// Is a failure message true? Nova is asked about the server and the action that it names.
//
// Any user who may publish to Nova's exchange can send any number of messages. A few are looked
// into one by one. While more wait, one list of the servers that changed lately shows for all of
// them which can't be true: a failure changes its server. Of a server that many of them name, the
// list of its actions shows the same. What is left is read by itself, that of the newest message
// first.

class FailureConfirmer {
public:
    using Spawn = std::function<void(Task<void>)>;

    /// `spawn` runs a coroutine of the confirmer. All of it must outlive the confirmer.
    FailureConfirmer(CloudPorts cloud, const config::Trigger& settings, Spawn spawn)
        : cloud_(cloud), settings_(settings), spawn_(std::move(spawn)) {}

    /// What Nova reports about the failure; refused if it does not confirm the message. Nova may
    /// write it down shortly after: right after the message, it is asked a few times. An error if
    /// it can't be asked, and while it is still at the action. `arrival` grows with each message.
    ResultTask<std::variant<RequesterFacts, Refused>> confirm(FailureNotice notice,
                                                              std::uint64_t arrival);

private:
    /// What is known of a failure: a doubt if it can't be true.
    using Seen = std::variant<RequesterFacts, Doubt>;
    struct Waiting;
    using Batch = std::vector<std::shared_ptr<Waiting>>;

    TimePoint now() const;
    ResultTask<Seen> look(FailureNotice notice, std::uint64_t arrival, bool fresh);
    Task<void> list_while_some_wait();
    Task<void> judge(const Batch& batch);
    Task<void> judge_by_actions(Batch of_one);

    CloudPorts cloud_;
    const config::Trigger& settings_;
    Spawn spawn_;
    std::size_t singly_ = 0;  ///< that are read one by one now
    Batch waiting_;           ///< for the next list
    bool listing_ = false;
};

// What messages of one request claim that Nova's API does not say: the flavor of a failed resize.
// Nova sends one message of it; where a second one names another flavor, one of them is not Nova's,
// and neither is believed. Messages of other servers, whatever their request id, contradict none.

class NoticeClaims {
public:
    /// A message came; to be dropped when it is answered.
    void add(const FailureNotice& notice);
    void drop(const FailureNotice& notice);
    /// How another message contradicts it; none if none does.
    std::optional<std::string> contradiction(const FailureNotice& notice) const;

private:
    std::map<std::pair<RequestId, ServerId>, std::multiset<std::string>> flavors_;
};

/// The word of a request whose messages contradict each other: none of its server is believed, a
/// later one neither.
inline constexpr std::string_view contradicted = "contradicted";

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
    ResultTask<std::optional<RequestRecord>> search_for(FailureNotice notice);
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

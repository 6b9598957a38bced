// Is a failure message true? Nova is asked about the server and the action that it names.
//
// Any user who may publish to Nova's exchange can send any number of messages. A few are looked
// into one by one. While more wait, one list of the servers that changed lately shows for all of
// them which can't be true: a failure changes its server. Of a server that many of them name, the
// list of its actions shows the same. What is left is read by itself, that of the newest message
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

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

}  // namespace reaper

// Completes a failure notice by asking Nova about the server that failed and the action that it
// was, and Glance about its image.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

// The lease of a request that comes by no message of the broker's. It is ours while the broker
// serves the queue to us without interruption. So only one of several reapers acts, and none
// continues what another may have done meanwhile.

/// References must outlive it.
class ServingLease final : public Lease {
public:
    /// From now on. Not held from the beginning, and never, if we do not serve the queue now.
    explicit ServingLease(const MessageSource& messages)
        : messages_(messages), epoch_(messages.serving()) {}
    bool held() const override { return epoch_ != 0 && messages_.serving() == epoch_; }

private:
    const MessageSource& messages_;
    std::uint64_t epoch_;
};

/// The lease of what only this reaper knows, whatever happened in between: ours whenever the
/// broker serves the queue to us.
class WhileServingLease final : public Lease {
public:
    explicit WhileServingLease(const MessageSource& messages) : messages_(messages) {}
    bool held() const override { return messages_.serving() != 0; }

private:
    const MessageSource& messages_;
};

/// What one server's record of Nova's says, if it was read alone: a list leaves out groups and
/// hints.
RequesterFacts facts_of(const ServerRecord& record);

/// What Nova reports about the server and the action: enough to know whether the notice is true.
/// One that is gone says nothing; what can't be asked now is an error.
ResultTask<RequesterFacts> read_failure(CloudPorts cloud, FailureNotice notice);

/// None of an image that is gone or may not be seen.
ResultTask<ImageProperties> read_image(CloudPorts cloud, RequestId request, std::string image);

/// The rest of what a request is made of: Nova's release, server groups, the servers of the same
/// request, the flavor of a resize; the image, for what it asks of the host and, if neither
/// metadata nor flavor say which room the server admits, for that. One that is gone or may not be
/// seen says nothing.
ResultTask<RequesterFacts> read_rest(CloudPorts cloud, FailureNotice notice, RequesterFacts facts);

/// Both.
ResultTask<RequesterFacts> read_requester(CloudPorts cloud, FailureNotice notice);

/// The request, or why it is not to be served, of a failure of which that is known.
/// `schedule`: the search for hosts that failed, if it was seen. `rules`: how nova-scheduler is set
/// up.
ResultTask<std::variant<Request, Refused>> finish_request(CloudPorts cloud, FailureNotice notice,
                                                          RequesterFacts known,
                                                          std::optional<Schedule> schedule,
                                                          SchedulerRules rules);

/// The same of a notice that is our own, of which nothing is known: it needs no confirmation.
ResultTask<std::variant<Request, Refused>> complete_request(CloudPorts cloud, FailureNotice notice,
                                                            std::optional<Schedule> schedule,
                                                            SchedulerRules rules);

}  // namespace reaper

// Trigger: an operator asks for room (`reaper request`). It is not sent again, so the journal
// alone remembers it; of several reapers the one that serves the queue takes it.
#pragma once

#include <functional>
#include <utility>

#include "config/settings.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/request_spec/described_request.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper {

class OperatorTrigger {
public:
    /// References must outlive it, and the requests that it submitted; `settings` may change.
    struct Dependencies {
        CloudPorts cloud;
        const config::Trigger& settings;
        const MessageSource& messages;  ///< knows which reaper serves the queue
        RequestSink& sink;
        const bool& stopping;
        std::function<SchedulerRules()> rules;  ///< what Nova's scheduler goes by
    };
    explicit OperatorTrigger(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// The id under which it will be served; made up if it has none.
    RequestId id_of(const DescribedRequest& described);
    /// Serves it, or joins the request of that id. `done` receives the outcome once. An error: this
    /// reaper takes no requests now.
    Result<void> submit(DescribedRequest described, RequestId id,
                        std::function<void(const Outcome&)> done);

private:
    ResultTask<std::variant<Request, Refused>> complete(DescribedRequest described, RequestId id,
                                                        TimePoint asked_at);

    Dependencies dependencies_;
    unsigned made_ = 0;
};

}  // namespace reaper

// The lease of a request that comes by no message of the broker's. It is ours while the broker
// serves the queue to us without interruption. So only one of several reapers acts, and none
// continues what another may have done meanwhile.
#pragma once

#include <cstdint>

#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"

namespace reaper {

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

}  // namespace reaper

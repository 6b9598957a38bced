// A source in a process of its own, which a test can freeze and kill. It says again and again
// whether it holds the last message that it got.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "clients/amqp/dispatcher.hpp"
#include "config/settings.hpp"

namespace reaper::test {

/// What the process does; ends with its parent, or after an hour.
int hold(int count, char** arguments);

class Holder {
public:
    /// One look at `holds`, begun at `at`.
    struct RecheckResult {
        amqp::BootClock::time_point at;
        std::uint64_t messages = 0;  ///< got so far
        bool holds = false;
    };

    explicit Holder(const config::Broker& broker);
    ~Holder();
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    void freeze() const;
    void wake() const;
    void kill();

    std::vector<RecheckResult> looks() const;
    /// The last one; all zero if there is none.
    RecheckResult last() const;

private:
    pid_t process_ = 0;
    int lines_ = -1;
    std::thread reader_;
    mutable std::mutex mutex_;
    std::vector<RecheckResult> looks_;
};

}  // namespace reaper::test

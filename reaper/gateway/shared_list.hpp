// A list of Nova's that several wait for: whoever asks gets one that was begun after, and one
// reading serves all who asked before it began.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reaper/model/records.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

class SharedList {
public:
    using Servers = std::vector<ServerRecord>;
    using Read = std::function<ResultTask<Servers>()>;

    /// `clock` must outlive it.
    SharedList(Clock& clock, Read read) : clock_(clock), read_(std::move(read)) {}

    ResultTask<std::shared_ptr<const Servers>> read() {
        constexpr Duration poll_interval{10};
        const std::uint64_t wanted = begun_ + 1;
        while (done_ < wanted) {
            if (reading_) {
                co_await clock_.sleep(poll_interval);
                continue;
            }
            reading_ = true;
            ++begun_;
            auto found = co_await read_();
            failed_.reset();
            if (found)
                last_ = std::make_shared<const Servers>(std::move(*found));
            else
                failed_ = found.error();
            done_ = begun_;
            reading_ = false;
        }
        if (failed_) co_return *failed_;
        co_return last_;
    }

private:
    Clock& clock_;
    Read read_;
    std::uint64_t begun_ = 0;
    std::uint64_t done_ = 0;
    bool reading_ = false;
    std::shared_ptr<const Servers> last_;
    std::optional<Error> failed_;
};

}  // namespace reaper

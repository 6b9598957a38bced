// An io_context whose handlers run only while the test waits for something.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

namespace reaper::test {

/// How long a test waits for what must come. Only what never comes takes that long.
constexpr std::chrono::minutes patience(10);

class Loop {
public:
    /// Runs handlers, one at a time, until `done`; whether it came to that.
    bool until(const std::function<bool()>& done) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!done()) {
            if (std::chrono::steady_clock::now() > end) return false;
            context.run_one_for(std::chrono::milliseconds(10));
        }
        return true;
    }

    boost::asio::io_context context;

private:
    /// Without it, a context that has nothing to do would not wait.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_{
        context.get_executor()};
};

/// Waits for what others do; no handlers run.
inline bool until(const std::function<bool()>& done) {
    return Loop().until(done);
}

}  // namespace reaper::test

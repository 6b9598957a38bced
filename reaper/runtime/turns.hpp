// Turns at something that one does at a time, in order; who is in a hurry goes before the others.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <deque>
#include <memory>
#include <utility>

#include "reaper/runtime/task.hpp"

namespace reaper {

class Turns {
public:
    explicit Turns(boost::asio::any_io_executor executor);

    class Turn;
    /// So many that are in a hurry go one after the other while others wait.
    static constexpr int most_hurried = 16;
    Task<Turn> take(bool in_a_hurry);

private:
    using Gate = boost::asio::experimental::channel<void(boost::system::error_code)>;
    struct State {
        boost::asio::any_io_executor executor;
        bool taken = false;
        int hurried = 0;  ///< in a row, while others waited
        std::deque<std::shared_ptr<Gate>> first{};
        std::deque<std::shared_ptr<Gate>> others{};

        void pass_on();
    };
    std::shared_ptr<State> state_;
};

/// Goes to the next one when it dies.
class Turns::Turn {
public:
    explicit Turn(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Turn(Turn&&) = default;
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
        if (state_) state_->pass_on();
    }

private:
    std::shared_ptr<State> state_;  // it may outlive the turns
};

}  // namespace reaper

#include "reaper/runtime/turns.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace reaper {

namespace asio = boost::asio;

Turns::Turns(asio::any_io_executor executor)
    : state_(std::make_shared<State>(State{std::move(executor)})) {}

Task<Turns::Turn> Turns::take(bool in_a_hurry) {
    const auto state = state_;
    if (!state->taken) {
        state->taken = true;
        co_return Turn{state};
    }
    const auto gate = std::make_shared<Gate>(state->executor, 1);
    (in_a_hurry ? state->first : state->others).push_back(gate);
    co_await gate->async_receive(asio::use_awaitable);
    co_return Turn{state};
}

void Turns::State::pass_on() {
    const bool enough = hurried >= most_hurried && !others.empty();
    auto& queue = first.empty() || enough ? others : first;
    hurried = &queue == &first && !others.empty() ? hurried + 1 : 0;
    if (queue.empty()) {
        taken = false;
        return;
    }
    const auto next = std::move(queue.front());
    queue.pop_front();
    next->try_send(boost::system::error_code{});
}

}  // namespace reaper

#include "clients/amqp/command_queue.hpp"

#include <utility>

namespace reaper::amqp {

void CommandQueue::push(Command command) {
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
    }
    wake();
}

std::vector<Command> CommandQueue::take() {
    seen();
    const std::lock_guard lock(mutex_);
    return std::exchange(commands_, {});
}

}  // namespace reaper::amqp

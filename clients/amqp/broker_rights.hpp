// Tries what the daemon will do on the broker, in ways that change nothing. An existing queue is
// declared with other properties: the broker checks the right before it refuses them. A missing
// queue is made exclusive to this connection. A consumer asks for what no queue offers, which is
// also refused after the check. A binding that does not exist is removed, and a message goes to a
// queue that does not exist. Internal to clients/amqp.
#pragma once

#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "config/settings.hpp"

namespace reaper::amqp {

/// What may not be done, one line each with what to do; empty: all of it may. An error if the
/// connection is lost.
Result<std::vector<std::string>> missing_rights(Connection& connection,
                                                const config::Broker& broker);

}  // namespace reaper::amqp

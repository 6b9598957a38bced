// Tries what the daemon will have to do on the broker, in ways that change nothing: a queue that is
// there is declared otherwise than it is (which is refused only after the right was checked), one
// that is not is made for this connection alone; a consumer asks for what no queue gives, which is
// refused after the right, too; a binding that does not exist is taken away; a message goes to a
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

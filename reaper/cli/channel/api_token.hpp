// Who asks a remote daemon: a token, never shown.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>

#include "config/environment.hpp"
#include "config/secret.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/model/error.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::cli {

/// `localhost`, or an address of the loopback.
bool is_this_machine(const std::string& host);

/// The token of --token-file, else OS_TOKEN; none: neither is given. `bad_input` if it is none.
Result<std::optional<config::Secret>> given_token(const ApiOptions& options,
                                                  const config::Environment& environment);

/// A new one from Keystone, for the credentials of the OS_* variables. `bad_input` says what they
/// lack; `unauthorized`: Keystone refuses them.
Result<config::Secret> keystone_token(boost::asio::io_context& io, Clock& clock,
                                      const ApiOptions& options,
                                      const config::Environment& environment);

}  // namespace reaper::cli

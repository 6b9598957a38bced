// The journal of this machine as a channel: the answers of the admin API are made in this process,
// for a daemon that knows its journal and nothing else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "reaper/cli/channel/api_channel.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::cli {

/// Both must outlive it. `name`: the journal's path. A journal that can't be read is an error with
/// the journal's own reason, not an answer.
std::unique_ptr<ApiChannel> journal_channel(boost::asio::io_context& io, JournalReader& journal,
                                            const std::string& name);

}  // namespace reaper::cli

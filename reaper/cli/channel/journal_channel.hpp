// The journal of this machine as a channel: the answers of the admin API are made in this process,
// for a daemon that knows its journal and nothing else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "reaper/api/settled_query.hpp"
#include "reaper/daemon/api_channel.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::cli {

struct JournalChannelOptions {
    /// Gives the cloud once a filter names what the journal does not know.
    std::function<WhoKnows()> connect{};
    /// Another journal, whose victims are listed too, and what reports that it can't be read.
    JournalReader* also = nullptr;
    std::function<void(const Error&)> also_unread{};
    /// It streams a reason to look again every second, until SIGINT or SIGTERM, from now on, or
    /// until a look failed.
    bool followed = false;
};

/// `io` and the journals must outlive it. `name`: the journal's path. A journal that can't be read
/// is an error with its own reason. A wrong filter is `bad_input`, with the option and what is
/// wrong.
std::unique_ptr<ApiChannel> journal_channel(boost::asio::io_context& io, JournalReader& journal,
                                            const std::string& name,
                                            JournalChannelOptions options = {});

}  // namespace reaper::cli

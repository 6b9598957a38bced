// Where the journal's database is: mysql://user@host1,host2:3307/database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"

namespace reaper::config {

struct JournalUrl {
    struct Host {
        std::string name;  ///< name or address; an IPv6 address without brackets
        std::uint16_t port = 3306;

        friend bool operator==(const Host&, const Host&) = default;
    };
    std::vector<Host> hosts;  ///< tried in this order; empty: `socket`
    std::string socket;       ///< of this machine: mysql://user@/database?unix_socket=/PATH
    std::string user;
    std::string database;
};

/// `bad_input` says what is wrong, without quoting the URL: a password may stand in it,
/// which is an error too.
Result<JournalUrl> parse_journal_url(std::string_view url);

}  // namespace reaper::config

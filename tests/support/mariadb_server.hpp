// A MariaDB of the test's own: in a directory of its own, on a Unix socket, or also on a port of
// loopback. It ends with the test program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "clients/journal/mariadb_journal.hpp"

namespace reaper::journal::test {

/// Is it there to be run? Debian: mariadb-server.
bool mariadb_installed();

inline constexpr const char* no_mariadb =
    "MariaDB is not installed: deploy/install-dependencies test";

class MariadbServer {
public:
    struct Options {
        /// With users and passwords, which takes a second more; else any client may do everything.
        bool users = false;
        std::vector<std::string> more{};  ///< arguments
    };
    /// Starts it and waits until it answers. Throws.
    explicit MariadbServer(const Options& options);
    ~MariadbServer();
    MariadbServer(const MariadbServer&) = delete;
    MariadbServer& operator=(const MariadbServer&) = delete;

    /// One for all tests of a program, without users.
    static MariadbServer& shared();

    /// A new database, with no tables.
    MariadbAddress new_database();
    void execute(const std::string& sql, const std::string& database = "");
    void stop();   ///< in order
    void kill();   ///< with SIGKILL
    void start();  ///< again
    std::uint16_t port() const { return port_; }
    const std::filesystem::path& folder() const { return folder_; }

private:
    MariadbAddress address(const std::string& database) const;
    void make_users();
    void wait_until_it_answers();

    Options options_;
    std::filesystem::path folder_;
    std::uint16_t port_ = 0;
    pid_t process_ = -1;
    int databases_ = 0;
};

}  // namespace reaper::journal::test

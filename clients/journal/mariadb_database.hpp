// MariaDB, also several servers of one Galera cluster, as a database of the journal.
//
// One connection at a time, to one of the servers; each call to it has a deadline. When it is lost
// outside of a transaction, the next statement connects again, to the next server that answers.
// A transaction that lost its connection is undone as a whole, and its failure says `again`, unless
// its COMMIT was under way: then it is not known whether it is there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/journal/database.hpp"

namespace reaper::journal {

struct MariadbHost {
    std::string name;
    std::uint16_t port = 3306;
};

/// Where the database is, and as whom.
struct MariadbAddress {
    std::vector<MariadbHost> hosts{};  ///< tried in this order
    std::string socket{};              ///< a Unix socket of this machine, instead of hosts
    std::string user{};
    std::string database{};
    std::string password_file{};  ///< read for each connection, its last line end left out; or none
    /// TLS with a certificate that is checked against the host's name. Not on a socket.
    bool tls = true;
    std::string ca_file{};            ///< PEM; empty: the system's
    std::chrono::seconds timeout{5};  ///< of connecting, of a statement; of a lock: a second less

    /// `mysql://reaper@db1,db2:3307/reaper`
    std::string url() const;
};

class MariadbDatabase final : public Database {
public:
    enum class Use { reading, writing };
    /// Connects. Throws DatabaseFailure.
    MariadbDatabase(MariadbAddress address, Use use);
    ~MariadbDatabase() override;

    void execute(const std::string& sql) override;
    std::string ask(const std::string& sql) override;
    std::int64_t last_row() const override;
    std::int64_t changes() const override;
    bool in_transaction() const override;
    void give_up_at(std::optional<std::chrono::steady_clock::time_point> end) override;

    /// Runs at the begin of each transaction that writes; may throw, and nothing is written then.
    void fence(std::function<void()> check);
    /// False: the next statement has to connect first.
    bool connected() const;

private:
    Prepared& prepared(const char* sql) override;
    void begin(bool writes) override;
    void commit() override;
    void rollback() override;

    class Connection;
    std::unique_ptr<Connection> connection_;
};

}  // namespace reaper::journal

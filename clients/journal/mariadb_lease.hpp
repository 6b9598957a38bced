// The lease of the one reaper that writes to a journal in MariaDB: a row with a number, which grows
// with each that takes it. Every transaction that writes begins with it, and fails when the number
// is another's. So a reaper that was frozen or cut off writes nothing, whatever it believes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "clients/journal/mariadb_database.hpp"
#include "clients/journal/store.hpp"

namespace reaper::journal {

/// By the clock of the database server; renewed by each transaction that writes, and by a call
/// after each third of it.
inline constexpr std::chrono::milliseconds lease_lasts{15'000};
/// By the clock of the server that renews it, whatever another server's clock said before.
inline constexpr std::chrono::milliseconds lease_ends_within{60'000};

class MariadbLease final : public Ownership {
public:
    /// Takes the lease, if it has ended or was given back; else `conflict`, which names its holder.
    /// `holder`: who we are, for others. The database outlives the lease's use.
    static Result<std::unique_ptr<MariadbLease>> take(MariadbDatabase& database,
                                                      const std::string& url,
                                                      const std::string& holder);

    Result<void> check() override;
    /// Are deletions paused? The row is locked by `renew`, so it stays as it is until the commit.
    Result<void> may_delete() override;
    Result<void> read_back(std::int64_t, const ServerId&) override { return {}; }
    void release() noexcept override;

private:
    MariadbLease(MariadbDatabase& database, std::string url, std::int64_t number)
        : database_(database), url_(std::move(url)), number_(number) {}
    /// Within a transaction; throws if the lease is another's.
    void renew();

    MariadbDatabase& database_;
    std::string url_;
    std::int64_t number_;
    /// Before the last renewal that is known to be committed.
    std::chrono::steady_clock::time_point renewed_at_ = std::chrono::steady_clock::now();
};

}  // namespace reaper::journal

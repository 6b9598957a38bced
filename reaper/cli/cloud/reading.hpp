// The cloud as the daemon reads it, with what is reserved in it, for commands that look: nothing is
// written.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/requests/fresh_decision.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper::cli {

/// Neither copied nor moved: its parts refer to each other. References must outlive it.
class CloudReading {
public:
    struct Inputs {
        CloudPorts cloud;
        std::shared_ptr<const CompiledPolicy> policy;
        Ledger ledger;
        Safeguards& safeguards;  ///< with what is known of the past
        const config::Reservations& reservations;
        Journal& journal;                           ///< that stores nothing
        std::function<void(std::string)> progress;  ///< what is being read; may be empty
    };
    CloudReading(const boost::asio::any_io_executor& executor, Inputs inputs);
    CloudReading& operator=(CloudReading&&) = delete;

    /// In bulk, and what is reserved, if anything may be. `exact`: then each host by itself, for
    /// those who look at all of them.
    enum class Depth { bulk, exact };
    ResultTask<void> read(Depth depth);

    /// What Keystone calls projects, for decisions to name them.
    void name_projects(ProjectNames names) { refresher_.name_projects(std::move(names)); }

    const CloudCache& cache() const { return refresher_.cache(); }
    /// With what reservations lack and lend.
    const Ledger& ledger() const { return rooms_.ledger(); }
    RoomKeeper& rooms() { return rooms_; }
    FreshDecision& decisions() { return decisions_; }
    /// Of the register of reservations, then of the cloud: for people.
    std::vector<std::string> remarks() const;

private:
    ResultTask<void> read_each();

    Inputs inputs_;
    const bool stopping_ = false;
    CacheRefresher refresher_;
    RoomKeeper rooms_;
    ReservationController reservations_;
    FreshDecision decisions_;
};

// The cloud as the configuration reaches it, each host read by itself, with what the journal
// knows: for commands that answer from one look at all of it.

/// Neither copied nor moved: its parts refer to each other.
struct ExactReading {
    ExactReading(boost::asio::io_context& io, const config::Settings& settings,
                 const CloudToLookAt& reached, std::unique_ptr<Journal> without_records,
                 const Terminal& terminal);

    Safeguards safeguards;
    std::unique_ptr<Journal> journal;  ///< that stores nothing
    CloudReading reading;
};

/// Shows its progress. Else how to end: the reason was printed. The arguments must outlive it.
std::variant<std::unique_ptr<ExactReading>, ExitCode> read_exactly(boost::asio::io_context& io,
                                                                   const config::Settings& settings,
                                                                   const CloudToLookAt& reached,
                                                                   const Terminal& terminal);

}  // namespace reaper::cli

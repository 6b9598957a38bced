// The last look at the victims of one cull: what Nova, Placement and Keystone say of them now, and
// what the policy in force makes of it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "reaper/decision/live_settings.hpp"
#include "reaper/eviction/fresh_check.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {

/// A verdict, and what it rests on.
struct RecheckResult {
    FreshVerdict verdict;
    Duration began{};  ///< when its first question went out; steady
    std::shared_ptr<const CompiledPolicy> policy;
    std::uint64_t tag_data = 0;  ///< the number of the answers to the taggers' questions
    Allocations held{};
};

/// The ports and the settings must outlive it, and it its coroutines.
class Recheck {
public:
    Recheck(boost::asio::any_io_executor executor, CloudPorts cloud, const LiveSettings& settings);

    Task<Result<RecheckResult>> at(const Victim& victim);
    /// The same where Placement was asked already, at `began`.
    Task<Result<RecheckResult>> at(const Victim& victim, Allocations held, Duration began);
    /// One that is fresh when it is there; Errc::timeout if the cloud is too slow for that, or the
    /// policy changes all the time.
    Task<Result<RecheckResult>> fresh_at(const Victim& victim);
    /// The same, and `earlier` does if it was begun a moment ago and would still be made so.
    Task<Result<RecheckResult>> fresh_at(const Victim& victim,
                                         std::optional<RecheckResult> earlier);
    /// May a deletion still rest on it? Not if it is old, or if another policy is in force, or if
    /// Keystone has told something else since.
    bool is_fresh(const RecheckResult& look) const;

private:
    /// What Nova has of it, and who holds its lock.
    struct Seen {
        std::optional<ServerRecord> record{};  ///< none: Nova knows it no more
        LockHolder lock = LockHolder::none;
        std::optional<Allocations> own{};  ///< if another consumer holds the room of the victim
    };
    ResultTask<Seen> read_server(ServerId server);
    Task<Result<Seen>> see(const Victim& victim);
    RecheckResult judge(const Victim& victim, Allocations held, const Seen& seen,
                        Duration began) const;
    ResultTask<LockHolder> read_lock(const std::optional<ServerRecord>& record);
    Task<Result<void>> read_tag_data_after(std::uint64_t reading);

    CloudPorts cloud_;
    const LiveSettings& settings_;
    AsyncSemaphore reading_;  ///< one reading of tag data at a time
    std::shared_ptr<const CompiledPolicy> asked_by_;
    TagData tag_data_;
    std::vector<AggregateRecord> aggregates_;
    std::uint64_t begun_ = 0;   ///< readings of tag data so far
    std::uint64_t read_ = 0;    ///< the one that the answers are of
    std::uint64_t number_ = 0;  ///< grows with each answer that is not the one before
};

}  // namespace reaper

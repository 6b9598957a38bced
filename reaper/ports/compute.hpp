// Port: Nova, in the domain's words.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/shelving.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// What Nova answered to a deletion.
enum class DeleteAnswer {
    accepted,  ///< on its way (204, 202)
    gone,      ///< no such server (404)
    conflict,  ///< not in this state (409)
};

/// Of a host, as `uptime` shows them there: runnable threads.
struct LoadAverages {
    double minutes5 = 0;
    double minutes15 = 0;

    friend bool operator==(const LoadAverages&, const LoadAverages&) = default;
};

class Compute {
public:
    virtual ~Compute() = default;
    /// Gets how many servers were read so far; may be empty.
    using Progress = std::function<void(std::size_t)>;

    /// Which release it is, as its API reported within the last minutes.
    virtual ResultTask<NovaRelease> release() = 0;

    // No list has the servers of a cell that is down; `server` has them, as UNKNOWN.

    /// All servers of all projects, all pages; servers without a host too. Nova leaves SOFT_DELETED
    /// ones out.
    virtual ResultTask<std::vector<ServerRecord>> servers(Progress progress) = 0;
    /// The SOFT_DELETED ones: they are on their hosts, and keep their room. All of them, or those
    /// that were changed since then (by Nova's clock, which spares its database a long search).
    virtual ResultTask<std::vector<ServerRecord>> soft_deleted(std::optional<TimePoint> since) = 0;
    /// Those that were deleted since then, as long as Nova keeps their rows: without a host, with
    /// the flavor that they had.
    virtual ResultTask<std::vector<ServerRecord>> ended_servers(TimePoint since) = 0;
    /// Those that Nova places on one service host.
    virtual ResultTask<std::vector<ServerRecord>> servers_on(std::string service_host) = 0;
    /// One server, read now; none if Nova no longer knows it. `forbidden` if it is only that we may
    /// not see it: to a user who is no administrator, Nova says "not found" of others' servers.
    virtual ResultTask<std::optional<ServerRecord>> server(ServerId id) = 0;
    /// The same, and a DELETED one too, while its host still gives back what it used.
    virtual ResultTask<std::optional<ServerRecord>> server_or_deleted(ServerId id) = 0;
    /// What Nova recorded of one API request that was to change the server; none if it knows no
    /// such request.
    virtual ResultTask<std::optional<ActionRecord>> action(ServerId id, RequestId request) = 0;
    /// All that Nova remembers of one server, the newest first; none if it does not know it.
    virtual ResultTask<std::vector<ActionRecord>> actions(ServerId id) = 0;
    /// All that wait for their users. None where we may not see them.
    virtual ResultTask<std::vector<UnconfirmedResize>> unconfirmed_resizes() = 0;
    /// The consumers in Placement that held, or hold, what one server has while it moves: one for
    /// each of its newest moves. None where we may not see them, or Nova is too old to show them.
    virtual ResultTask<std::set<ServerId>> migrations_of(ServerId id) = 0;
    /// The servers of one request to boot, those that found no host too.
    virtual ResultTask<std::vector<ServerRecord>> servers_of(std::string reservation) = 0;
    /// A flavor as it is now; none if it does not exist.
    virtual ResultTask<std::optional<Flavor>> flavor(std::string id) = 0;
    /// The service host where it is or was last, as far as its actions report; none if they don't.
    virtual ResultTask<std::optional<std::string>> last_host(ServerId id) = 0;
    /// Those whose status is one of these (`BUILD`, `SHELVED_OFFLOADED`, ...), and, if reported,
    /// that were changed since then. Servers that no cell has yet are listed in any case. No
    /// status: those of any, and to the very end of Nova's list: what is not in it, did not change,
    /// or its cell is down.
    virtual ResultTask<std::vector<ServerRecord>> servers_in(std::set<std::string> statuses,
                                                             std::optional<TimePoint> since) = 0;
    virtual ResultTask<std::vector<HypervisorRecord>> hypervisors() = 0;
    virtual ResultTask<std::vector<ComputeServiceRecord>> compute_services() = 0;
    /// That of one host; none if Nova lists no such service.
    virtual ResultTask<std::optional<ComputeServiceRecord>> compute_service(std::string host) = 0;
    virtual ResultTask<HostNumbers> host_numbers() = 0;
    /// None if the host does not say. Up to 2025.1 Nova asks the host itself, which takes a
    /// time; since then it says what the host said at some time before.
    virtual ResultTask<std::optional<LoadAverages>> load_averages(HostId host) = 0;
    virtual ResultTask<std::vector<AggregateRecord>> aggregates() = 0;
    /// All flavors by id, those that are not public too; without extra specs where Nova is too old
    /// to list them, or hides them from us.
    virtual ResultTask<std::map<std::string, Flavor>> all_flavors() = 0;
    /// A server group by its id; none if it does not exist.
    virtual ResultTask<std::optional<ServerGroup>> server_group(std::string id) = 0;

    /// Asked right before a write goes out, each time that it does (a call may wait for a
    /// connection or a token, or be repeated); false: it is not sent, and the answer is
    /// `cancelled` if nothing was sent before, else what came of that. The argument: what was sent
    /// before may have been heard; not if it was refused for its token (401). Empty: always wanted.
    /// What it refers to must outlive the call.
    using StillWanted = std::function<bool(bool may_be_heard)>;

    /// The writes. A lost answer is repeated safely: a second DELETE finds it gone or going.
    virtual ResultTask<DeleteAnswer> delete_server(ServerId id, StillWanted wanted) = 0;
    /// Frees at once what a soft delete would keep.
    virtual ResultTask<DeleteAnswer> force_delete_server(ServerId id, StillWanted wanted) = 0;
    /// Takes it off its host, and keeps what it is: `shelved`, or of one that is, `offloaded`.
    virtual ResultTask<DeleteAnswer> shelve_server(ServerId id, Departure how,
                                                   StillWanted wanted) = 0;
    /// False: Nova knows the server no more. `conflict` if it is not shelved, or on its way.
    virtual ResultTask<bool> unshelve_server(ServerId id) = 0;
    /// Sets one key of its metadata, and leaves the others; false: Nova knows the server no more.
    virtual ResultTask<bool> set_metadata(ServerId id, std::string key, std::string value) = 0;
    /// Removes one key of its metadata; false: there is no such key, or no such server.
    virtual ResultTask<bool> remove_metadata(ServerId id, std::string key) = 0;
    /// Shuts its guest down (ACPI, then the power is cut), and starts it again; false: Nova knows
    /// the server no more. `conflict` in another state.
    virtual ResultTask<bool> stop_server(ServerId id) = 0;
    virtual ResultTask<bool> start_server(ServerId id) = 0;
};

}  // namespace reaper

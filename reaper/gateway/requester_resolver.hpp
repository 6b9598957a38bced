// The requester of an answer of Placement's: which servers nova-scheduler looks for a host for.
//
// The query names the API request. Of an operation on a server that there is (resize, migrate,
// evacuate, unshelve, ...) Nova's record of actions has that id, unless the client gave a global
// id, which the query has then (Masakari does): the claim tells. Of servers to boot there is no
// record yet: there Nova lists the servers that are being scheduled, and the query fits some of
// them. Those of calls that are known already are left out. While several requests fit, none is
// taken for the requester: it would get the room of another one. They are looked at again, as those
// of others go on, unless they are alike: then the claim alone tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/gateway/gateway_ports.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/request.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/request_spec/placement_query.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"
#include "reaper/runtime/turn.hpp"

namespace reaper {

// A list of Nova's that several wait for: each caller gets one that was begun after its call, and
// one reading serves all who called before it began.

class SharedList {
public:
    using Servers = std::vector<ServerRecord>;
    using Read = std::function<ResultTask<Servers>()>;

    /// `clock` must outlive it.
    SharedList(Clock& clock, Read read) : clock_(clock), read_(std::move(read)) {}

    ResultTask<std::shared_ptr<const Servers>> read() {
        constexpr Duration poll_interval{10};
        const std::uint64_t wanted = begun_ + 1;
        while (done_ < wanted) {
            if (reading_) {
                co_await clock_.sleep(poll_interval);
                continue;
            }
            reading_ = true;
            ++begun_;
            auto found = co_await read_();
            failed_.reset();
            if (found)
                last_ = std::make_shared<const Servers>(std::move(*found));
            else
                failed_ = found.error();
            done_ = begun_;
            reading_ = false;
        }
        if (failed_) co_return *failed_;
        co_return last_;
    }

private:
    Clock& clock_;
    Read read_;
    std::uint64_t begun_ = 0;
    std::uint64_t done_ = 0;
    bool reading_ = false;
    std::shared_ptr<const Servers> last_;
    std::optional<Error> failed_;
};

// Which servers to boot the calls of nova-scheduler's are known to be for. Pure.

class KnownCalls {
public:
    /// Of one request to boot, or of any.
    using Servers = std::set<ServerId>;

    /// From now on it is known that the call is for these; replaces what was known of one of them.
    /// Several requests may share a call's id.
    void known(const RequestId& call, Servers servers);
    /// Servers that no call but others can be for.
    Servers of_others(const RequestId& call) const;
    /// Is it known to be for this server, and for one of these with it?
    bool is_for(const RequestId& call, const ServerId& server,
                const std::vector<ServerId>& with) const;

    /// All that something is known of.
    std::set<RequestId> all() const;
    /// Of these calls only those stay that are for servers of the list.
    void forget(const std::set<RequestId>& calls, const Servers& listed);

private:
    std::map<RequestId, std::vector<Servers>> known_;
};

/// Why the requester is not certain; for people. And which ones it may be.
struct NotCertain {
    std::string why;
    std::vector<Request> may_be{};
    /// Others fit too, which are taken for those of other calls, or are evacuated.
    bool others_fit = false;
};

class RequesterResolver {
public:
    /// `ports` must outlive it.
    explicit RequesterResolver(const GatewayPorts& ports);
    RequesterResolver& operator=(RequesterResolver&&) = delete;  // its lists know its place

    /// The request that the query is asked for, with its requesters, as Nova tells it; its shape is
    /// not the query's yet. Refused: no room can help it. As long as Nova lists its servers
    /// as waiting for a host, they are asked for by no other call. Of several alike for which no
    /// host can be offered, it is one without requesters.
    using Answer = std::variant<Request, Refused, NotCertain>;
    /// `patience`: for how long it is looked again while it is not certain.
    ResultTask<Answer> find(RequestId id, CandidatesQuery query, Duration patience);
    /// The request that this server is scheduled for: to boot, with those that were asked for with
    /// it, or the operation on it that has this id, or is under way. None if Nova schedules no such
    /// server. The query is what it was offered for.
    ResultTask<std::optional<Answer>> of_server(RequestId id, ServerId server,
                                                CandidatesQuery query);
    /// Was it found out that the call is for this server, and for one of these with it?
    bool is_for(const RequestId& call, const ServerId& server,
                const std::vector<ServerId>& with) const {
        return calls_.is_for(call, server, with);
    }
    /// Could there be a requester for which so many places are not enough? A request to boot with
    /// more servers; a server that is moved, for which its own host is no place; or one that other
    /// servers keep off hosts, by a group or by hints. Or for whom there is no room at all, as it
    /// admits none.
    ResultTask<bool> may_want_more(CandidatesQuery query, Amount places);

private:
    using Servers = std::shared_ptr<const SharedList::Servers>;
    /// The servers of one request to boot.
    using Booting = std::vector<ServerRecord>;
    using Built = std::variant<Request, Refused>;
    struct Known {
        Built built;
        std::size_t servers = 0;  ///< that Nova listed for the request
    };

    ResultTask<Servers> look_at_boots();
    ResultTask<SharedList::Servers> booting_with(ServerId server);
    ResultTask<bool> goes_by_others(ServerId server);
    ResultTask<std::vector<ServerRecord>> read_moves();
    void forget_others(const SharedList::Servers& booting, const std::set<RequestId>& known_before);
    ResultTask<std::optional<Answer>> move_of(RequestId id, CandidatesQuery query, Servers moving);
    ResultTask<Answer> of_move(ServerRecord record, ActionRecord action, CandidatesQuery query);
    ResultTask<std::optional<Answer>> move_of_server(RequestId id, ServerId server,
                                                     CandidatesQuery query);
    ResultTask<std::optional<ActionRecord>> operation_on(ServerId server);
    ResultTask<bool> may_be_evacuated(CandidatesQuery query, Servers moving);
    ResultTask<std::vector<Built>> boots_for(RequestId id, CandidatesQuery query, Servers booting);
    void leave_others_out(const RequestId& id, std::vector<Built>& boots) const;
    Task<std::unique_ptr<Turn<ServerId>>> turn_for(ServerId server);
    ResultTask<Built> known_of(RequestId id, Booting servers,
                               std::optional<ServerRecord> read_alone);
    ResultTask<Built> built(RequestId id, Booting servers, std::optional<ServerRecord> read_alone);
    ResultTask<std::variant<std::string, NotCertain>> new_flavor(ServerRecord record,
                                                                 CandidatesQuery query);
    Answer known_as(const RequestId& id, Built built);

    const GatewayPorts& ports_;
    CloudPorts cloud_;
    KnownCalls calls_;
    /// What was found out about servers that are still being scheduled, by the first of them; its
    /// id is that of the call that asked first.
    std::map<ServerId, Known> built_;
    /// Operations on servers whose calls are known to have the operation's id.
    std::map<ServerId, RequestId> moves_;
    /// Of servers that are being scheduled: do others decide where they may go?
    std::map<ServerId, bool> by_others_;
    std::set<ServerId> asking_;  ///< about these, now
    SharedList booting_;         ///< being scheduled
    SharedList moving_;          ///< may be
};

}  // namespace reaper

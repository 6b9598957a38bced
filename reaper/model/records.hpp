// Records: what Nova, Placement and Keystone each report, before it becomes a snapshot.
// Plain data: the ports return it, `assemble` (reaper/snapshot) reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/flavor.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

// Orders of reservations, and the reservations that they made, as the journal has them.

/// How far an order came.
enum class OrderProgress {
    begun,     ///< Placement may have received it; the outcome is unknown
    waiting,   ///< for tenants to go
    applied,   ///< it is done
    failed,    ///< it waited, and is not done
    not_done,  ///< begun, but not done: if given again, it is tried again
};
std::string_view to_string(OrderProgress progress);
/// The inverse; what is not known is `begun`.
OrderProgress order_progress_of(std::string_view word);

/// Orders that were given together.
struct OrderRecord {
    std::int64_t number = 0;  ///< the journal's; 0: it has none yet
    std::string key;          ///< may be empty
    std::string principal;
    std::string content;  ///< what is ordered, to be read again
    std::string mark;     ///< in the records that it changes
    std::string removes;  ///< the ids of reservations that end with it, separated by commas
    OrderProgress progress{};
    std::string reason;  ///< one line for people; may be empty
    TimePoint given_at{};
    TimePoint changed_at{};

    friend bool operator==(const OrderRecord&, const OrderRecord&) = default;
};

/// A dynamic reservation as this reaper saw it in Placement last.
struct KnownReservation {
    ReservationId id;
    std::string project, user;  ///< of its consumer: all of what it is
    TimePoint at{};

    friend bool operator==(const KnownReservation&, const KnownReservation&) = default;
};

// Which user paused the reaper, and why.

struct PauseNote {
    std::string by;         ///< empty if it is not said
    std::string reason;     ///< empty if it is not said
    TimePoint at{};         ///< of a file without a time: when it was last changed
    std::string trouble{};  ///< why the user and the reason are not known; else empty
    bool unknown = false;   ///< whether it is paused can't be determined now

    /// `by alice since 2024-05-01T12:00:00.000Z: kernel update`
    std::string line() const;
};

// An operator's word that one server stays (`reaper protect`).

struct ServerProtection {
    ServerId server;
    std::string name;  ///< of the server then; empty: not known
    TimePoint since{};
    std::optional<TimePoint> until{};  ///< none: until an operator ends it
    std::string by;                    ///< the user who said so
    std::string reason;                ///< one line; may be empty

    friend bool operator==(const ServerProtection&, const ServerProtection&) = default;
};

/// `until 2026-11-27T08:00:00.000Z, by alice: it moves tonight`
std::string protection_text(const ServerProtection& protection);

/// Why Nova could not place something, by its own record.
enum class FailureCause {
    not_reported,       ///< Nova says nothing of it, or does not show it
    no_valid_host,      ///< no host had room (NoValidHost)
    retries_exhausted,  ///< hosts were found, and all of them failed (MaxRetriesExceeded)
    other,
};

/// Does the message of a NoValidHost, or a text with it, name a cause that is no lack of room?
/// A translated one does not.
bool names_another_cause(std::string_view no_valid_host);

/// What Nova keeps of the failure of a server in ERROR.
struct Fault {
    FailureCause cause{};
    std::string message;  ///< its first line, safe to show
    TimePoint created{};
    friend bool operator==(const Fault&, const Fault&) = default;
};

/// What was done to a server on request.
struct ActionRecord {
    std::string name;  ///< create, unshelve, ...
    RequestId request;
    ProjectId project;   ///< of the requester
    std::string user{};  ///< the requester: Keystone's id
    bool failed = false;
    TimePoint started{};
    // Only where one action was asked for:
    bool ended = false;      ///< it is no longer under way
    TimePoint last_event{};  ///< when Nova recorded the last of it
    FailureCause cause{};
    std::string message{};  ///< of the failure: its first line, safe to show; or empty
};

/// A resize, or a cold migration, that its user has neither confirmed nor reverted.
struct UnconfirmedResize {
    ServerId server;
    ServerId holder;          ///< the consumer in Placement that holds what it left behind
    std::string source_host;  ///< service host
    friend bool operator==(const UnconfirmedResize&, const UnconfirmedResize&) = default;
};

/// Why a server stays whose resize Nova would confirm before it deletes it: its source is down.
std::string why_unconfirmable(const std::string& source_host);

/// A server as Nova reports it. `server.allocations` and `revocable_because` are not Nova's to know
/// and stay empty.
struct ServerRecord {
    Server server;
    Flavor flavor;
    bool boot_from_volume = false;
    std::string image;  ///< its id; empty if it boots from a volume
    /// The image's properties as Nova took them over when the server was made; empty where Nova is
    /// too old to show it.
    std::map<std::string, std::string> image_properties{};
    /// Server groups that it is in, by id; only where one server was asked for.
    std::vector<std::string> groups;
    std::optional<TimePoint> terminated{};  ///< of one that ended
    std::string reservation{};              ///< all servers of one request to boot have the same
    std::optional<Fault> fault{};
    /// The zone that Nova shows: of its host, or the one that was asked for if it never had a host.
    std::string shown_zone{};
    /// What its user asked for when it was made: the zone, and which servers to be with or apart
    /// from. Where Nova is new enough to show it, and only where one server was asked for.
    std::optional<std::string> zone{};
    std::set<ServerId> same_host{};
    std::set<ServerId> different_host{};
    friend bool operator==(const ServerRecord&, const ServerRecord&) = default;
};

struct HypervisorRecord {
    HostId id;         ///< root provider's UUID (microversion 2.53 and later)
    std::string name;  ///< hypervisor hostname
    std::string service_host;
    std::string type;
};

struct ComputeServiceRecord {
    std::string host;
    std::string zone;
    bool enabled = true;
    bool up = true;  ///< state up, and not forced down
    std::string disabled_reason;
    friend bool operator==(const ComputeServiceRecord&, const ComputeServiceRecord&) = default;
};

/// The numbers that Nova's databases gave (an API before 2.53 shows them). Each cell of Nova has
/// a database, and numbers of its own.
struct HostNumbers {
    struct Numbered {
        std::string host;
        std::int64_t number = 0;
    };
    std::vector<Numbered> services;  ///< nova-compute's, by service host
    std::vector<Numbered> hypervisors;
};

struct AggregateRecord {
    std::string uuid;
    std::string name;
    std::vector<std::string> hosts;  ///< service hosts
    std::map<std::string, std::string> metadata;
};

struct ProviderRecord {
    ProviderId id;
    std::string name;
    ProviderId parent;  ///< empty for a root
    ProviderId root;
};

/// One provider, read now.
struct ProviderState {
    std::map<ResourceClass, Inventory> inventories;
    Shared<std::set<Trait>> traits;
    /// By consumer: servers, but also migrations and whatever else holds room.
    std::map<ServerId, Resources> allocations;
};

/// A holder of room, with what a change must name.
struct Consumer {
    Allocations holds{};  ///< empty: there is no such consumer
    std::optional<std::int64_t> generation{};
    std::string project{};
    std::string user{};
    std::string type{};  ///< RESERVATION, ...; empty where Placement is too old to show it
    friend bool operator==(const Consumer&, const Consumer&) = default;
};

/// What one consumer is to hold: `holds` in place of what it held. The rest is as it was found; of
/// a new one the generation is none.
struct ConsumerChange {
    ServerId id;
    Consumer wanted;
};

/// One provider as Placement's bulk answers report it.
struct ProviderSummary {
    ProviderId id;
    ProviderId parent;  ///< empty for a root
    ProviderId root;
    Resources capacity;
    Resources used;
    Shared<std::set<Trait>> traits;
};

/// A project as Keystone reports it.
struct Project {
    ProjectId id;
    std::string name;
    std::string domain;  ///< domain id
    ProjectId parent;
    std::set<std::string> tags;
};

/// The result of the search for a project by an id or name that a user wrote.
struct ProjectSearch {
    std::optional<Project> found;
    std::string why_not{};  ///< none or several; one line, with what would do
    bool several = false;
};

}  // namespace reaper

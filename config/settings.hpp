// Settings: every key of the configuration file, with its unit and default.
// Plain data without behaviour; the loader (config/loader.hpp) fills it from YAML.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/secret.hpp"
#include "reaper/duties/settings.hpp"
#include "reaper/model/cells.hpp"
#include "reaper/model/notice_settings.hpp"
#include "reaper/model/parameters.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/role.hpp"
#include "reaper/oversubscription/publication.hpp"
#include "reaper/reservations/reservation.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper::config {

using std::chrono::milliseconds;

/// How the reaper proves who it is to Keystone. Either a password with a user and a project, or an
/// application credential.
struct Credentials {
    std::string auth_url;  ///< Keystone, with or without /v3
    std::string username, user_id, user_domain_name, user_domain_id;
    Secret password;
    std::string project_name, project_id, project_domain_name, project_domain_id;
    std::string application_credential_id, application_credential_name;
    Secret application_credential_secret;

    bool uses_application_credential() const {
        return !application_credential_id.empty() || !application_credential_name.empty();
    }
};

/// `cloud:` which OpenStack, and as whom.
struct Cloud {
    Credentials credentials;
    std::string region;                ///< empty: the catalog's only one
    std::string interface = "public";  ///< public, internal or admin
    /// Instead of the catalog's; keys `compute`, `placement`, `identity`, `image`.
    std::map<std::string, std::string> endpoint_overrides;
    std::string ca_file;              ///< PEM; empty: the system's
    std::string cert_file, key_file;  ///< client certificate, PEM; both or none
    bool verify_tls = true;
};

/// `http:` how the APIs are called.
struct Http {
    milliseconds call_timeout{30'000};  ///< one call, all of it
    milliseconds connect_timeout{5'000};
    int max_connections_per_endpoint = 8;
    int max_retries = 4;              ///< after the first try, where a retry is safe
    milliseconds retry_backoff{250};  ///< doubles each time, with jitter
    milliseconds retry_backoff_max{10'000};
    std::uint64_t max_body_bytes = 256ULL * 1024 * 1024;
};

/// `broker:` RabbitMQ, where Nova's notifications come from.
struct Broker {
    std::vector<Secret> urls;  ///< amqp[s]://user:password@host:port/vhost, tried in turn
    std::string exchange = "nova";
    std::vector<std::string> topics{"versioned_notifications"};
    std::string queue = "reaper";       ///< our own, durable
    std::string queue_type = "quorum";  ///< of our durable queues: quorum or classic
    std::string dead_letter_queue = "reaper.dead-letter";
    std::int64_t queue_max_length = 100'000;  ///< messages; the oldest go first
    std::int64_t dead_letter_max_length = 10'000;
    std::int64_t events_max_length = 50'000;  ///< messages on changes of the cloud; as above
    /// Unacknowledged messages at most: each may be as large as `largest_message_mib`, so they take
    /// a quarter of a GiB.
    int prefetch = 256;
    static constexpr int largest_message_mib = 1;
    /// A dead or frozen reaper is replaced after 2 to 3 of these. Shorter than 5 s, a busy broker
    /// takes a live one for dead.
    std::chrono::seconds heartbeat{5};
    milliseconds connect_timeout{10'000};
    milliseconds reconnect_backoff{500};  ///< doubles each time, with jitter
    milliseconds reconnect_backoff_max{30'000};
    std::string ca_file;
    std::string cert_file, key_file;
    bool verify_tls = true;
    bool temporary_queue = false;  ///< set by a dry run, not by the file: exclusive, gone with us
    std::string
        journal{};  ///< set by the daemon, not by the file: sent to a client that asks who serves
};

/// `trigger:` which messages become requests.
struct Trigger {
    milliseconds max_age{600'000};  ///< older messages are dropped, with a reason
    /// Between two looks for servers whose unshelving found no host (Nova does not report it); 0:
    /// never.
    milliseconds unshelve_interval{10'000};
    bool unshelve_again = false;  ///< Nova is asked once more when the room is freed
};

/// A named plugin with its parameters.
struct Plugin {
    std::string name;
    Parameters parameters;
    friend bool operator==(const Plugin&, const Plugin&) = default;
};

/// An entry of `modules:` (reaper/modules): a shared object with plugins of its own.
struct Module {
    std::string path;
    std::string sha256;  ///< which the file must have; empty: any
    Parameters parameters;
    friend bool operator==(const Module&, const Module&) = default;
};

/// `scheduler:` and `watched_aggregates:`; see SchedulerRules.
struct Scheduler {
    bool tenant_filter = false;
    std::string own_aggregates = "off";  ///< off, limit, required
    bool trait_isolation = false;
    bool extra_specs_filter = false;
    std::string nova_release = "auto";  ///< auto, or one of nova_release.hpp
    bool image_type_filter = false;
    bool image_metadata_filter = false;
    bool pcpu_fallback = false;
    bool pci_in_placement = false;
    std::vector<std::string> watched_aggregates;  ///< names or UUIDs; `a|b`: one shard of both
    std::vector<Cell> cells;                      ///< Nova's; empty: not given
    bool cross_cell_resize = false;
    bool res_type_traits = false;  ///< no key of its own: there is a gateway

    friend bool operator==(const Scheduler&, const Scheduler&) = default;
};

/// `taggers:`, `strategy:`, and the safeguards: everything that decides which servers go.
struct Policy {
    std::vector<Plugin> taggers;          ///< at least one
    std::string tagger_conflict = "any";  ///< any, first, all: what holds when they differ
    Plugin strategy;
    int alternatives = 1;  ///< slots to free for each requested one
    Scheduler scheduler;
    SafeguardSettings safeguards;  ///< `protect:`, `limits:`, `thrash:`, `breaker:`,
                                   ///< `project_breaker:`, `shape_cooldown:`, `short_lived:` and
                                   ///< `host_cooldown:`
    NoticeSettings notice;         ///< `notice:` of servers, before their end
    ShelveSettings shelve;         ///< `shelve:` servers instead of deleting them
    DutySettings duties;           ///< `watermark:` and `life_span:`

    friend bool operator==(const Policy&, const Policy&) = default;
};

/// `cull:` how a plan is carried out.
struct Cull {
    int max_parallel_deletions = 8;   ///< over all requests
    int max_rounds = 3;               ///< plans for one request, when victims turn out unfit
    milliseconds deadline{300'000};   ///< from a plan until Placement shows its room
    milliseconds poll_interval{500};  ///< of Placement while waiting; grows to ten times
    milliseconds promise{60'000};     ///< how long freed room stays promised to its request
    milliseconds watch{900'000};      ///< how long we watch whether a server takes the freed room
    /// A plan that a person approved is too old to be carried out then.
    milliseconds approved_max_age{3'600'000};
};

/// `cache:` how the cloud cache of the cloud is kept fresh.
struct Cache {
    bool events = true;               ///< listen to Nova's INFO notifications
    milliseconds max_age{3'600'000};  ///< all of it is read again then, in bulk
    milliseconds host_max_age{
        900'000};  ///< each host is read at this interval, if the rate allows it
    milliseconds services_interval{30'000};  ///< between two readings of all compute services
    int hosts_per_second = 5;                ///< read in the background at most
};

/// `labels:` which servers get their `res-type` in their metadata.
struct Labels {
    /// none, served (those that took room which was freed for them) or all
    std::string servers = "served";
};

/// `admin:` the API of the running daemon.
struct Admin {
    std::string listen;       ///< IP:PORT; empty: nowhere
    std::string socket;       ///< path of a Unix socket, for acting too; empty: none
    std::string look_socket;  ///< path of one for looking, for the group of its directory; or none
    /// On the port: `none`: every client that reaches it may read; `keystone`: a token with one of
    /// the roles may act; `certificate`: a client with one of client_ca_file may.
    std::string auth = "none";
    std::vector<std::string> roles{"admin"};
    std::vector<std::string> read_roles;  ///< of tokens that may only read
    bool owners = false;  ///< `keystone`: any token of a project may ask for its own servers
    std::vector<std::string> principals;  ///< patterns: of certificates that may ask
    std::vector<std::string> names;       ///< what clients may call the port beside its address
    std::string cert_file, key_file;      ///< PEM; both, or none for no TLS
    std::string client_ca_file;           ///< clients must show a certificate of it; empty: none

    /// Where a command on this machine asks; empty: nowhere.
    const std::string& asked_socket() const { return socket.empty() ? look_socket : socket; }
};

/// `metrics:` what the running daemon counts and measures, for Prometheus.
struct MetricsPage {
    std::string listen;  ///< IP:PORT for GET /metrics, /healthz and /readyz alone; empty: nowhere
    std::vector<std::string> names;  ///< what clients may call the port beside its address
    bool per_host = false;           ///< the room of each host too
};

/// `gateway:` where nova-scheduler asks for Placement (reaper/daemon/gateway.hpp).
struct Gateway {
    std::string listen;         ///< IP:PORT; empty: no gateway
    std::string placement_url;  ///< empty: as the cloud's APIs are found
    std::string path_prefix;    ///< under which clients ask; empty: the path of Placement's URL
    std::string cert_file, key_file;  ///< PEM; both, or none for no TLS
    std::string client_ca_file;       ///< clients must show a certificate of it; empty: none
    int max_connections = 512;
    milliseconds upstream_timeout{300'000};
    milliseconds deadline{60'000};  ///< how long a search for a host, or a claim, waits for room
    int max_held = 32;              ///< calls that wait at a time; further ones pass through
    bool escrow = true;             ///< freed room is kept in Placement until its request claims it
};

/// Projects of a role.
struct RoleProjects {
    Role role;
    std::vector<std::string> projects;  ///< ids, names or DOMAIN/NAME

    friend bool operator==(const RoleProjects&, const RoleProjects&) = default;
};

/// Room that the file reserves on each of these hosts.
struct StaticReservation {
    Role role;
    std::vector<std::string> hosts;       ///< patterns of names: of services or hypervisors
    std::vector<std::string> aggregates;  ///< names or UUIDs
    Resources resources;                  ///< on each host
    reaper::Labels labels{};
    LendingPolicy lending{};  ///< what the file does not say is as `reservations:` has it
    std::string principal{};  ///< of the reservation; empty: no particular client

    friend bool operator==(const StaticReservation&, const StaticReservation&) = default;
};

/// `reservations:` room that is kept for roles (reaper/reservations).
struct Reservations {
    bool enabled = false;
    std::vector<RoleProjects> roles;
    /// Any other project of `roles_domains` has the role of its path of names in Keystone, without
    /// its domain.
    bool roles_by_hierarchy = false;
    std::vector<std::string> roles_domains{"default"};  ///< ids
    std::vector<StaticReservation> static_ones;
    bool lend = false;              ///< of those that do not say it
    milliseconds longest_loan{};    ///< the same; 0: as long as the room is idle
    milliseconds calm{600'000};     ///< after its owner came, until it is lent again
    milliseconds interval{60'000};  ///< between two looks at all of them
    ReservationAcl acl;
};

/// `oversubscription.prometheus:` where measurements come from. The queries are of node_exporter;
/// each gives one figure for each host, whose name is in `host_label`.
struct Prometheus {
    std::string url;       ///< with its path prefix, if it has one; empty: there is none
    std::string username;  ///< with `password`: basic authentication
    Secret password;
    Secret token;  ///< bearer token
    std::string ca_file;
    bool verify_tls = true;
    milliseconds timeout{5'000};  ///< of one query
    /// NAME or NAME:PORT of a service host or hypervisor; case is ignored.
    std::string host_label = "instance";
    /// Not empty: `usage_query` gives one figure for each server, whose UUID is in this label.
    std::string server_label;
    std::string usage_query =  ///< cores in use
        R"(sum by (instance) (rate(node_cpu_seconds_total{mode!~"idle|iowait|steal"}[2m])))";
    std::string cores_query =  ///< cores that there are
        R"(count by (instance) (node_cpu_seconds_total{mode="idle"}))";
    std::string load5_query = "node_load5";    ///< load average of 5 minutes
    std::string load15_query = "node_load15";  ///< of 15 minutes
    std::string steal_query =                  ///< the part of CPU time that was stolen, 0 to 1
        R"(avg by (instance) (rate(node_cpu_seconds_total{mode="steal"}[2m])))";
    /// The part of the time in which threads waited for a CPU, 0 to 1.
    std::string pressure_query = "rate(node_pressure_cpu_waiting_seconds_total[2m])";
    /// Not empty: the part of the time in which a server's vCPUs waited for a core, 0 to 1, one
    /// figure for each server (`server_label`).
    std::string guest_steal_query;
    std::string age_query = "time() - timestamp(node_load5)";  ///< seconds since the last reading

    friend bool operator==(const Prometheus&, const Prometheus&) = default;
};

/// `oversubscription:` vCPUs that are allocated but unused, sold to revocable servers
/// (reaper/oversubscription).
struct Oversubscription {
    bool enabled = false;
    std::string room_class = "CUSTOM_REVOCABLE_VCPU";  ///< key `class`; it stands for VCPU
    std::vector<std::string> hosts{"*"};  ///< patterns of names: of services or hypervisors
    std::vector<std::string> aggregates;  ///< names or UUIDs; not empty: of those, only their hosts
    Plugin estimator{"noop", {}};         ///< of estimator_table(), parameters complete
    /// Keys `oversubscribed_resources_interval` (its interval), `rise_after`, `rise_step`,
    /// `hysteresis`, `flaps`, `flap_window`, `quiet`, `max_quiet`, `trust_after` and `max_age`.
    PublicationRules publication;
    std::string excess = "evict";  ///< evict or drain: what is held beyond the estimate
    Plugin qos{"noop", {}};        ///< of qos_table(), parameters complete
    milliseconds qos_correction_interval_min{20'000};  ///< between two looks at a host's load
    std::string qos_source = "prometheus";             ///< prometheus, or nova (load alone)
    Prometheus prometheus;

    friend bool operator==(const Oversubscription&, const Oversubscription&) = default;
};

/// `journal:` the durable record.
struct JournalSettings {
    std::string path = "/var/lib/reaper/journal.db";
    /// A database instead of the file: config/journal_url.hpp. Empty: the file.
    std::string url{};
    std::string password_file{};  ///< of the URL's user
    std::string ca_file{};        ///< PEM; empty: the system's
    bool tls = true;              ///< to hosts, with verified certificates
    std::chrono::seconds timeout{5};

    bool in_file() const { return url.empty(); }
    /// Its path or its URL, which is the same for all reapers of a journal.
    const std::string& place() const { return in_file() ? path : url; }
    bool nowhere() const { return place().empty(); }
};

/// `record:` what decisions saw, to be decided again (reaper/recording).
struct Record {
    std::string directory;                            ///< empty: nothing is recorded
    std::uint64_t max_bytes = 1024ULL * 1024 * 1024;  ///< key `max_mib`; the oldest goes first
    milliseconds max_age{2'592'000'000};              ///< older data is dropped too
    bool anonymous = false;                           ///< names and ids are replaced
};

/// `log:` what is written, where.
struct Log {
    std::string level = "info";   ///< trace, debug, info, warning, error
    std::string target = "auto";  ///< auto (journald under systemd), terminal, journald
    std::string format = "text";  ///< text, json
};

/// The whole file.
struct Settings {
    std::vector<Module> modules;
    Cloud cloud;
    Http http;
    Broker broker;
    Trigger trigger;
    Policy policy;
    Cull cull;
    Cache cache;
    Labels labels;
    JournalSettings journal;
    Record record;
    Log log;
    Admin admin;
    MetricsPage metrics;
    Gateway gateway;
    Reservations reservations;
    Oversubscription oversubscription;
    /// Plans are reported and kept apart (config/dry_run.hpp), and nothing is deleted.
    bool dry_run = false;
    /// While this file is there, nothing is deleted (reaper/ports/pause_switch.hpp).
    std::string pause_file = "/var/lib/reaper/paused";
    /// How long the daemon waits at its start for broker and cloud before it ends; 0: forever.
    milliseconds start_within{300'000};
};

}  // namespace reaper::config

#include "config/keys.hpp"
#include "config/sections.hpp"

namespace reaper::config {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string_view> amqp_urls{"amqp", "amqps"};

template <auto... Path>
Target cloud_at() {
    return at<&Settings::cloud, Path...>();
}

template <auto... Path>
Target auth_at() {
    return cloud_at<&Cloud::credentials, Path...>();
}

std::string& endpoint(Draft& draft, const char* service) {
    return draft.settings.cloud.endpoint_overrides[service];
}

template <auto Member>
Target http_at() {
    return at<&Settings::http, Member>();
}

template <auto Member>
Target broker_at() {
    return at<&Settings::broker, Member>();
}

template <auto Member>
Target gateway_at() {
    return at<&Settings::gateway, Member>();
}

template <auto... Path>
Target reservations_at() {
    return at<&Settings::reservations, Path...>();
}

template <auto Member>
Target cull_at() {
    return at<&Settings::cull, Member>();
}

template <auto... Path>
Target safeguards_at() {
    return at<&Settings::policy, &Policy::safeguards, Path...>();
}

template <auto Member>
Target notice_at() {
    return at<&Settings::policy, &Policy::notice, Member>();
}

template <auto Member>
Target shelve_at() {
    return at<&Settings::policy, &Policy::shelve, Member>();
}

template <auto Member>
Target protect_at() {
    return safeguards_at<&SafeguardSettings::protect, Member>();
}

template <auto Member>
Target limits_at() {
    return safeguards_at<&SafeguardSettings::limits, Member>();
}

template <auto Member>
Target thrash_at() {
    return safeguards_at<&SafeguardSettings::thrash, Member>();
}

template <auto... Path>
Target breaker_at() {
    return safeguards_at<&SafeguardSettings::breaker, Path...>();
}

template <auto... Path>
Target project_breaker_at() {
    return safeguards_at<&SafeguardSettings::project_breaker, Path...>();
}

template <auto... Path>
Target shape_cooldown_at() {
    return safeguards_at<&SafeguardSettings::shape_cooldown, Path...>();
}

template <auto... Path>
Target short_lived_at() {
    return safeguards_at<&SafeguardSettings::short_lived, Path...>();
}

/// Victims that a limit may allow: fewer than the history keeps.
constexpr WholeNumber victims{0, 90'000};

const Section top{
    "",
    "the whole file",
    {
        {"modules", ModuleList{}, "[]",
         "shared objects with strategies, taggers, estimators or QoS controllers of their own",
         at<&Settings::modules>()},
        {"taggers", PluginList{}, "", "which servers are revocable; must be given",
         at<&Settings::policy, &Policy::taggers>(), true},
        {"tagger_conflict", Choice{{"any", "first", "all"}}, "any",
         "revocable is what any tagger calls so, or what the first one that says either calls so, "
         "or what all call so",
         at<&Settings::policy, &Policy::tagger_conflict>(), true},
        {"strategy", OnePlugin{}, "{name: cost}", "how the victims are chosen",
         at<&Settings::policy, &Policy::strategy>(), true},
        {"alternatives", WholeNumber{1, 1000}, "1", "slots to free for each requested one",
         at<&Settings::policy, &Policy::alternatives>(), true},
        {"dry_run", Flag{}, "false",
         "plans are made, journaled and recorded, and nothing is deleted",
         at<&Settings::dry_run>()},
        {"pause_file", Text{4096}, "/var/lib/reaper/paused",
         "while this file exists, the reaper of this machine deletes nothing",
         at<&Settings::pause_file>()},
        {"start_within", Span{0ms, 24h}, "5min",
         "how long the daemon waits at its start for broker and cloud before it ends (systemd "
         "starts it again); 0s: forever",
         at<&Settings::start_within>()},
        {"watched_aggregates", TextList{true}, "[]",
         "names or UUIDs of host aggregates, the only ones culled in; `a|b` is one shard",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::watched_aggregates>(), true},
        {"host_cooldown", Span{0ms, 168h}, "30min",
         "how long a host ranks lower after room freed there was not taken; 0s: not at all",
         safeguards_at<&SafeguardSettings::host_cooldown>(), true},
    }};

const Section cloud{
    "cloud",
    "the OpenStack cloud and its credentials",
    {
        {"name", Text{}, "", "a cloud of clouds.yaml", draft_at<&Draft::cloud_name>()},
        {"clouds_file", ReadableFile{}, "", "instead of the places where clouds.yaml is searched",
         draft_at<&Draft::clouds_file>()},
        {"from_environment", Flag{}, "", "credentials from OS_* variables",
         draft_at<&Draft::from_environment>()},
        {"region", Text{}, "", "default: the only one of the catalog", cloud_at<&Cloud::region>()},
        {"interface", Choice{{"public", "internal", "admin"}}, "public", "of the catalog",
         cloud_at<&Cloud::interface>()},
        {"ca_file", ReadableFile{}, "", "PEM; default: the system's certificates",
         cloud_at<&Cloud::ca_file>()},
        {"cert_file", ReadableFile{}, "", "client certificate, PEM, with key_file",
         cloud_at<&Cloud::cert_file>()},
        {"key_file", ReadableFile{true}, "", "its key, PEM", cloud_at<&Cloud::key_file>()},
        {"verify_tls", Flag{}, "true", "whether certificates are checked",
         cloud_at<&Cloud::verify_tls>()},
    }};

const Section auth{
    "cloud.auth",
    "inline credentials: a password, or an application credential",
    {
        {"auth_url", Url{http_urls}, "", "Keystone, with or without /v3",
         auth_at<&Credentials::auth_url>()},
        {"username", Text{}, "", "or user_id", auth_at<&Credentials::username>()},
        {"user_id", Text{}, "", "or username", auth_at<&Credentials::user_id>()},
        {"user_domain_name", Text{}, "", "or user_domain_id; the domain `default` without",
         auth_at<&Credentials::user_domain_name>()},
        {"user_domain_id", Text{}, "", "or user_domain_name",
         auth_at<&Credentials::user_domain_id>()},
        {"password", SecretText{}, "", "of the user", auth_at<&Credentials::password>()},
        {"project_name", Text{}, "", "or project_id", auth_at<&Credentials::project_name>()},
        {"project_id", Text{}, "", "or project_name", auth_at<&Credentials::project_id>()},
        {"project_domain_name", Text{}, "", "or project_domain_id; the domain `default` without",
         auth_at<&Credentials::project_domain_name>()},
        {"project_domain_id", Text{}, "", "or project_domain_name",
         auth_at<&Credentials::project_domain_id>()},
        {"application_credential_id", Text{}, "", "instead of user, password and project",
         auth_at<&Credentials::application_credential_id>()},
        {"application_credential_name", Text{}, "", "the same by name, with its user",
         auth_at<&Credentials::application_credential_name>()},
        {"application_credential_secret", SecretText{}, "", "of the application credential",
         auth_at<&Credentials::application_credential_secret>()},
    }};

const Section endpoints{
    "cloud.endpoints",
    "instead of the catalog's",
    {
        {"compute", Url{http_urls}, "", "Nova, with its version: .../v2.1",
         Target{+[](Draft& draft) -> std::string& { return endpoint(draft, "compute"); }}},
        {"placement", Url{http_urls}, "", "Placement",
         Target{+[](Draft& draft) -> std::string& { return endpoint(draft, "placement"); }}},
        {"identity", Url{http_urls}, "", "Keystone",
         Target{+[](Draft& draft) -> std::string& { return endpoint(draft, "identity"); }}},
        {"image", Url{http_urls}, "", "Glance, if there is one",
         Target{+[](Draft& draft) -> std::string& { return endpoint(draft, "image"); }}},
    }};

const Section http{
    "http",
    "how the APIs are called",
    {
        {"call_timeout", Span{1ms, longest_wait}, "30s", "one call, all of it",
         http_at<&Http::call_timeout>()},
        {"connect_timeout", Span{1ms, longest_wait}, "5s", "one connection",
         http_at<&Http::connect_timeout>()},
        {"max_connections_per_endpoint", WholeNumber{1, 1000}, "8", "at once",
         http_at<&Http::max_connections_per_endpoint>()},
        {"max_retries", WholeNumber{0, 20}, "4", "after the first try, where a retry is safe",
         http_at<&Http::max_retries>()},
        {"retry_backoff", Span{1ms, longest_wait}, "250ms", "doubles each time, with jitter",
         http_at<&Http::retry_backoff>()},
        {"retry_backoff_max", Span{1ms, longest_wait}, "10s", "up to here",
         http_at<&Http::retry_backoff_max>()},
        {"max_body_mib", WholeNumber{1, 4096, 1024 * 1024}, "256",
         "MiB; a larger answer is refused", http_at<&Http::max_body_bytes>()},
    }};

const Section broker{
    "broker",
    "RabbitMQ, where Nova's notifications come from",
    {
        {"urls", SecretUrls{amqp_urls}, "", "tried in turn", broker_at<&Broker::urls>()},
        {"exchange", Text{255}, "nova", "Nova's notification exchange",
         broker_at<&Broker::exchange>()},
        {"topics", TextList{}, "[versioned_notifications]", "of the notifications",
         broker_at<&Broker::topics>()},
        {"queue", Text{255}, "reaper", "our own, durable; never Nova's default queue",
         broker_at<&Broker::queue>()},
        {"queue_type", Choice{{"quorum", "classic"}}, "quorum",
         "of our durable queues: replicated over the nodes of the broker, or on one of them",
         broker_at<&Broker::queue_type>()},
        {"dead_letter_queue", Text{255}, "reaper.dead-letter", "messages that can't be understood",
         broker_at<&Broker::dead_letter_queue>()},
        {"queue_max_length", WholeNumber{1, 100'000'000}, "100000",
         "messages; the oldest are dropped first", broker_at<&Broker::queue_max_length>()},
        {"dead_letter_max_length", WholeNumber{1, 100'000'000}, "10000", "messages",
         broker_at<&Broker::dead_letter_max_length>()},
        {"events_max_length", WholeNumber{1, 100'000'000}, "50000",
         "messages on changes of the cloud; the oldest are dropped first",
         broker_at<&Broker::events_max_length>()},
        {"prefetch", WholeNumber{1, 65535}, "256",
         "messages taken and not yet acknowledged; each may take 1 MiB of memory",
         broker_at<&Broker::prefetch>()},
        {"heartbeat", Span{1s, 1h, 1s}, "5s",
         "whole seconds; another reaper takes over from a silent one after 2 to 3 of them",
         broker_at<&Broker::heartbeat>()},
        {"connect_timeout", Span{1ms, longest_wait}, "10s", "one connection",
         broker_at<&Broker::connect_timeout>()},
        {"reconnect_backoff", Span{1ms, longest_wait}, "500ms", "doubles each time, with jitter",
         broker_at<&Broker::reconnect_backoff>()},
        {"reconnect_backoff_max", Span{1ms, longest_wait}, "30s", "up to here",
         broker_at<&Broker::reconnect_backoff_max>()},
        {"ca_file", ReadableFile{}, "", "PEM, for amqps://; default: the system's certificates",
         broker_at<&Broker::ca_file>()},
        {"cert_file", ReadableFile{}, "", "client certificate, PEM, with key_file",
         broker_at<&Broker::cert_file>()},
        {"key_file", ReadableFile{true}, "", "its key, PEM", broker_at<&Broker::key_file>()},
        {"verify_tls", Flag{}, "true", "whether certificates are checked",
         broker_at<&Broker::verify_tls>()},
    }};

const Section trigger{
    "trigger",
    "which messages become requests",
    {
        {"max_age", Span{1s, 168h}, "10min", "older messages are dropped, with a reason",
         at<&Settings::trigger, &Trigger::max_age>()},
        {"unshelve_interval", Span{0ms, 24h}, "10s",
         "between two searches for unshelved servers that found no host; 0s: never",
         at<&Settings::trigger, &Trigger::unshelve_interval>()},
        {"unshelve_again", Flag{}, "false",
         "whether the reaper asks Nova to unshelve such a server once more, when its room is freed",
         at<&Settings::trigger, &Trigger::unshelve_again>()},
    },
    true};

const Section cull{
    "cull",
    "how a plan is carried out",
    {
        {"max_parallel_deletions", WholeNumber{1, 1000}, "8", "over all requests",
         cull_at<&Cull::max_parallel_deletions>(), false},
        {"max_rounds", WholeNumber{1, 100}, "3",
         "plans for one request, when victims turn out unfit", cull_at<&Cull::max_rounds>()},
        {"deadline", Span{1ms, 24h}, "5min", "from a plan until Placement shows its room",
         cull_at<&Cull::deadline>()},
        {"poll_interval", Span{1ms, longest_wait}, "500ms",
         "of Placement while waiting; grows to ten times that", cull_at<&Cull::poll_interval>()},
        {"promise", Span{0ms, 24h}, "1min", "how long freed room stays promised to its request",
         cull_at<&Cull::promise>()},
        {"watch", Span{1s, 24h}, "15min",
         "how long the requester, or its second try, may take the freed room",
         cull_at<&Cull::watch>()},
        {"approved_max_age", Span{1s, 168h}, "1h", "'reaper apply': a saved plan is too old then",
         cull_at<&Cull::approved_max_age>()},
    },
    true};

const Section protect{
    "protect",
    "servers that are never victims",
    {
        {"projects", TextList{true}, "[]", "ids, names or DOMAIN/NAME of projects",
         protect_at<&ProtectSettings::projects>()},
        {"flavors", TextList{true}, "[]", "names of flavors",
         protect_at<&ProtectSettings::flavors>()},
        {"aggregates", TextList{true}, "[]", "names or UUIDs of host aggregates",
         protect_at<&ProtectSettings::aggregates>()},
        {"owners", Flag{}, "false",
         "whether a server's owner may keep it from going: by a lock, tags or metadata",
         protect_at<&ProtectSettings::owners>()},
        {"tags", TextList{true}, "[reaper-protected]", "of the server, where owners may",
         protect_at<&ProtectSettings::tags>()},
        {"metadata", TextList{true}, "[reaper:protected]",
         "keys of the server's metadata, where owners may; any value but false, no and 0 protects",
         protect_at<&ProtectSettings::metadata>()},
        {"min_run_time", Span{0ms, 8760h}, "0s",
         "a server may be a victim only when it has run this long",
         protect_at<&ProtectSettings::min_run_time>()},
    },
    true};

const Section scheduler{
    "scheduler",
    "how nova-scheduler is set up, as far as its API does not show it",
    {
        {"tenant_filter", Flag{}, "false",
         "its filter AggregateMultiTenancyIsolation is on: aggregates with filter_tenant_id* are "
         "for those projects",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::tenant_filter>()},
        {"own_aggregates", Choice{{"off", "limit", "required"}}, "off",
         "[scheduler] limit_tenants_to_placement_aggregate; required: and "
         "placement_aggregate_required_for_tenants",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::own_aggregates>()},
        {"trait_isolation", Flag{}, "false",
         "[scheduler] enable_isolated_aggregate_filtering: aggregates with trait:T=required are "
         "for requests that require T",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::trait_isolation>()},
        {"extra_specs_filter", Flag{}, "false",
         "its filter AggregateInstanceExtraSpecsFilter is on: a flavor's extra specs without a "
         "scope, or of aggregate_instance_extra_specs:, have to match metadata of the host's "
         "aggregates",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::extra_specs_filter>()},
        {"cells", CellList{}, "[]",
         "Nova's cells, where there are several, each with its hosts or aggregates: moved servers "
         "stay in their cell, and builds skip one that is disabled",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::cells>()},
        {"cross_cell_resize", Flag{}, "false",
         "policy compute:servers:resize:cross_cell lets users resize and migrate to another cell",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::cross_cell_resize>()},
        {"nova_release",
         Choice{{"auto", "zed", "2023.1", "2023.2", "2024.1", "2024.2", "2025.1", "2025.2",
                 "2026.1", "2026.2"}},
         "auto",
         "what it asks Placement for depends on it; auto: as the version of its API tells, the "
         "newer one where two have the same; zed: that and what came before",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::nova_release>()},
        {"image_type_filter", Flag{}, "false",
         "[scheduler] query_placement_for_image_type_support: hosts need the trait of the image's "
         "disk format",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::image_type_filter>()},
        {"image_metadata_filter", Flag{}, "false",
         "[scheduler] image_metadata_prefilter: hosts need the traits of the buses, models and "
         "architecture that the image names",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::image_metadata_filter>()},
        {"pcpu_fallback", Flag{}, "false",
         "servers with dedicated CPUs may get VCPU where there are no PCPU: Nova asks for both "
         "(unless [workarounds] disable_fallback_pcpu_query), but a libvirt host lets them in by "
         "PCPU only",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::pcpu_fallback>()},
        {"pci_in_placement", Flag{}, "false",
         "[filter_scheduler] pci_in_placement: the PCI devices of a flavor's aliases are asked for "
         "of Placement (2023.1 and later)",
         at<&Settings::policy, &Policy::scheduler, &Scheduler::pci_in_placement>()},
    },
    true};

const Section limits{
    "limits",
    "maximum numbers of victims, for the reapers of one journal; 0 is no limit",
    {
        {"victims_per_request", victims, "100",
         "over all its rounds; an operator approves larger plans (reaper apply)",
         limits_at<&LimitSettings::victims_per_request>()},
        {"share_per_request", WholeNumber{0, 1000}, "25",
         "the same, as per cent of all revocable servers",
         limits_at<&LimitSettings::share_per_request>()},
        {"window", Span{1s, 168h}, "1h", "of the limits below",
         limits_at<&LimitSettings::window>()},
        {"share_per_requester", WholeNumber{0, 1000}, "50",
         "per cent of all revocable servers, for the requests of one project within the window",
         limits_at<&LimitSettings::share_per_requester>()},
        {"share_least", victims, "50", "a share is never fewer victims than this",
         limits_at<&LimitSettings::share_least>()},
        {"victims_per_window", victims, "0", "over all requests",
         limits_at<&LimitSettings::victims_per_window>()},
        {"victims_per_project", victims, "0", "of each project within the window",
         limits_at<&LimitSettings::victims_per_project>()},
        {"victims_per_aggregate", victims, "0", "in each host aggregate within the window",
         limits_at<&LimitSettings::victims_per_aggregate>()},
    },
    true};

const Section thrash{
    "thrash",
    "workloads that keep being evicted and coming back are kept longer",
    {
        {"after", WholeNumber{0, 1000}, "3", "evictions within the window; 0: never",
         thrash_at<&ThrashSettings::after>()},
        {"window", Span{1s, 720h}, "24h", "in which evictions are counted",
         thrash_at<&ThrashSettings::window>()},
        {"grace", Span{0ms, 720h}, "30min",
         "its servers are kept until they have run this long; doubles with each further eviction",
         thrash_at<&ThrashSettings::grace>()},
        {"max_grace", Span{0ms, 720h}, "8h", "but never longer than this",
         thrash_at<&ThrashSettings::max_grace>()},
        {"workload_key", Text{255}, "",
         "of the metadata that names a workload; default: the server's name without its number",
         thrash_at<&ThrashSettings::workload_key>()},
    },
    true};

const Section notice{
    "notice",
    "how long servers have between the notice of their end and their deletion",
    {
        {"period", Span{0ms, longest_notice}, "0s", "of every revocable server; 0s: no notice",
         notice_at<&NoticeSettings::period>()},
        {"periods", TextList{true}, "[]",
         "NAME=DURATION of flavors (by name), projects (by id) and taggers; the longest counts",
         notice_at<&NoticeSettings::periods>()},
        {"owner_key", Text{255}, "",
         "of a server's metadata, with which its owner sets the period; default: owners can't",
         notice_at<&NoticeSettings::owner_key>()},
        {"longest", Span{0ms, longest_notice}, "10min", "that an owner gets",
         notice_at<&NoticeSettings::longest>()},
        {"stop_before", Span{0ms, longest_notice}, "0s",
         "before its end: then the server is stopped, with its ACPI shutdown; 0s: not at all",
         notice_at<&NoticeSettings::stop_before>()},
    },
    true};

const Section shelve{
    "shelve",
    "which servers are shelved instead of deleted, and come back when there is room",
    {
        {"servers", TextList{true}, "[]",
         "flavors (by name), projects (by id) and taggers, or 'all'; default: none",
         shelve_at<&ShelveSettings::servers>()},
        {"owner_key", Text{255}, "",
         "of a server's metadata, where its owner writes 'shelve' or 'delete'; default: owners "
         "can't",
         shelve_at<&ShelveSettings::owner_key>()},
        {"returns_per_hour", WholeNumber{0, 100'000}, "60",
         "servers that the reaper unshelves at most; 0: their owners do",
         shelve_at<&ShelveSettings::returns_per_hour>()},
    },
    true};

const Section breaker{
    "breaker",
    "things in a row that stop all culls, until one is tried; 0 is never",
    {
        {"wasted", WholeNumber{0, 1000}, "5", "slots whose room went unused",
         breaker_at<&BreakerSettings::wasted>()},
        {"projects", WholeNumber{1, 1000}, "2", "of at least so many projects",
         breaker_at<&BreakerSettings::projects>()},
        {"failed", WholeNumber{0, 1000}, "5", "deletions that failed",
         breaker_at<&BreakerSettings::failed>()},
        {"retry_after", Span{0ms, 720h}, "30min",
         "then one cull is tried; doubles each time that it goes wrong; 0s: only after `reaper "
         "resume`",
         breaker_at<&BreakerSettings::retry, &RetrySettings::retry_after>()},
        {"max_retry_after", Span{0ms, 720h}, "8h", "but never longer than this",
         breaker_at<&BreakerSettings::retry, &RetrySettings::max_retry_after>()},
    },
    true};

const Section project_breaker{
    "project_breaker",
    "the same for the requests of one project",
    {
        {"wasted", WholeNumber{0, 1000}, "3", "slots in a row whose room went unused; 0: never",
         project_breaker_at<&ProjectBreakerSettings::wasted>()},
        {"unproven", WholeNumber{0, 10'000}, "10",
         "slots at a time of which it is not known whether they help; of a project that took freed "
         "room within a day, twice the slots that it took; 0: no limit",
         project_breaker_at<&ProjectBreakerSettings::unproven>()},
        {"retry_after", Span{1s, 720h}, "30min",
         "then one cull is tried; doubles each time that it goes wrong",
         project_breaker_at<&ProjectBreakerSettings::retry, &RetrySettings::retry_after>()},
        {"max_retry_after", Span{1s, 720h}, "24h", "but never longer than this",
         project_breaker_at<&ProjectBreakerSettings::retry, &RetrySettings::max_retry_after>()},
    },
    true};

const Section shape_cooldown{
    "shape_cooldown",
    "a shape (flavor, image, constraints) of a project whose freed room went unused is left alone",
    {
        {"wasted", WholeNumber{0, 1000}, "2",
         "slots in a row whose room went unused; after the first, other hosts are tried; 0: never",
         shape_cooldown_at<&ShapeCooldownSettings::wasted>()},
        {"retry_after", Span{1s, 720h}, "30min",
         "then one cull is tried; doubles each time that it goes wrong",
         shape_cooldown_at<&ShapeCooldownSettings::retry, &RetrySettings::retry_after>()},
        {"max_retry_after", Span{1s, 720h}, "24h", "but never longer than this",
         shape_cooldown_at<&ShapeCooldownSettings::retry, &RetrySettings::max_retry_after>()},
    },
    true};

const Section short_lived{
    "short_lived",
    "a project that gives freed room back within minutes, again and again, is left alone",
    {
        {"lived", Span{1s, 24h}, "10min", "room that is used for this time was worth its victims",
         short_lived_at<&ShortLivedSettings::lived>()},
        {"allowance", WholeNumber{0, 10'000}, "10",
         "victims within the window for room that was not used; 0: any number",
         short_lived_at<&ShortLivedSettings::allowance>()},
        {"window", Span{1s, 168h}, "2h", "in which they are counted",
         short_lived_at<&ShortLivedSettings::window>()},
        {"retry_after", Span{1s, 720h}, "30min",
         "then one cull is tried; doubles each time that its room is given back at once",
         short_lived_at<&ShortLivedSettings::retry, &RetrySettings::retry_after>()},
        {"max_retry_after", Span{1s, 720h}, "24h", "but never longer than this",
         short_lived_at<&ShortLivedSettings::retry, &RetrySettings::max_retry_after>()},
    },
    true};

const Section cache{
    "cache",
    "how the cache of the cloud is kept fresh",
    {
        {"events", Flag{}, "true",
         "listen to Nova's INFO notifications; otherwise the cloud is read for each decision",
         at<&Settings::cache, &Cache::events>()},
        {"max_age", Span{1min, 168h}, "1h", "then all of it is read again, in bulk",
         at<&Settings::cache, &Cache::max_age>()},
        {"host_max_age", Span{1s, 168h}, "15min",
         "each host is read at this interval, if the rate allows it",
         at<&Settings::cache, &Cache::host_max_age>()},
        {"services_interval", Span{1s, 24h}, "30s", "between two readings of all compute services",
         at<&Settings::cache, &Cache::services_interval>()},
        {"hosts_per_second", WholeNumber{1, 1000}, "5", "read in the background at most",
         at<&Settings::cache, &Cache::hosts_per_second>()},
    }};

const Section labels{
    "labels",
    "servers say in their metadata, as res-type, whether they run as regular or revocable",
    {
        {"servers", Choice{{"none", "served", "all"}}, "served",
         "served: those that took room which was freed for them",
         at<&Settings::labels, &Labels::servers>()},
    },
    true};

const Section journal{
    "journal",
    "the durable record",
    {
        {"path", Text{4096}, "/var/lib/reaper/journal.db", "its directory must be writable",
         at<&Settings::journal, &JournalSettings::path>()},
        {"url", Text{4096}, "",
         "a MariaDB database instead: mysql://USER@HOST1,HOST2:PORT/DATABASE",
         at<&Settings::journal, &JournalSettings::url>()},
        {"password_file", ReadableFile{true}, "", "with the password of the URL's user",
         at<&Settings::journal, &JournalSettings::password_file>()},
        {"ca_file", ReadableFile{}, "", "PEM; default: the system's certificates",
         at<&Settings::journal, &JournalSettings::ca_file>()},
        {"tls", Flag{}, "true", "to the database's hosts, with verified certificates",
         at<&Settings::journal, &JournalSettings::tls>()},
        // Another host can be tried before the lease (15 s) ends.
        {"timeout", Span{1s, 10s, 1s}, "5s",
         "of a connection or statement of the database, shorter than the journal's lease",
         at<&Settings::journal, &JournalSettings::timeout>()},
    }};

const Section record{
    "record",
    "what decisions saw, for reaper replay and reaper report",
    {
        {"directory", Text{4096}, "", "of the daemon's own; default: nothing is recorded",
         at<&Settings::record, &Record::directory>()},
        {"max_mib", WholeNumber{8, 16'000'000, 1024 * 1024}, "1024",
         "MiB, compressed; the oldest is dropped first",
         at<&Settings::record, &Record::max_bytes>()},
        {"max_age", Span{1h, 87600h}, "720h", "older data is dropped too",
         at<&Settings::record, &Record::max_age>()},
        {"anonymous", Flag{}, "false",
         "names and ids are replaced before anything is written, free text is left out",
         at<&Settings::record, &Record::anonymous>()},
    }};

const Section admin{
    "admin",
    "the API of the running daemon: GET /v1",
    {
        {"listen", Text{255}, "",
         "IP:PORT; without auth only on loopback, and read-only; default: off",
         at<&Settings::admin, &Admin::listen>()},
        {"socket", Text{100}, "",
         "path of a Unix socket, only for its owner, for reaper request; default: off",
         at<&Settings::admin, &Admin::socket>()},
        {"look_socket", Text{100}, "",
         "path of a read-only Unix socket, also for the group of its directory; default: off",
         at<&Settings::admin, &Admin::look_socket>()},
        {"auth", Choice{{"none", "keystone", "certificate"}}, "none",
         "how clients of the port authenticate: by token, or by certificate of tls.client_ca_file",
         at<&Settings::admin, &Admin::auth>()},
        {"roles", TextList{}, "[admin]", "of Keystone; a token's user must have one of them",
         at<&Settings::admin, &Admin::roles>()},
        {"read_roles", TextList{true}, "[]", "of Keystone; with one of them a token may only read",
         at<&Settings::admin, &Admin::read_roles>()},
        {"owners", Flag{}, "false",
         "any token of a project may ask for the project's own revocable servers",
         at<&Settings::admin, &Admin::owners>()},
        {"principals", TextList{true}, "[]",
         "patterns; the common name of a certificate must match one",
         at<&Settings::admin, &Admin::principals>()},
        {"names", TextList{true}, "[]",
         "host names by which clients reach the port, beside its address",
         at<&Settings::admin, &Admin::names>()},
    }};

const Section admin_tls{"admin.tls",
                        "with it, the port of the API speaks TLS",
                        {
                            {"cert_file", ReadableFile{}, "", "PEM, with the chain; with key_file",
                             at<&Settings::admin, &Admin::cert_file>()},
                            {"key_file", ReadableFile{true}, "", "its key, PEM",
                             at<&Settings::admin, &Admin::key_file>()},
                            {"client_ca_file", ReadableFile{}, "",
                             "PEM; clients must show a certificate of it; default: they need none",
                             at<&Settings::admin, &Admin::client_ca_file>()},
                        }};

const Section metrics{
    "metrics",
    "what the running daemon counts and measures, for Prometheus: GET /metrics, /healthz, /readyz",
    {
        {"listen", Text{255}, "",
         "IP:PORT for only these three, for any client; the API answers them too; default: off",
         at<&Settings::metrics, &MetricsPage::listen>()},
        {"names", TextList{true}, "[]",
         "host names by which clients reach the port, beside its address",
         at<&Settings::metrics, &MetricsPage::names>()},
        {"per_host", Flag{}, "false",
         "the room of each host too: five series for each host and resource class",
         at<&Settings::metrics, &MetricsPage::per_host>()},
    }};

const Section gateway{
    "gateway",
    "serves nova-scheduler in place of Placement, and passes everything through",
    {
        {"listen", Text{255}, "", "IP:PORT; default: off", gateway_at<&Gateway::listen>()},
        {"placement_url", Url{http_urls}, "", "Placement itself; default: the catalog's",
         gateway_at<&Gateway::placement_url>()},
        {"path_prefix", Text{1024}, "",
         "path under which it is asked, such as /placement; default: that of Placement's URL",
         gateway_at<&Gateway::path_prefix>()},
        {"max_connections", WholeNumber{1, 100'000}, "512", "of clients, open at once",
         gateway_at<&Gateway::max_connections>()},
        {"upstream_timeout", Span{1ms, 24h}, "5min",
         "how long Placement may take to answer, and between two pieces of an answer",
         gateway_at<&Gateway::upstream_timeout>()},
        {"deadline", Span{1s, 10min}, "1min",
         "the longest wait of nova-scheduler for room; then it gets Placement's answer",
         gateway_at<&Gateway::deadline>(), true},
        {"max_held", WholeNumber{0, 1000}, "32",
         "calls that wait for room at a time, half of them of one project; others pass; 0: all",
         gateway_at<&Gateway::max_held>(), true},
        {"escrow", Flag{}, "true",
         "keep what victims held in Placement (a consumer of type RESERVATION) until it is claimed",
         gateway_at<&Gateway::escrow>(), true},
    }};

const Section gateway_tls{
    "gateway.tls",
    "with it, the gateway speaks TLS",
    {
        {"cert_file", ReadableFile{}, "", "PEM, with the chain; with key_file",
         gateway_at<&Gateway::cert_file>()},
        {"key_file", ReadableFile{true}, "", "its key, PEM", gateway_at<&Gateway::key_file>()},
        {"client_ca_file", ReadableFile{}, "",
         "PEM; clients must show a certificate of it; default: they need none",
         gateway_at<&Gateway::client_ca_file>()},
    }};

const Section reservations{
    "reservations",
    "room on hosts that is kept for roles, and lent while it is idle",
    {
        {"enabled", Flag{}, "false", "room is kept for roles, in Placement",
         reservations_at<&Reservations::enabled>(), false},
        {"roles", EntryList{roles_expected}, "[]",
         "which projects (ids, names or DOMAIN/NAME) are of which role",
         reservations_at<&Reservations::roles>()},
        {"roles_by_hierarchy", Flag{}, "false",
         "any other project has the role of its path of names in Keystone, without its domain",
         reservations_at<&Reservations::roles_by_hierarchy>()},
        {"roles_domains", TextList{}, "[default]",
         "ids of the domains whose projects have roles by their path: who may create projects "
         "there gives roles",
         reservations_at<&Reservations::roles_domains>()},
        {"static", EntryList{static_expected}, "[]",
         "room that this file reserves, on each of the hosts (patterns) or of the aggregates' "
         "hosts",
         reservations_at<&Reservations::static_ones>()},
        {"lend", Flag{}, "false",
         "revocable servers may use idle room, unless the reservation says otherwise",
         reservations_at<&Reservations::lend>()},
        {"longest_loan", Span{0ms, 8760h}, "0s",
         "the maximum time of a loan; 0s: as long as the room is idle",
         reservations_at<&Reservations::longest_loan>()},
        {"calm", Span{0ms, 24h}, "10min",
         "after its owner came, a reservation is lent again after this; longer each time",
         reservations_at<&Reservations::calm>()},
        {"interval", Span{1s, 24h}, "1min", "between two looks at all reservations",
         reservations_at<&Reservations::interval>()},
    },
    true};

const Section reservations_acl{
    "reservations.acl",
    "who may reserve and unreserve; the first rule that names the principal decides",
    {
        {"permissive", Flag{}, "true", "what no rule says is allowed",
         reservations_at<&Reservations::acl, &ReservationAcl::permissive>()},
        {"reserve", EntryList{reserve_rules_expected}, "[]",
         "which principals may reserve for which roles, with * and ?",
         reservations_at<&Reservations::acl, &ReservationAcl::reserve>()},
        {"unreserve", EntryList{unreserve_rules_expected}, "[]",
         "which principals may unreserve the reservations of which others, with * and ?",
         reservations_at<&Reservations::acl, &ReservationAcl::unreserve>()},
    },
    true};

const Section log{
    "log",
    "what is written, where",
    {
        {"level", Choice{{"trace", "debug", "info", "warning", "error"}}, "info",
         "the least important level that is written", at<&Settings::log, &Log::level>(), true},
        {"target", Choice{{"auto", "terminal", "journald"}}, "auto", "auto: journald under systemd",
         at<&Settings::log, &Log::target>()},
        {"format", Choice{{"text", "json"}}, "text",
         "json: one object for each line, with the fields request, server, host and project",
         at<&Settings::log, &Log::format>()},
    }};

}  // namespace

const std::vector<Section>& sections() {
    static const std::vector<Section> all = [] {
        std::vector<Section> every{
            top,          cloud,           auth,    endpoints,       http,
            broker,       trigger,         cull,    scheduler,       protect,
            limits,       thrash,          breaker, project_breaker, shape_cooldown,
            short_lived,  cache,           labels,  journal,         record,
            admin,        admin_tls,       metrics, gateway,         gateway_tls,
            reservations, reservations_acl};
        every.push_back(notice);
        every.push_back(shelve);
        for (auto& each : duty_sections()) every.push_back(std::move(each));
        for (auto& each : oversubscription_sections()) every.push_back(std::move(each));
        every.push_back(log);
        return every;
    }();
    return all;
}

}  // namespace reaper::config

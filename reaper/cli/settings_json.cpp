#include "reaper/cli/settings_json.hpp"

#include <utility>
#include <variant>

#include "clients/amqp/broker_url.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

json hidden(const config::Secret& secret) {
    return secret.empty() ? json("") : json("***");
}

json to_json(const config::Credentials& c) {
    return {{"auth_url", c.auth_url},
            {"username", c.username},
            {"user_id", c.user_id},
            {"user_domain_name", c.user_domain_name},
            {"user_domain_id", c.user_domain_id},
            {"password", hidden(c.password)},
            {"project_name", c.project_name},
            {"project_id", c.project_id},
            {"project_domain_name", c.project_domain_name},
            {"project_domain_id", c.project_domain_id},
            {"application_credential_id", c.application_credential_id},
            {"application_credential_name", c.application_credential_name},
            {"application_credential_secret", hidden(c.application_credential_secret)}};
}

json to_json(const config::Cloud& c) {
    return {{"auth", to_json(c.credentials)}, {"region", c.region},
            {"interface", c.interface},       {"endpoints", c.endpoint_overrides},
            {"ca_file", c.ca_file},           {"cert_file", c.cert_file},
            {"key_file", c.key_file},         {"verify_tls", c.verify_tls}};
}

json to_json(const config::Http& h) {
    return {{"call_timeout_ms", h.call_timeout.count()},
            {"connect_timeout_ms", h.connect_timeout.count()},
            {"max_connections_per_endpoint", h.max_connections_per_endpoint},
            {"max_retries", h.max_retries},
            {"retry_backoff_ms", h.retry_backoff.count()},
            {"retry_backoff_max_ms", h.retry_backoff_max.count()},
            {"max_body_bytes", h.max_body_bytes}};
}

json broker_names(const std::vector<config::Secret>& urls) {
    json names = json::array();
    for (const config::Secret& url : urls) {
        const auto parsed = parse_broker_url(url);
        names.push_back(parsed ? parsed->name() : "***");
    }
    return names;
}

json to_json(const config::Broker& b) {
    return {{"urls", broker_names(b.urls)},
            {"exchange", b.exchange},
            {"topics", b.topics},
            {"queue", b.queue},
            {"dead_letter_queue", b.dead_letter_queue},
            {"queue_max_length", b.queue_max_length},
            {"dead_letter_max_length", b.dead_letter_max_length},
            {"events_max_length", b.events_max_length},
            {"prefetch", b.prefetch},
            {"heartbeat_ms", std::chrono::milliseconds(b.heartbeat).count()},
            {"connect_timeout_ms", b.connect_timeout.count()},
            {"reconnect_backoff_ms", b.reconnect_backoff.count()},
            {"reconnect_backoff_max_ms", b.reconnect_backoff_max.count()},
            {"ca_file", b.ca_file},
            {"cert_file", b.cert_file},
            {"key_file", b.key_file},
            {"verify_tls", b.verify_tls}};
}

json to_json(const config::Plugin& plugin) {
    json result = {{"name", plugin.name}};
    for (const auto& [name, value] : plugin.parameters)
        result[name] = std::visit([](const auto& held) { return json(held); }, value);
    return result;
}

json to_json(const std::vector<config::Plugin>& plugins) {
    json list = json::array();
    for (const config::Plugin& plugin : plugins) list.push_back(to_json(plugin));
    return list;
}

json to_json(const config::Cull& c) {
    return {{"max_parallel_deletions", c.max_parallel_deletions},
            {"max_rounds", c.max_rounds},
            {"deadline_ms", c.deadline.count()},
            {"poll_interval_ms", c.poll_interval.count()},
            {"promise_ms", c.promise.count()},
            {"watch_ms", c.watch.count()}};
}

json to_json(const ProtectSettings& p) {
    return {{"tags", p.tags},
            {"metadata", p.metadata},
            {"projects", p.projects},
            {"min_run_time_ms", p.min_run_time.count()}};
}

json to_json(const LimitSettings& l) {
    return {{"victims_per_request", l.victims_per_request},
            {"window_ms", l.window.count()},
            {"victims_per_window", l.victims_per_window},
            {"victims_per_project", l.victims_per_project},
            {"victims_per_aggregate", l.victims_per_aggregate}};
}

json to_json(const ThrashSettings& t) {
    return {{"after", t.after},
            {"window_ms", t.window.count()},
            {"grace_ms", t.grace.count()},
            {"max_grace_ms", t.max_grace.count()},
            {"workload_key", t.workload_key}};
}

json to_json(const BreakerSettings& b) {
    return {{"wasted", b.wasted}, {"failed", b.failed}};
}

json to_json(const config::Landing& l) {
    return {{"tenant_filter", l.tenant_filter},
            {"own_aggregates", l.own_aggregates},
            {"trait_isolation", l.trait_isolation},
            {"extra_specs_filter", l.extra_specs_filter}};
}

json to_json(const config::LivePicture& p) {
    return {{"events", p.events},
            {"max_age_ms", p.max_age.count()},
            {"host_max_age_ms", p.host_max_age.count()},
            {"services_interval_ms", p.services_interval.count()},
            {"hosts_per_second", p.hosts_per_second}};
}

}  // namespace

json to_json(const config::Settings& s) {
    return {{"version", report::json_version},
            {"cloud", to_json(s.cloud)},
            {"http", to_json(s.http)},
            {"broker", to_json(s.broker)},
            {"trigger",
             {{"max_age_ms", s.trigger.max_age.count()},
              {"unshelve_interval_ms", s.trigger.unshelve_interval.count()}}},
            {"taggers", to_json(s.policy.taggers)},
            {"tagger_conflict", s.policy.tagger_conflict},
            {"strategy", to_json(s.policy.strategy)},
            {"alternatives", s.policy.alternatives},
            {"pause_file", s.pause_file},
            {"watched_aggregates", s.policy.landing.watched_aggregates},
            {"landing", to_json(s.policy.landing)},
            {"doubt_ms", s.policy.brakes.doubt.count()},
            {"cull", to_json(s.cull)},
            {"protect", to_json(s.policy.brakes.protect)},
            {"limits", to_json(s.policy.brakes.limits)},
            {"thrash", to_json(s.policy.brakes.thrash)},
            {"breaker", to_json(s.policy.brakes.breaker)},
            {"picture", to_json(s.picture)},
            {"mark", {{"servers", s.mark.servers}}},
            {"journal", {{"path", s.journal.path}}},
            {"admin", {{"listen", s.admin.listen}}},
            {"log", {{"level", s.log.level}, {"target", s.log.target}}}};
}

}  // namespace reaper::cli

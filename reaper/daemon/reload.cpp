#include "reaper/daemon/reload.hpp"

#include <tuple>

namespace reaper::cli {
namespace {

// Each part as a tuple. The structured bindings name every member, so that a new one does not
// compile until it is compared too.

std::vector<std::string> revealed(const std::vector<config::Secret>& secrets) {
    std::vector<std::string> texts;
    for (const config::Secret& secret : secrets) texts.push_back(secret.reveal());
    return texts;
}

auto parts(const config::Credentials& credentials) {
    const auto& [url, user, user_id, user_domain, user_domain_id, password, project, project_id,
                 project_domain, project_domain_id, app_id, app_name, app_secret] = credentials;
    return std::tuple(url, user, user_id, user_domain, user_domain_id, password.reveal(), project,
                      project_id, project_domain, project_domain_id, app_id, app_name,
                      app_secret.reveal());
}

auto parts(const config::Cloud& cloud) {
    const auto& [credentials, region, interface, overrides, ca, cert, key, verify] = cloud;
    return std::tuple(parts(credentials), region, interface, overrides, ca, cert, key, verify);
}

auto parts(const config::Http& http) {
    const auto& [call, connect, connections, retries, backoff, backoff_max, body] = http;
    return std::tuple(call, connect, connections, retries, backoff, backoff_max, body);
}

auto parts(const config::Broker& broker) {
    const auto& [urls, exchange, topics, queue, dead, length, dead_length, events_length, prefetch,
                 heartbeat, connect, backoff, backoff_max, ca, cert, key, verify, temporary] =
        broker;
    return std::tuple(revealed(urls), exchange, topics, queue, dead, length, dead_length,
                      events_length, prefetch, heartbeat, connect, backoff, backoff_max, ca, cert,
                      key, verify, temporary);
}

auto parts(const config::Cull& cull) {
    const auto& [parallel, rounds, deadline, poll, promise, watch] = cull;
    return std::tuple(parallel, rounds, deadline, poll, promise, watch);
}

auto parts(const config::LivePicture& picture) {
    const auto& [events, max_age, host_max_age, services, rate] = picture;
    return std::tuple(events, max_age, host_max_age, services, rate);
}

auto parts(const config::Plugin& plugin) {
    const auto& [name, parameters] = plugin;
    return std::tuple(name, parameters);
}

auto parts(const std::vector<config::Plugin>& plugins) {
    std::vector<decltype(parts(plugins.front()))> all;
    for (const config::Plugin& plugin : plugins) all.push_back(parts(plugin));
    return all;
}

auto parts(const config::Trigger& trigger) {
    const auto& [max_age, unshelve_interval] = trigger;
    return std::tuple(max_age, unshelve_interval);
}

auto parts(const config::Landing& landing) {
    const auto& [tenant_filter, own_aggregates, trait_isolation, extra_specs, watched] = landing;
    return std::tuple(tenant_filter, own_aggregates, trait_isolation, extra_specs, watched);
}

auto parts(const config::Admin& admin) {
    const auto& [listen] = admin;
    return std::tuple(listen);
}

auto parts(const config::JournalFile& journal) {
    const auto& [path] = journal;
    return std::tuple(path);
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

SettingsChange compare_settings(const config::Settings& before, const config::Settings& after) {
    const auto& [cloud, http, broker, trigger, policy, cull, picture, mark, journal, log, admin,
                 pause_file] = after;
    const auto& [taggers, conflict, strategy, alternatives, landing, brakes] = policy;
    const auto& [protect, limits, thrash, breaker, doubt] = brakes;
    const BrakeSettings& braked = before.policy.brakes;
    const auto& [level, target] = log;
    SettingsChange change;
    const auto live = [&](const char* name, bool same) {
        if (!same) change.live.emplace_back(name);
    };
    const auto restart = [&](const char* name, bool same) {
        if (!same) change.needs_restart.emplace_back(name);
    };
    live("trigger", parts(before.trigger) == parts(trigger));
    live("taggers", parts(before.policy.taggers) == parts(taggers));
    live("tagger_conflict", before.policy.tagger_conflict == conflict);
    live("strategy", parts(before.policy.strategy) == parts(strategy));
    live("alternatives", before.policy.alternatives == alternatives);
    live("landing", parts(before.policy.landing) == parts(landing));
    live("protect", braked.protect == protect);
    live("limits", braked.limits == limits);
    live("thrash", braked.thrash == thrash);
    live("breaker", braked.breaker == breaker);
    live("doubt", braked.doubt == doubt);
    live("mark", before.mark.servers == mark.servers);
    live("cull", parts(before.cull) == parts(cull));
    live("log.level", before.log.level == level);
    restart("cull.max_parallel_deletions",
            before.cull.max_parallel_deletions == cull.max_parallel_deletions);
    restart("cloud", parts(before.cloud) == parts(cloud));
    restart("http", parts(before.http) == parts(http));
    restart("broker", parts(before.broker) == parts(broker));
    restart("picture", parts(before.picture) == parts(picture));
    restart("journal", parts(before.journal) == parts(journal));
    restart("admin", parts(before.admin) == parts(admin));
    restart("pause_file", before.pause_file == pause_file);
    restart("log.target", before.log.target == target);
    return change;
}

config::Settings with_live_parts(config::Settings in_force, const config::Settings& wanted) {
    in_force.trigger = wanted.trigger;
    in_force.policy = wanted.policy;
    in_force.cull = wanted.cull;
    in_force.mark = wanted.mark;
    in_force.log.level = wanted.log.level;
    return in_force;
}

std::string to_string(const SettingsChange& change) {
    if (change.empty()) return "nothing changed";
    std::string text;
    if (!change.live.empty()) text = "applied: " + joined(change.live);
    if (!change.needs_restart.empty())
        text += (text.empty() ? "" : "; ") + ("needs a restart: " + joined(change.needs_restart));
    return text;
}

}  // namespace reaper::cli

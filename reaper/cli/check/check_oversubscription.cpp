// Checks of oversubscription: what measures it, and what it needs in the cloud.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/setup/oversubscription.hpp"

namespace reaper::cli {
namespace {

/// The answer to one query, by host.
struct HostFigures {
    std::map<HostId, std::vector<double>> of;
    std::set<std::string> strangers;  ///< names of no host
    std::size_t unlabelled = 0;       ///< samples without a label that is needed
    Duration clock_ahead{};           ///< of the monitoring system; 0 without samples
};

const std::string* label_of(const Sample& sample, const std::string& name) {
    const auto at = sample.labels.find(name);
    return at == sample.labels.end() || at->second.empty() ? nullptr : &at->second;
}

/// `server_label` may be empty: it need not be there then.
HostFigures figures_of(const std::vector<Sample>& samples, const HostNames& names,
                       const std::string& host_label, const std::string& server_label,
                       TimePoint now) {
    HostFigures figures;
    for (const auto& sample : samples) {
        figures.clock_ahead = sample.at - now;
        const std::string* const name = label_of(sample, host_label);
        const bool whole =
            name != nullptr && (server_label.empty() || label_of(sample, server_label) != nullptr);
        if (!whole) {
            ++figures.unlabelled;
            continue;
        }
        if (const auto host = names.find(*name))
            figures.of[*host].push_back(sample.value);
        else
            figures.strangers.insert(*name);
    }
    return figures;
}

/// Beyond it, what is fresh looks old, or old what is fresh.
constexpr Duration clocks_may_differ{30'000};

/// Hosts that are tried for their uptime.
constexpr std::size_t most_uptimes = 10;

/// One of the queries, and what is impossible in its answer.
struct Query {
    std::string key;
    std::string expression;
    bool per_server = false;
    double most = HUGE_VAL;  ///< larger values can't be
};

/// Null if its parameters are wrong, which the configuration's check tells.
std::unique_ptr<Estimator> estimator_of(const config::Plugin& plugin) {
    const auto* const info = find_estimator(plugin.name);
    if (info == nullptr) return nullptr;
    auto made = info->make(with_standards(info->parameters, plugin.parameters));
    auto* const estimator = std::get_if<std::unique_ptr<Estimator>>(&made);
    return estimator == nullptr ? nullptr : std::move(*estimator);
}

/// What the estimator and the controller ask for.
std::vector<Query> queries_of(const config::Oversubscription& settings) {
    const config::Prometheus& from = settings.prometheus;
    const auto* const qos_info = find_qos(settings.qos.name);
    bool usage = true;  // what is not enabled is measured to be tried
    LoadFigures figures;
    if (settings.enabled) {
        const auto estimator = estimator_of(settings.estimator);
        usage = estimator != nullptr && estimator->measures();
    }
    if (qos_info != nullptr && settings.qos_source == "prometheus") {
        auto made = qos_info->make(with_standards(qos_info->parameters, settings.qos.parameters));
        if (const auto* const qos = std::get_if<std::unique_ptr<QosController>>(&made))
            figures = (*qos)->figures();
    }
    std::vector<Query> all;
    if (usage) all.push_back({"usage_query", from.usage_query, !from.server_label.empty()});
    if (usage || figures.cores) all.push_back({"cores_query", from.cores_query});
    if (figures.load5) all.push_back({"load5_query", from.load5_query});
    if (figures.load15) all.push_back({"load15_query", from.load15_query});
    if (figures.steal) all.push_back({"steal_query", from.steal_query, false, most_part});
    if (figures.pressure) all.push_back({"pressure_query", from.pressure_query, false, most_part});
    if (figures.guest_steal)
        all.push_back({"guest_steal_query", from.guest_steal_query, true, most_part});
    if (!all.empty()) all.push_back({"age_query", from.age_query});
    return all;
}

class RoomCheck {
public:
    RoomCheck(CloudPorts cloud, CloudSession& session, const config::Oversubscription& settings,
              const Report& report)
        : cloud_{cloud},
          session_{session},
          settings_{settings},
          report_{report},
          room_class_{settings.room_class} {}

    Task<bool> run(Metrics* metrics) {
        if (!settings_.enabled)
            tell(Verdict::ok, "oversubscription",
                 "off (oversubscription.enabled); what it would use is checked");
        const bool known = co_await read_hosts();
        if (!known) co_return false;
        if (metrics != nullptr)
            for (const auto& query : queries_of(settings_)) {
                Query one = query;
                const bool answered = co_await check_query(*metrics, std::move(one));
                if (!answered) break;  // the others say the same
            }
        co_await check_class();
        co_await check_flavors();
        if (settings_.enabled) co_await tell_right();
        if (settings_.qos_source == "nova" && settings_.qos.name != "noop") co_await check_uptime();
        co_return good_;
    }

private:
    void tell(Verdict verdict, std::string what, std::string detail) {
        if (verdict == Verdict::fail) good_ = false;
        report_({verdict, std::move(what), std::move(detail)});
    }

    Task<bool> read_hosts() {
        auto hypervisors = co_await cloud_.compute.hypervisors();
        if (!hypervisors) {
            tell(Verdict::fail, "oversubscription.hosts", hypervisors.error().what);
            co_return false;
        }
        auto aggregates = co_await cloud_.compute.aggregates();
        if (!aggregates) {
            tell(Verdict::fail, "oversubscription.hosts", aggregates.error().what);
            co_return false;
        }
        std::vector<HostFacts> all;
        for (const auto& record : *hypervisors) all.push_back(facts_of(record, *aggregates));
        tell_idle_names(all);
        for (auto& facts : all) {
            every_.add(facts);
            if (sells_room(facts, settings_.hosts, settings_.aggregates))
                hosts_.push_back(std::move(facts));
        }
        const std::string of_all = " of " + std::to_string(hypervisors->size());
        tell(hosts_.empty() ? Verdict::fail : Verdict::ok, "oversubscription.hosts",
             hosts_.empty() ? "none" + of_all + " hosts is one of them"
                            : std::to_string(hosts_.size()) + of_all + " hosts");
        co_return !hosts_.empty();
    }

    void tell_idle_names(const std::vector<HostFacts>& all) {
        const auto estimator = estimator_of(settings_.estimator);
        if (estimator == nullptr) return;
        for (auto& name : idle_names(settings_.hosts, settings_.aggregates, *estimator, all))
            tell(name.no_host ? Verdict::fail : Verdict::warn, std::move(name.key),
                 std::move(name.detail));
    }

    Task<bool> check_query(Metrics& metrics, Query query) {
        std::string expression = query.expression;
        auto samples = co_await metrics.query(std::move(expression));
        if (!samples) {
            tell(Verdict::fail, query.key, samples.error().what);
            co_return samples.error().code == Errc::rejected;
        }
        const std::string no_label;
        const HostFigures figures = figures_of(
            *samples, every_, settings_.prometheus.host_label,
            query.per_server ? settings_.prometheus.server_label : no_label, cloud_.clock.now());
        tell_hosts(query, figures, samples->size());
        tell_values(query, figures);
        if (query.key == "age_query") tell_ages(figures);
        const Duration apart = std::chrono::abs(figures.clock_ahead);
        if (apart > clocks_may_differ && !told_clock_) {
            told_clock_ = true;
            tell(Verdict::fail, "prometheus' clock",
                 "differs from this machine's by " + format_duration(apart) +
                     ": what it measured counts as unknown");
        }
        co_return true;
    }

    /// Hosts without a figure, and figures of no host.
    void tell_hosts(const Query& query, const HostFigures& figures, std::size_t samples) {
        std::set<std::string> without, several;
        for (const auto& facts : hosts_) {
            const auto at = figures.of.find(facts.id);
            if (at == figures.of.end())
                without.insert(facts.name);
            else if (at->second.size() > 1 && !query.per_server)
                several.insert(facts.name);
        }
        const std::string measured = std::to_string(hosts_.size() - without.size()) + " of " +
                                     reaper::counted(hosts_.size(), "host") + " measured";
        if (without.size() == hosts_.size())
            tell(Verdict::fail, query.key,
                 samples == 0 ? "answers, but with nothing: is the exporter scraped?"
                              : "its " + reaper::counted(samples, "figure") + " name" +
                                    (samples == 1 ? "s" : "") + " none of the hosts in label " +
                                    in_quotes(settings_.prometheus.host_label));
        else if (!without.empty())
            tell(Verdict::warn, query.key, measured + "; not: " + name_list(without));
        else
            tell(Verdict::ok, query.key, measured);
        if (!several.empty())
            tell(Verdict::fail, query.key,
                 "more than one figure of a host, which counts as none: " + name_list(several));
        if (!figures.strangers.empty())
            tell(Verdict::warn, query.key,
                 "measured, but hosts of no such name: " + name_list(figures.strangers));
        if (figures.unlabelled > 0)
            tell(Verdict::warn, query.key,
                 reaper::counted(figures.unlabelled, "figure") + " without the label " +
                     in_quotes(settings_.prometheus.host_label) +
                     (query.per_server ? " or " + in_quotes(settings_.prometheus.server_label)
                                       : ""));
    }

    void tell_values(const Query& query, const HostFigures& figures) {
        std::set<std::string> wrong;
        for (const auto& facts : hosts_)
            if (const auto at = figures.of.find(facts.id); at != figures.of.end())
                for (const double value : at->second)
                    if (!std::isfinite(value) || value < 0 || value > query.most)
                        wrong.insert(facts.name);
        if (!wrong.empty())
            tell(Verdict::warn, query.key,
                 "impossible figures, which count as unknown: " + name_list(wrong));
    }

    void tell_ages(const HostFigures& figures) {
        const double most = std::chrono::duration<double>(settings_.publication.max_age).count();
        std::set<std::string> stale;
        for (const auto& facts : hosts_)
            if (const auto at = figures.of.find(facts.id); at != figures.of.end())
                for (const double age : at->second)
                    if (age > most) stale.insert(facts.name);
        if (!stale.empty())
            tell(Verdict::warn, "stale metrics",
                 reaper::counted(stale.size(), "host") + " not measured within max_age (" +
                     exact_duration(settings_.publication.max_age) +
                     "), nothing new fits there: " + name_list(stale));
    }

    /// Providers are made where they are missing, the class too.
    Task<void> check_class() {
        auto classes = co_await cloud_.placement.resource_classes();
        if (!classes) {
            tell(Verdict::fail, "oversubscription.class", classes.error().what);
            co_return;
        }
        if (!classes->contains(room_class_)) {
            tell(settings_.enabled ? Verdict::fail : Verdict::warn, "oversubscription.class",
                 "Placement has no class " + room_class_.str() +
                     ": make it with 'reaper setup oversubscription --apply'");
            co_return;
        }
        auto providers = co_await cloud_.placement.providers();
        if (!providers) {
            tell(Verdict::fail, "oversubscription.class", providers.error().what);
            co_return;
        }
        std::vector<SlotHost> wanted;
        for (const auto& facts : hosts_) wanted.push_back({facts.id, facts.name, {}});
        const auto known = slot_providers(wanted, *providers, room_class_);
        std::set<std::string> without;
        for (const auto& facts : hosts_)
            if (!known.contains(facts.id)) without.insert(facts.name);
        const std::string there = room_class_.str() + " is there, with a provider on " +
                                  std::to_string(known.size()) + " of " +
                                  reaper::counted(hosts_.size(), "host");
        tell(without.empty() ? Verdict::ok : Verdict::warn, "oversubscription.class",
             there + (without.empty() ? ""
                                      : "; not on " + name_list(without) +
                                            ": 'reaper setup oversubscription --apply'"));
    }

    /// It can't be tried.
    Task<void> tell_right() {
        auto who = co_await session_.authenticate();
        if (!who) co_return;  // that is another check's
        const bool admin = is_admin(*who);
        tell(admin ? Verdict::info : Verdict::warn, "right to publish",
             admin
                 ? "not tried; role admin is there, and Placement's default policy lets it change "
                   "inventories"
                 : "not tried; no role admin: the policies "
                   "placement:resource_providers:inventories:update and "
                   "placement:resource_providers:create must allow it");
    }

    Task<void> check_flavors() {
        auto flavors = co_await cloud_.compute.all_flavors();
        if (!flavors) {
            tell(Verdict::fail, "revocable flavors", flavors.error().what);
            co_return;
        }
        std::set<std::string> names, both;
        const std::string no_vcpu = "resources:VCPU";
        for (const auto& [id, flavor] : *flavors) {
            if (!asks_for(flavor, room_class_)) continue;
            names.insert(flavor.name);
            const auto vcpu = flavor.extra_specs.find(no_vcpu);
            if (vcpu == flavor.extra_specs.end() || vcpu->second != "0") both.insert(flavor.name);
        }
        if (names.empty())
            tell(Verdict::warn, "revocable flavors",
                 "none asks for " + room_class_.str() +
                     ": only servers that admit the room by their res-type take it; 'reaper setup "
                     "oversubscription --apply' makes two");
        else
            tell(Verdict::ok, "revocable flavors", name_list(names));
        if (!both.empty())
            tell(Verdict::warn, "revocable flavors",
                 "without resources:VCPU=0, so that their servers hold ordinary VCPU too: " +
                     name_list(both));
    }

    Task<void> check_uptime() {
        std::set<std::string> without;
        const std::size_t asked = std::min(hosts_.size(), most_uptimes);
        for (std::size_t i = 0; i < asked; ++i) {
            HostId host = hosts_[i].id;
            auto averages = co_await cloud_.compute.load_averages(std::move(host));
            if (!averages) {
                tell(Verdict::fail, "oversubscription.qos_source", averages.error().what);
                co_return;
            }
            if (!*averages) without.insert(hosts_[i].name);
        }
        const std::string told = "nova: it asks the host for its load; " +
                                 std::to_string(asked - without.size()) + " of " +
                                 reaper::counted(asked, "host") + " that were tried told it";
        if (without.empty())
            tell(Verdict::ok, "oversubscription.qos_source", told);
        else
            tell(without.size() == asked ? Verdict::fail : Verdict::warn,
                 "oversubscription.qos_source",
                 told + "; not " + name_list(without) +
                     ": nova-compute is down there, or its driver has no uptime; nothing is "
                     "corrected there");
    }

    CloudPorts cloud_;
    CloudSession& session_;
    const config::Oversubscription& settings_;
    const Report& report_;
    ResourceClass room_class_;
    HostNames every_;
    std::vector<HostFacts> hosts_;  // those whose room is sold
    bool good_ = true;
    bool told_clock_ = false;
};

}  // namespace

Task<bool> check_oversubscription(CloudPorts cloud, CloudSession& session, Metrics* metrics,
                                  const config::Oversubscription& settings, const Report& report) {
    if (!settings.enabled && metrics == nullptr) co_return true;
    RoomCheck check{cloud, session, settings, report};
    co_return co_await check.run(metrics);
}

}  // namespace reaper::cli

#include "config/oversubscription.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "config/checks.hpp"
#include "config/values.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/oversubscription/estimator_table.hpp"
#include "reaper/oversubscription/qos_table.hpp"

namespace reaper::config {
namespace {

const std::string whole_section = "oversubscription";

std::string path_of(const std::string& key) {
    return whole_section + "." + key;
}

std::string prometheus_path(const std::string& key) {
    return whole_section + ".prometheus." + key;
}

/// A running server gives back CPU time when it is asked to, and nothing else.
void check_class(const std::string& name, Findings& findings) {
    const ResourceClass stands = stands_for(ResourceClass{name});
    if (stands == ResourceClass{"VCPU"}) return;
    const std::string expected = "CUSTOM_REVOCABLE_VCPU";
    const std::string path = path_of("class");
    if (stands.str() == "MEMORY_MB" || stands.str() == "DISK_GB")
        return findings.error(path,
                              "stands for " + stands.str() +
                                  ": it can't be taken from a server that runs, so what is "
                                  "allocated of it is not sold again",
                              expected);
    findings.error(path,
                   stands.str().empty() ? "is " + shown(name) + ", which stands for no vCPUs"
                                        : "stands for " + shown(stands.str()) + ", not for VCPU",
                   expected);
}

bool names_class(const Plugin& tagger, const std::string& name) {
    const auto found = tagger.parameters.find("class");
    return tagger.name == "resource" && found != tagger.parameters.end() &&
           found->second == ParameterValue{name};
}

/// Its holders must be able to go.
void check_taggers(const Policy& policy, const std::string& name, Findings& findings) {
    const auto& taggers = policy.taggers;
    const bool tagged = std::any_of(taggers.begin(), taggers.end(), [&](const Plugin& tagger) {
        return names_class(tagger, name);
    });
    if (!tagged)
        return findings.error(path_of("enabled"),
                              "is true, and no tagger says that holders of " + name +
                                  " are revocable: they could not be taken back",
                              "{name: resource, class: " + name + "} among the taggers");
    if (taggers.size() > 1 && policy.tagger_conflict == "all")
        findings.error("tagger_conflict",
                       "is all: holders of " + name + " are revocable only if every tagger says so",
                       "any or first, while oversubscription is enabled");
}

/// What the plugin says of itself; none if its parameters are wrong, which was reported already.
template <class Thing, class Info>
std::unique_ptr<Thing> made(const Info* info, const Plugin& plugin) {
    if (info == nullptr) return nullptr;
    auto either = info->make(with_standards(info->parameters, plugin.parameters));
    auto* const thing = std::get_if<std::unique_ptr<Thing>>(&either);
    return thing == nullptr ? nullptr : std::move(*thing);
}

/// The key of the plugin, or the section: it may be there without the other.
void need_url(const std::string& what, const std::string& path, const Prometheus& prometheus,
              Findings& findings) {
    if (!prometheus.url.empty() || findings.has(prometheus_path("url"))) return;
    findings.error(path, what + " without measurements: there is no " + prometheus_path("url"),
                   "where Prometheus is, such as http://127.0.0.1:9090");
}

void check_sources(const Oversubscription& read, Findings& findings) {
    const auto estimator = made<Estimator>(find_estimator(read.estimator.name), read.estimator);
    if (estimator != nullptr && estimator->measures())
        need_url("estimates nothing", path_of("estimator"), read.prometheus, findings);
    const auto qos = made<QosController>(find_qos(read.qos.name), read.qos);
    const LoadFigures figures = qos == nullptr ? LoadFigures{} : qos->figures();
    if (figures.any() && read.qos_source == "prometheus")
        need_url("corrects nothing", path_of("qos"), read.prometheus, findings);
    if (read.qos_source == "nova" && (figures.steal || figures.pressure || figures.guest_steal))
        findings.error(
            path_of("qos_source"),
            "is nova, which knows neither steal nor pressure, as " + read.qos.name + " wants them",
            "prometheus; or qos: {name: load, ...}");
    if (figures.guest_steal &&
        (read.prometheus.guest_steal_query.empty() || read.prometheus.server_label.empty()))
        findings.error(
            path_of("qos"), "needs the wait of each server, and no query gives it",
            prometheus_path("guest_steal_query") + " and " + prometheus_path("server_label"));
}

void check_credentials_of(const Prometheus& prometheus, Findings& findings) {
    const auto given = [&](const std::string& key) {
        return findings.has(prometheus_path(key)) || findings.has(prometheus_path(key + "_file")) ||
               findings.has(prometheus_path(key + "_env"));
    };
    const bool password = given("password");
    if (password && prometheus.username.empty() && !given("username"))
        findings.error(prometheus_path("password"), "is given without username", "both or none");
    if (!password && !prometheus.username.empty())
        findings.error(prometheus_path("username"), "is given without password", "both or none");
    if (given("token") && (password || !prometheus.username.empty()))
        findings.error(prometheus_path("token"), "is given with a user and password",
                       "only one of the two");
}

/// The standard queries are node_exporter's; what is changed in one place must be in the other.
void check_queries(const Prometheus& prometheus, Findings& findings) {
    const Prometheus standard;
    const std::string own = "a query of your own, with these labels";
    if (!prometheus.server_label.empty() && prometheus.usage_query == standard.usage_query)
        findings.error(prometheus_path("server_label"),
                       "is given, and usage_query gives one figure for each host", own);
    if (prometheus.host_label == standard.host_label) return;
    for (const auto& [name, query, usual] :
         {std::tuple{"usage_query", &prometheus.usage_query, &standard.usage_query},
          std::tuple{"cores_query", &prometheus.cores_query, &standard.cores_query},
          std::tuple{"steal_query", &prometheus.steal_query, &standard.steal_query}})
        if (*query == *usual)
            findings.error(prometheus_path("host_label"),
                           "is " + shown(prometheus.host_label) + ", and " + name +
                               " gives one figure for each `instance`",
                           own);
}

}  // namespace

void check_oversubscription(const Settings& settings, Findings& findings) {
    const Oversubscription& read = settings.oversubscription;
    check_class(read.room_class, findings);
    check_credentials_of(read.prometheus, findings);
    check_queries(read.prometheus, findings);
    if (!read.prometheus.verify_tls)
        findings.warn(prometheus_path("verify_tls"), "certificates are not checked",
                      "true, and the CA in ca_file if it is a private one");
    check_order(path_of("quiet"), read.publication.quiet.retry_after, path_of("max_quiet"),
                read.publication.quiet.max_retry_after, findings);
    check_order(path_of("oversubscribed_resources_interval"), read.publication.interval,
                path_of("max_age"), read.publication.max_age, findings);
    if (!read.enabled) return;
    check_taggers(settings.policy, read.room_class, findings);
    check_sources(read, findings);
    if (read.estimator.name == "noop" && read.qos.name == "noop")
        findings.warn(path_of("estimator"), "is noop: nothing is published",
                      "usage_slack or fixed; 'reaper estimators' has their parameters");
}

}  // namespace reaper::config

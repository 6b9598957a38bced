#include <algorithm>
#include <memory>
#include <tuple>

#include "config/checks.hpp"
#include "config/sections.hpp"
#include "config/values.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"

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
    const bool tagged = std::ranges::any_of(
        taggers, [&](const Plugin& tagger) { return names_class(tagger, name); });
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

// The keys of `oversubscription`.

namespace {

using namespace std::chrono_literals;

template <auto... Path>
Target oversubscription_at() {
    return at<&Settings::oversubscription, Path...>();
}

template <auto... Path>
Target publication_at() {
    return oversubscription_at<&Oversubscription::publication, Path...>();
}

template <auto Member>
Target prometheus_at() {
    return oversubscription_at<&Oversubscription::prometheus, Member>();
}

constexpr Text query_text{4096};

std::vector<Key> publication_keys() {
    return {
        {"oversubscribed_resources_interval", Span{1s, 1h}, "15s",
         "between two estimates of each host, and two rises of its room",
         publication_at<&PublicationRules::interval>()},
        {"rise_after", Span{0ms, 24h}, "2min",
         "room rises after the estimate has allowed it for this long",
         publication_at<&PublicationRules::rise_after>()},
        {"rise_step", Fraction{0.01, 1}, "0.25",
         "of the host's cores: the vCPUs of one rise, at least 1",
         publication_at<&PublicationRules::rise_step>()},
        {"hysteresis", WholeNumber{1, 1000}, "1", "vCPUs; a smaller gain is no rise",
         publication_at<&PublicationRules::hysteresis>()},
        {"flaps", WholeNumber{0, 1000}, "3",
         "after this many rises and falls within the window, the host is left alone; 0: never",
         publication_at<&PublicationRules::flaps>()},
        {"flap_window", Span{1min, 168h}, "1h", "in which these are counted",
         publication_at<&PublicationRules::flap_window>()},
        {"quiet", Span{1min, 720h}, "30min",
         "room of a host that is left alone does not rise for this long; doubles each time in a "
         "row",
         publication_at<&PublicationRules::quiet, &RetrySettings::retry_after>()},
        {"max_quiet", Span{1min, 720h}, "8h", "but never longer than this",
         publication_at<&PublicationRules::quiet, &RetrySettings::max_retry_after>()},
        {"trust_after", Span{0ms, 168h}, "1h",
         "room rises on hosts with readings for this long, without gaps",
         publication_at<&PublicationRules::trust_after>()},
        {"max_age", Span{1s, 1h}, "1min",
         "an older reading is ignored: then no new server fits on the host",
         publication_at<&PublicationRules::max_age>()},
    };
}

Section oversubscription_section() {
    std::vector<Key> keys{
        {"enabled", Flag{}, "false", "room is measured, published and taken back",
         oversubscription_at<&Oversubscription::enabled>(), false},
        {"class", Text{255}, "CUSTOM_REVOCABLE_VCPU",
         "of the room; its holders are revocable: the tagger `resource` must name it",
         oversubscription_at<&Oversubscription::room_class>(), false},
        {"hosts", TextList{}, "['*']", "names or patterns: of services or hypervisors",
         oversubscription_at<&Oversubscription::hosts>()},
        {"aggregates", TextList{true}, "[]", "names or UUIDs: of those hosts, only theirs",
         oversubscription_at<&Oversubscription::aggregates>()},
        {"estimator", OnePlugin{OnePlugin::Kind::estimator}, "{name: noop}",
         "how much room a host may have; `reaper estimators` lists them",
         oversubscription_at<&Oversubscription::estimator>()},
    };
    for (auto& key : publication_keys()) keys.push_back(std::move(key));
    keys.push_back({"excess", Choice{{"evict", "drain"}}, "evict",
                    "what is held beyond the estimate is evicted, or stays until it ends",
                    oversubscription_at<&Oversubscription::excess>()});
    keys.push_back({"qos", OnePlugin{OnePlugin::Kind::qos}, "{name: noop}",
                    "when revocable servers of a busy host go; `reaper qos` lists the controllers",
                    oversubscription_at<&Oversubscription::qos>()});
    keys.push_back({"qos_correction_interval_min", Span{1s, 1h}, "20s",
                    "between two readings of the load of each host",
                    oversubscription_at<&Oversubscription::qos_correction_interval_min>()});
    keys.push_back({"qos_source", Choice{{"prometheus", "nova"}}, "prometheus",
                    "where the load comes from; nova: the uptime of hypervisors, for `load` alone",
                    oversubscription_at<&Oversubscription::qos_source>(), false});
    return {"oversubscription", "vCPUs that are allocated but unused, sold to revocable servers",
            std::move(keys), true};
}

Section prometheus_section() {
    return {
        "oversubscription.prometheus",
        "where measurements come from; the queries are of node_exporter",
        {
            {"url", Url{http_urls}, "", "with its path prefix, if it has one",
             prometheus_at<&Prometheus::url>()},
            {"username", Text{}, "", "with password: basic authentication",
             prometheus_at<&Prometheus::username>()},
            {"password", SecretText{}, "", "of the user", prometheus_at<&Prometheus::password>()},
            {"token", SecretText{}, "", "bearer token, instead of user and password",
             prometheus_at<&Prometheus::token>()},
            {"ca_file", ReadableFile{}, "", "PEM, for https://; default: the system's certificates",
             prometheus_at<&Prometheus::ca_file>()},
            {"verify_tls", Flag{}, "true", "whether certificates are checked",
             prometheus_at<&Prometheus::verify_tls>()},
            {"timeout", Span{1ms, longest_wait}, "5s", "of one query",
             prometheus_at<&Prometheus::timeout>()},
            {"host_label", Text{255}, "instance",
             "names the host, as NAME or NAME:PORT: of a service or hypervisor; case is ignored",
             prometheus_at<&Prometheus::host_label>()},
            {"server_label", Text{255}, "",
             "with it, usage_query gives one figure for each server, its UUID in this label",
             prometheus_at<&Prometheus::server_label>()},
            {"usage_query", query_text,
             R"('sum by (instance) (rate(node_cpu_seconds_total{mode!~"idle|iowait|steal"}[2m]))')",
             "cores in use", prometheus_at<&Prometheus::usage_query>()},
            {"cores_query", query_text,
             R"('count by (instance) (node_cpu_seconds_total{mode="idle"})')",
             "cores that there are", prometheus_at<&Prometheus::cores_query>()},
            {"load5_query", query_text, "node_load5", "load average of 5 minutes",
             prometheus_at<&Prometheus::load5_query>()},
            {"load15_query", query_text, "node_load15", "of 15 minutes",
             prometheus_at<&Prometheus::load15_query>()},
            {"steal_query", query_text,
             R"('avg by (instance) (rate(node_cpu_seconds_total{mode="steal"}[2m]))')",
             "the part of CPU time that was stolen, 0 to 1",
             prometheus_at<&Prometheus::steal_query>()},
            {"pressure_query", query_text, "rate(node_pressure_cpu_waiting_seconds_total[2m])",
             "the part of the time in which threads waited for a CPU, 0 to 1",
             prometheus_at<&Prometheus::pressure_query>()},
            {"guest_steal_query", query_text, "",
             "by server (server_label): the part of the time in which its vCPUs waited, 0 to 1",
             prometheus_at<&Prometheus::guest_steal_query>()},
            {"age_query", query_text, "time() - timestamp(node_load5)",
             "seconds since the host's last reading", prometheus_at<&Prometheus::age_query>()},
        }};
}

}  // namespace

std::vector<Section> oversubscription_sections() {
    return {oversubscription_section(), prometheus_section()};
}

}  // namespace reaper::config

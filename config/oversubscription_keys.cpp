// The keys of `oversubscription`.
#include "config/key_targets.hpp"
#include "config/oversubscription.hpp"

namespace reaper::config {
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

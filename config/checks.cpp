#include "config/checks.hpp"

#include <arpa/inet.h>
#include <optional>

#include "config/journal_url.hpp"
#include "config/values.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/time.hpp"

namespace reaper::config {
namespace {

void check_certificate(const std::string& section, const std::string& cert, const std::string& key,
                       Findings& findings) {
    const std::string cert_key = section + ".cert_file";
    const std::string key_key = section + ".key_file";
    // A file that could not be read is a mistake of its own; what counts here is the key.
    const bool has_cert = !cert.empty() || findings.has(cert_key);
    const bool has_key = !key.empty() || findings.has(key_key);
    if (has_cert && !has_key) findings.error(cert_key, "is given without key_file", "both or none");
    if (has_key && !has_cert) findings.error(key_key, "is given without cert_file", "both or none");
}

void check_queues(const Broker& broker, Findings& findings) {
    if (broker.queue == broker.dead_letter_queue) {
        const std::string key =
            findings.has("broker.dead_letter_queue") ? "broker.dead_letter_queue" : "broker.queue";
        findings.error(key, "is the same as the other queue", "two different names");
    }
    const auto check = [&](const std::string& key, const std::string& queue) {
        if (queue.starts_with("amq."))
            findings.error(key, "begins with amq., which RabbitMQ keeps for itself",
                           "another name");
        for (const auto& topic : broker.topics)
            if (queue == topic || queue.starts_with(topic + "."))
                findings.error(key, "is Nova's own queue; its messages are for other programs",
                               "a name of our own, such as reaper");
    };
    check("broker.queue", broker.queue);
    check("broker.dead_letter_queue", broker.dead_letter_queue);
}

/// What is bound to the exchange is `TOPIC.error` and `TOPIC.info`.
void check_topics(const Broker& broker, Findings& findings) {
    for (std::size_t i = 0; i < broker.topics.size(); ++i) {
        const std::string& topic = broker.topics[i];
        const std::string key = "broker.topics[" + std::to_string(i) + "]";
        const std::string expected =
            "that of versioned_notifications_topics in nova.conf, as a rule "
            "versioned_notifications";
        if (topic == "notifications")
            findings.error(key,
                           "is the topic of Nova's unversioned notifications, which say too little",
                           expected);
        else if (topic.ends_with(".error") || topic.ends_with(".info"))
            findings.error(key,
                           "is a routing key, " + shown(topic) + ": the topic is without its end",
                           expected);
        else if (topic.find_first_of("*#") != std::string::npos)
            findings.error(key, "is a pattern", expected);
    }
}

/// A command that runs in another folder than the daemon must find the same file.
void check_absolute(const std::string& key, const std::string& path, Findings& findings) {
    if (path.empty() || path.front() != '/')
        findings.error(key, "is " + shown(path), "an absolute path");
}

struct IpPort {
    std::string ip;  ///< IPv6 in brackets
    std::int64_t port = 0;
};

std::optional<IpPort> ip_port_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    const std::string ip = text.substr(0, colon);
    const auto port = integer_of(text.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return std::nullopt;
    in6_addr parsed{};
    const bool six = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
    const std::string bare = six ? ip.substr(1, ip.size() - 2) : ip;
    if (::inet_pton(six ? AF_INET6 : AF_INET, bare.c_str(), &parsed) != 1) return std::nullopt;
    return IpPort{ip, *port};
}

/// What would ask itself forever.
bool leads_to(const std::string& url, const IpPort& listen) {
    const std::size_t start = url.find("://");
    if (start == std::string::npos) return false;
    const std::string authority =
        url.substr(start + 3, url.find_first_of("/?", start + 3) - start - 3);
    const std::string port = ":" + std::to_string(listen.port);
    return authority == listen.ip + port ||
           (authority == "localhost" + port && listen.ip.starts_with("127."));
}

/// Unauthenticated clients may connect only from this machine, and no token crosses a network in
/// clear text.
void check_admin(const Admin& admin, Findings& findings) {
    const auto listen = ip_port_of(admin.listen);
    // May only this machine ask there?
    const bool here = listen && (listen->ip == "[::1]" || listen->ip.starts_with("127."));
    // A file that can't be read is a mistake of its own.
    const bool tls = !admin.cert_file.empty() || findings.has("admin.tls.cert_file");
    const bool demands = !admin.client_ca_file.empty() || findings.has("admin.tls.client_ca_file");
    const std::string place = "an address and a port from 1 to 65535, such as 127.0.0.1:8787";
    if (!admin.listen.empty() && !listen)
        findings.error("admin.listen", "is " + shown(admin.listen), place);
    else if (!admin.listen.empty() && !here && admin.auth == "none")
        findings.error("admin.listen",
                       "is " + shown(admin.listen) + ", and clients do not authenticate",
                       "an address on loopback, such as 127.0.0.1:8787; or admin.auth");
    else if (!admin.listen.empty() && !here && !tls)
        findings.error("admin.listen", "is " + shown(admin.listen) + " without TLS",
                       "an address on loopback, such as 127.0.0.1:8787; or admin.tls");
    check_certificate("admin.tls", admin.cert_file, admin.key_file, findings);
    if (demands && !tls)
        findings.error("admin.tls.client_ca_file", "given without cert_file", "all three");
    if (admin.owners && admin.auth != "keystone")
        findings.error("admin.owners", "is true, and clients show no token of a project",
                       "admin.auth: keystone");
    if (admin.auth == "certificate" && admin.principals.empty())
        findings.error("admin.principals", "is empty: it admits no certificate",
                       "common names or patterns, such as [ops, 'controller-*']");
    if (admin.auth == "certificate" && !demands)
        findings.error("admin.auth", "is certificate, and none is demanded",
                       "admin.tls.client_ca_file, of which clients must show one");
    if (!admin.socket.empty() && admin.socket.front() != '/')
        findings.error("admin.socket", "is " + shown(admin.socket),
                       "an absolute path, such as /run/reaper/admin.sock");
    const std::string look_place = "an absolute path, such as /run/reaper-look/reaper.sock";
    if (!admin.look_socket.empty() && admin.look_socket.front() != '/')
        findings.error("admin.look_socket", "is " + shown(admin.look_socket), look_place);
    else if (!admin.look_socket.empty() && admin.look_socket == admin.socket)
        findings.error("admin.look_socket", "is that of admin.socket", look_place);
}

void check_metrics(const Settings& settings, Findings& findings) {
    const std::string& listen = settings.metrics.listen;
    if (listen.empty()) return;
    if (!ip_port_of(listen))
        findings.error("metrics.listen", "is " + shown(listen),
                       "an address and a port from 1 to 65535, such as 127.0.0.1:9787");
    else if (listen == settings.admin.listen || listen == settings.gateway.listen)
        findings.error("metrics.listen",
                       "is that of " +
                           std::string{listen == settings.admin.listen ? "admin" : "gateway"} +
                           ".listen",
                       "a port of its own, such as 127.0.0.1:9787");
}

void check_gateway(const Gateway& gateway, Findings& findings) {
    check_certificate("gateway.tls", gateway.cert_file, gateway.key_file, findings);
    if (!gateway.client_ca_file.empty() && gateway.cert_file.empty() &&
        !findings.has("gateway.tls.cert_file"))
        findings.error("gateway.tls.client_ca_file", "is given without cert_file",
                       "cert_file and key_file with it");
    const std::string& prefix = gateway.path_prefix;
    if (!prefix.empty() && (prefix.front() != '/' || prefix.find_first_of("?# %") != prefix.npos))
        findings.error("gateway.path_prefix", "is " + shown(prefix),
                       "a path such as /placement, or /");
    if (gateway.placement_url.find_first_of("?#") != std::string::npos)
        findings.error("gateway.placement_url", "has a query or a fragment",
                       "Placement's endpoint, such as http://controller:8778/placement");
    if (gateway.listen.empty()) {
        if (findings.has("gateway") && !findings.has("gateway.listen"))
            findings.warn("gateway", "has no listen, so there is no gateway", "listen: IP:PORT");
        return;
    }
    const auto listen = ip_port_of(gateway.listen);
    if (!listen)
        findings.error("gateway.listen", "is " + shown(gateway.listen),
                       "an address and a port from 1 to 65535, such as 127.0.0.1:8780");
    else if (leads_to(gateway.placement_url, *listen))
        findings.error("gateway.placement_url", "is the gateway itself",
                       "the endpoint of Placement");
}

/// Reports about the credentials of one place.
struct Reporter {
    const CredentialPlace& place;
    Findings& findings;

    void operator()(const std::string& problem, const std::string& expected) const {
        findings.add_error({place.file, place.line, place.key, problem, expected});
    }
    /// One of the keys must be there. A key that stands there with a bad value was reported
    /// already.
    void need(const std::vector<std::string>& values, const std::vector<std::string>& keys,
              const std::string& what, const std::string& expected) const {
        for (const auto& value : values)
            if (!value.empty()) return;
        for (const auto& key : keys)
            if (findings.has(place.key + "." + key)) return;
        (*this)("has no " + what, expected);
    }
    void need(const Secret& secret, const std::string& key) const {
        if (!secret.empty()) return;
        need({}, {key, key + "_file", key + "_env"}, key,
             key + ", " + key + "_file or " + key + "_env");
    }
};

void check_application_credential(const Credentials& credentials, const Reporter& report) {
    report.need(credentials.application_credential_secret, "application_credential_secret");
    if (!credentials.password.empty())
        report("has both a password and an application credential", "only one of the two");
    const bool user = !credentials.username.empty() || !credentials.user_id.empty();
    if (credentials.application_credential_id.empty() && !user)
        report("names an application credential without its user",
               "application_credential_id, or username or user_id with it");
}

void check_password(const Credentials& credentials, const Reporter& report) {
    if (!credentials.application_credential_secret.empty())
        report("has the secret of an application credential without its id",
               "application_credential_id");
    report.need({credentials.username, credentials.user_id}, {"username", "user_id"}, "user",
                "username or user_id, or an application credential");
    report.need(credentials.password, "password");
    report.need({credentials.project_name, credentials.project_id}, {"project_name", "project_id"},
                "project", "project_name or project_id");
}

}  // namespace

void check_order(const std::string& small, milliseconds less, const std::string& large,
                 milliseconds more, Findings& findings) {
    if (less <= more) return;
    // The file may set only one of the two: the mistake is shown there.
    const std::string& key = findings.has(large) || !findings.has(small) ? large : small;
    const bool at_large = &key == &large;
    findings.error(key,
                   "is " + exact_duration(at_large ? more : less) +
                       (at_large ? ", less than " + small + " (" + exact_duration(less) + ")"
                                 : ", more than " + large + " (" + exact_duration(more) + ")"),
                   at_large ? "at least as much" : "at most as much");
}

/// Of a database, and of a file.
void check_journal(const JournalSettings& journal, Findings& findings) {
    check_absolute("journal.path", journal.path, findings);
    if (journal.in_file()) {
        for (const char* const key : {"journal.password_file", "journal.ca_file"})
            if (findings.has(key))
                findings.error(key, "is given without journal.url", "both, or neither");
        return;
    }
    const std::string example = "mysql://reaper@db1,db2,db3/reaper";
    if (findings.has("journal.path"))
        findings.error("journal.path", "is given with journal.url", "one of the two");
    const auto url = parse_journal_url(journal.url);
    if (!url) return findings.error("journal.url", url.error().what, "such as " + example);
    if (!journal.tls && url->socket.empty())
        findings.warn("journal.tls", "what is written goes over the network in clear",
                      "true, and the CA in ca_file if it is a private one");
}

void check_notice(const NoticeSettings& notice, Findings& findings) {
    for (std::size_t i = 0; i < notice.periods.size(); ++i) {
        const auto period = notice_period_of(notice.periods[i]);
        if (!period || period->second > longest_notice)
            findings.error("notice.periods[" + std::to_string(i) + "]",
                           "is " + shown(notice.periods[i]),
                           "NAME=DURATION of 20min at most, such as m1.spot=2min");
    }
}

void check_settings(const Draft& draft, Findings& findings) {
    const Settings& settings = draft.settings;
    const Http& http = settings.http;
    const Broker& broker = settings.broker;
    const Cull& cull = settings.cull;
    check_order("http.retry_backoff", http.retry_backoff, "http.retry_backoff_max",
                http.retry_backoff_max, findings);
    check_order("http.connect_timeout", http.connect_timeout, "http.call_timeout",
                http.call_timeout, findings);
    check_order("broker.reconnect_backoff", broker.reconnect_backoff,
                "broker.reconnect_backoff_max", broker.reconnect_backoff_max, findings);
    check_order("cull.poll_interval", cull.poll_interval, "cull.deadline", cull.deadline, findings);
    // Room that is no longer watched must not stay promised.
    check_order("cull.promise", cull.promise, "cull.watch", cull.watch, findings);
    const ThrashSettings& thrash = settings.policy.safeguards.thrash;
    check_order("thrash.grace", thrash.grace, "thrash.max_grace", thrash.max_grace, findings);
    check_notice(settings.policy.notice, findings);
    const SafeguardSettings& safeguards = settings.policy.safeguards;
    for (const auto& [path, retry] :
         {std::pair{std::string{"breaker"}, safeguards.breaker.retry},
          std::pair{std::string{"project_breaker"}, safeguards.project_breaker.retry},
          std::pair{std::string{"shape_cooldown"}, safeguards.shape_cooldown.retry},
          std::pair{std::string{"short_lived"}, safeguards.short_lived.retry}})
        check_order(path + ".retry_after", retry.retry_after, path + ".max_retry_after",
                    retry.max_retry_after, findings);
    check_certificate("cloud", settings.cloud.cert_file, settings.cloud.key_file, findings);
    check_certificate("broker", broker.cert_file, broker.key_file, findings);
    check_queues(broker, findings);
    check_topics(broker, findings);
    check_absolute("pause_file", settings.pause_file, findings);
    check_journal(settings.journal, findings);
    // Who dies follows from it: it is written, never assumed.
    if (!findings.has("taggers"))
        findings.error("taggers", "is missing: nothing says which servers are revocable",
                       "a list such as [{name: project, tag: preemptible}]; 'reaper taggers' has "
                       "the names");
    check_admin(settings.admin, findings);
    check_metrics(settings, findings);
    check_gateway(settings.gateway, findings);
    const bool urls = findings.has("broker.urls") || findings.has("broker.urls_file") ||
                      findings.has("broker.urls_env");
    if (!urls)
        findings.error("broker", "has no URL of a broker", "one of urls, urls_file, urls_env");
    const std::string certificates = "true, and the CA in ca_file if it is a private one";
    if (!settings.cloud.verify_tls)
        findings.warn("cloud.verify_tls", "certificates are not checked", certificates);
    if (!broker.verify_tls)
        findings.warn("broker.verify_tls", "certificates are not checked", certificates);
}

void check_credential_source(const Draft& draft, Findings& findings) {
    std::vector<std::string> sources;
    for (const char* const key : {"cloud.name", "cloud.auth"})
        if (findings.has(key)) sources.emplace_back(key);
    if (draft.from_environment) sources.emplace_back("cloud.from_environment");
    if (sources.size() > 1)
        findings.error(sources.back(), "given with " + sources.front(),
                       "only one of name, auth, from_environment");
    if (sources.empty())
        findings.error("cloud", "has no credentials",
                       "one of name (of clouds.yaml), auth, from_environment: true");
    if (findings.has("cloud.clouds_file") && findings.has("cloud.auth"))
        findings.error("cloud.clouds_file", "given with cloud.auth", "it with name, or alone");
}

void check_credentials(Credentials& credentials, const CredentialPlace& place, Findings& findings) {
    const Reporter report{place, findings};
    report.need({credentials.auth_url}, {"auth_url"}, "auth_url", "Keystone's URL");
    if (credentials.uses_application_credential())
        check_application_credential(credentials, report);
    else
        check_password(credentials, report);
    if (!credentials.username.empty() && credentials.user_domain_name.empty() &&
        credentials.user_domain_id.empty())
        credentials.user_domain_id = "default";
    if (!credentials.project_name.empty() && credentials.project_domain_name.empty() &&
        credentials.project_domain_id.empty())
        credentials.project_domain_id = "default";
}

}  // namespace reaper::config

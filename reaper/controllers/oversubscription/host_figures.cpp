#include "reaper/controllers/oversubscription/host_figures.hpp"

#include <algorithm>
#include <cmath>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper {
namespace {

constexpr Duration clocks_may_differ = std::chrono::seconds{30};

std::string why_no_figure(double value, std::string_view what) {
    const bool good = std::isfinite(value) && value >= 0;
    return good ? std::string{} : std::string{what} + " is not a number of 0 or more";
}

}  // namespace

HostNames names_of(const std::vector<const Host*>& hosts) {
    HostNames names;
    for (const Host* const host : hosts) names.add(facts_of(*host));
    return names;
}

std::map<HostId, Figure> figures_by_host(const std::vector<Sample>& samples, const HostNames& names,
                                         const std::string& host_label, std::string_view what) {
    std::map<HostId, Figure> figures;
    for (const Sample& sample : samples) {
        const auto label = sample.labels.find(host_label);
        if (label == sample.labels.end()) continue;
        const auto host = names.find(label->second);
        if (!host) continue;
        const auto [at, is_new] = figures.try_emplace(
            *host, Figure{sample.value, sample.at, why_no_figure(sample.value, what)});
        if (!is_new) at->second.why = std::string{what} + " is reported twice";
    }
    return figures;
}

std::optional<std::string> why_clocks_differ(const std::vector<Sample>& samples, TimePoint from,
                                             TimePoint to) {
    for (const Sample& sample : samples) {
        const Duration ahead = std::chrono::duration_cast<Duration>(sample.at - to);
        const Duration behind = std::chrono::duration_cast<Duration>(from - sample.at);
        const Duration by = std::max(ahead, behind);
        if (by > clocks_may_differ)
            return "the clock of the metrics server differs from ours by " + format_duration(by);
    }
    return std::nullopt;
}

namespace {

/// What is not measured of a server that stands still is nothing.
bool runs(const Server& server) {
    return server.status == "ACTIVE" || server.status == "RESCUE" || server.status == "RESIZE" ||
           server.status == "MIGRATING" || server.status == "REBOOT" ||
           server.status == "HARD_REBOOT" || server.status == "VERIFY_RESIZE";
}

/// Are there servers that a working exporter would report? Holders are not known of an estimated
/// host.
bool others_run(const Host& host, const ResourceClass& room_class) {
    return std::any_of(host.servers.begin(), host.servers.end(), [&](const Server& server) {
        return runs(server) && (host.estimated || oversubscribed_by(server, host, room_class) == 0);
    });
}

OthersUse use_on(const Host& host, ServerFigures measured, Amount held,
                 const ResourceClass& room_class, bool past) {
    OthersUse use;
    use.why = std::move(measured.why);
    if (use.why.empty() && measured.values.empty() && !past && others_run(host, room_class))
        use.why = "servers run there, and the use of none is measured";
    if (host.estimated) {
        double all = 0;
        for (const auto& [server, value] : measured.values) all += value;
        use.used = usage_of_whole(all, held);
    }
    for (const Server& server : host.servers) {
        const auto figure = measured.values.extract(server.id);
        if (host.estimated && !figure.empty()) continue;
        if (oversubscribed_by(server, host, room_class) > 0) continue;
        if (!figure.empty()) {
            use.used.least += figure.mapped();
            use.used.most += figure.mapped();
        } else if (!past && runs(server)) {
            use.used.most += static_cast<double>(vcpus_held(server, host, room_class));
        }
    }
    // Gone, or not there yet.
    if (!host.estimated)
        for (const auto& [server, value] : measured.values) use.used.most += value;
    return use;
}

}  // namespace

std::map<HostId, ServerFigures> figures_by_server(const std::vector<Sample>& samples,
                                                  const HostNames& names,
                                                  const SampleLabels& labels,
                                                  std::string_view what) {
    std::map<HostId, ServerFigures> all;
    for (const Sample& sample : samples) {
        const auto host_label = sample.labels.find(labels.host);
        const auto server_label = sample.labels.find(labels.server);
        if (host_label == sample.labels.end() || server_label == sample.labels.end()) continue;
        const auto host = names.find(host_label->second);
        if (!host || server_label->second.empty()) continue;
        ServerFigures& measured = all[*host];
        const ServerId server{to_lower(server_label->second)};
        const std::string of = std::string{what} + " of server " + printable(server.str(), 64);
        if (!std::isfinite(sample.value) || sample.value < 0)
            measured.why = of + " is not a number of 0 or more";
        else if (!measured.values.try_emplace(server, sample.value).second)
            measured.why = of + " is reported twice";
    }
    return all;
}

std::optional<double> worst_of_regular(const Host& host, const std::map<ServerId, double>& values) {
    std::optional<double> worst;
    bool any = false;
    for (const Server& server : host.servers) {
        if (!runs(server) || (server.revocable() && !host.estimated)) continue;
        any = true;
        if (const auto at = values.find(server.id); at != values.end())
            worst = std::max(worst.value_or(0), at->second);
    }
    return any ? worst : std::optional{0.0};
}

std::map<HostId, OthersUse> use_by_others(const std::vector<Sample>& samples,
                                          const HostNames& names, const SampleLabels& labels,
                                          const std::vector<const Host*>& hosts,
                                          const std::map<HostId, Amount>& held,
                                          const ResourceClass& room_class, bool past) {
    auto measured = figures_by_server(samples, names, labels, "the use");
    std::map<HostId, OthersUse> all;
    for (const Host* const host : hosts) {
        ServerFigures here;
        if (auto node = measured.extract(host->id)) here = std::move(node.mapped());
        const auto at = held.find(host->id);
        const Amount by_holders = at == held.end() ? 0 : at->second;
        all.emplace(host->id, use_on(*host, std::move(here), by_holders, room_class, past));
    }
    return all;
}

Amount oversubscribed_on(const Host& host, const ResourceClass& room_class) {
    Amount held = 0;
    for (const auto& provider : host.providers) held += provider.used.get(room_class);
    return held;
}

Amount oversubscribed_by(const Server& server, const Host& host, const ResourceClass& room_class) {
    Amount held = 0;
    for (const auto& provider : host.providers)
        if (const auto at = server.allocations.find(provider.id); at != server.allocations.end())
            held += at->second.get(room_class);
    return held;
}

Amount vcpus_held(const Server& server, const Host& host, const ResourceClass& room_class) {
    static const ResourceClass vcpu{"VCPU"};
    static const ResourceClass pcpu{"PCPU"};
    const Resources held = held_on(server, host);
    return held.get(vcpu) + held.get(pcpu) + held.get(room_class);
}

}  // namespace reaper

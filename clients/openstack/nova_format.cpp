#include "clients/openstack/nova_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "clients/openstack/reading.hpp"
#include "reaper/model/text.hpp"

namespace reaper::openstack {

namespace {

constexpr const char* host_key = "OS-EXT-SRV-ATTR:host";
constexpr const char* see_host = "os_compute_api:os-extended-server-attributes";
constexpr const char* see_extra_specs = "os_compute_api:servers:show:flavor-extra-specs";

/// A member that policy hides from those who are not administrators.
JsonPlace privileged(const JsonPlace& row, std::string_view key, const std::string& rule) {
    try {
        return row[key];
    } catch (const WrongJson& missing) {
        throw WrongJson{missing.what + ": Nova shows it only to users who pass its policy's rule " +
                            rule + "; give the user the admin role, or let its role pass",
                        Errc::forbidden};
    }
}

Amount swap_of(const JsonPlace& flavor) {
    const JsonPlace swap = flavor["swap"];
    return swap.is_text() && swap.text().empty() ? 0 : swap.integer();  // "" of old releases: none
}

Flavor flavor_from(const JsonPlace& row) {
    Flavor flavor;
    flavor.name = row["original_name"].text();
    flavor.vcpus = row["vcpus"].integer();
    flavor.memory_mb = row["ram"].integer();
    flavor.root_gb = row["disk"].integer();
    flavor.ephemeral_gb = row["ephemeral"].integer();
    flavor.swap_mb = swap_of(row);
    flavor.extra_specs = privileged(row, "extra_specs", see_extra_specs).text_map();
    return flavor;
}

/// As the flavor API shows it; extra specs may be missing.
Flavor shown_flavor_from(const JsonPlace& row) {
    Flavor flavor;
    flavor.name = row["name"].text();
    flavor.vcpus = row["vcpus"].integer();
    flavor.memory_mb = row["ram"].integer();
    flavor.root_gb = row["disk"].integer();
    flavor.ephemeral_gb = row["OS-FLV-EXT-DATA:ephemeral"].integer();
    flavor.swap_mb = swap_of(row);
    if (const auto specs = row.maybe("extra_specs")) flavor.extra_specs = specs->text_map();
    return flavor;
}

/// A server in a cell that Nova can't reach: what is missing stays empty, above all the host.
ServerRecord partial_server(const JsonPlace& row) {
    ServerRecord record;
    record.server.id = ServerId(row["id"].id());
    record.server.project = ProjectId(row["tenant_id"].id());
    record.server.status = row["status"].text();
    record.server.created = row["created"].time();
    return record;
}

/// One server, or a list of them.
std::set<ServerId> hinted(const JsonPlace& hints, std::string_view key) {
    std::set<ServerId> servers;
    const auto value = hints.maybe(key);
    if (!value) return servers;
    if (value->is_text())
        servers.emplace(value->text());
    else
        value->each([&](const JsonPlace& each) { servers.emplace(each.text()); });
    return servers;
}

/// What only newer releases report about one server.
void read_wishes(const JsonPlace& row, ServerRecord& record) {
    if (const auto zone = row.maybe("pinned_availability_zone")) record.zone = zone->text();
    const auto hints = row.maybe("scheduler_hints");
    if (!hints) return;
    record.same_host = hinted(*hints, "same_host");
    record.different_host = hinted(*hints, "different_host");
}

/// By the names of Nova's exceptions, which its tracebacks have in any language, and by its words.
/// Without a name, a failure in the search for hosts is a translated NoValidHost.
FailureCause cause_in(std::string_view text) {
    const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
    if (text.empty()) return FailureCause::not_reported;
    if (has("MaxRetriesExceeded") || has("maximum number of retries"))
        return FailureCause::retries_exhausted;
    if (names_another_cause(text)) return FailureCause::other;
    if (has("NoValidHost") || has("No valid host")) return FailureCause::no_valid_host;
    for (const auto* const another : {"MessagingTimeout", "MessageDeliveryFailure", "RemoteError",
                                      "UnsupportedPolicyException"})
        if (has(another)) return FailureCause::other;
    return has("select_destinations") ? FailureCause::no_valid_host : FailureCause::other;
}

constexpr std::size_t longest_line = 200;

Fault fault_from(const JsonPlace& row) {
    const std::string message = row.text_or_empty("message");
    Fault fault;
    fault.cause = cause_in(message + row.text_or_empty("details"));
    fault.message = first_line(message, longest_line);
    if (const auto at = row.maybe("created")) fault.created = at->time();
    return fault;
}

ActionRecord action_from(const JsonPlace& row) {
    ActionRecord action;
    action.name = row["action"].text();
    action.request = RequestId(row["request_id"].text());
    action.project = ProjectId(row.text_or_empty("project_id"));
    action.user = row.text_or_empty("user_id");
    action.failed = row.text_or_empty("message") == "Error";
    action.started = action.last_event = row["start_time"].time();
    action.ended = action.failed;
    return action;
}

/// What happened to an action. Nova writes an event of the same name again for each of its tries,
/// and the end of each into the first of them: the last end of a name says how it ended, and one is
/// under way that began after it.
void read_events(const JsonPlace& row, ActionRecord& action) {
    struct Tries {
        TimePoint began{}, ended{};
        bool has_ended = false, failed = false;
    };
    const auto events = row.maybe("events");
    if (!events) return;  // not shown
    std::map<std::string, Tries> by_name;
    std::string told;
    events->each([&](const JsonPlace& event) {
        Tries& tries = by_name[event["event"].text()];
        tries.began = std::max(tries.began, event["start_time"].time());
        action.last_event = std::max(action.last_event, tries.began);
        const auto finish = event.maybe("finish_time");
        if (!finish) return;
        const TimePoint ended = finish->time();
        action.last_event = std::max(action.last_event, ended);
        const bool failed = event.text_or_empty("result") == "Error";
        if (!tries.has_ended || ended >= tries.ended) tries.failed = failed;
        tries.ended = std::max(tries.ended, ended);
        tries.has_ended = true;
        if (!failed) return;
        const std::string details = event.text_or_empty("details");
        if (action.message.empty()) action.message = first_line(details, longest_line);
        told += details + event.text_or_empty("traceback");
    });
    if (by_name.empty()) return;  // it has not begun, or failed before it could
    action.ended = true;
    action.failed = false;
    for (const auto& [name, tries] : by_name) {
        action.ended = action.ended && tries.has_ended && tries.ended >= tries.began;
        action.failed = action.failed || tries.failed;
    }
    action.cause = cause_in(told);
}

ServerRecord server_from(const JsonPlace& row) {
    ServerRecord record = partial_server(row);
    Server& server = record.server;
    if (server.status == "UNKNOWN" && !row.has("name")) return record;
    server.name = row["name"].text();
    privileged(row, host_key, see_host);
    server.host = row.text_or_empty(host_key);
    server.task_state = row.text_or_empty("OS-EXT-STS:task_state");
    record.reservation = row.text_or_empty("OS-EXT-SRV-ATTR:reservation_id");
    record.shown_zone = row.text_or_empty("OS-EXT-AZ:availability_zone");
    if (const auto fault = row.maybe("fault")) record.fault = fault_from(*fault);
    server.locked = row["locked"].boolean();
    if (const auto at = row.maybe("OS-SRV-USG:launched_at")) server.launched = at->time();
    if (const auto at = row.maybe("OS-SRV-USG:terminated_at")) record.terminated = at->time();
    server.metadata = row["metadata"].text_map();
    server.tags = row["tags"].text_set();
    record.flavor = flavor_from(row["flavor"]);
    server.flavor_name = record.flavor.name;
    server.flavor_extra_specs = record.flavor.extra_specs;
    const JsonPlace image = row["image"];
    record.boot_from_volume = image.is_null() || (image.is_text() && image.text().empty());
    if (!record.boot_from_volume && !image.is_text()) {
        record.image = image["id"].text();
        if (const auto kept = image.maybe("properties"))
            kept->each_member([&](const std::string& name, const JsonPlace& value) {
                if (value.is_text()) record.image_properties.emplace(name, value.text());
            });
    }
    if (const auto groups = row.maybe("server_groups")) record.groups = groups->texts();
    read_wishes(row, record);
    return record;
}

/// `servers_links: [{"rel": "next", ...}]`: that there is one matters, not where it leads.
bool has_next(const JsonPlace& top, std::string_view links) {
    bool next = false;
    if (const auto list = top.maybe(links))
        list->each([&](const JsonPlace& link) { next = next || link["rel"].text() == "next"; });
    return next;
}

HypervisorRecord hypervisor_from(const JsonPlace& row) {
    HypervisorRecord record;
    record.id = HostId(row["id"].text());
    record.name = row["hypervisor_hostname"].text();
    const JsonPlace service = row["service"];
    record.service_host = service["host"].text();
    record.type = row.text_or_empty("hypervisor_type");
    return record;
}

ComputeServiceRecord service_from(const JsonPlace& row) {
    ComputeServiceRecord record;
    record.host = row["host"].text();
    const std::string status = row["status"].text();
    if (status == "UNKNOWN") {
        record.enabled = false;
        record.up = false;
        record.disabled_reason = "its cell is down";
        return record;
    }
    record.zone = row.text_or_empty("zone");
    record.enabled = status == "enabled";
    record.up = row["state"].text() == "up" && !row["forced_down"].boolean();
    record.disabled_reason = row.text_or_empty("disabled_reason");
    return record;
}

/// `policy` and `rules` since 2.64; before that `policies`, a list of one.
ServerGroup group_from(const JsonPlace& row) {
    ServerGroup group;
    group.id = row["id"].text();
    group.name = row["name"].text();
    if (const auto policy = row.maybe("policy")) {
        group.policy = policy->text();
    } else {
        row["policies"].each([&](const JsonPlace& older) { group.policy = older.text(); });
    }
    const auto rules = row.maybe("rules");
    if (rules && rules->has("max_server_per_host")) {
        const std::int64_t most = (*rules)["max_server_per_host"].integer();
        constexpr std::int64_t beyond_any_host = 1'000'000;
        group.max_on_a_host = static_cast<int>(std::clamp<std::int64_t>(most, 1, beyond_any_host));
    }
    row["members"].each(
        [&](const JsonPlace& member) { group.members.insert(ServerId(member.text())); });
    return group;
}

AggregateRecord aggregate_from(const JsonPlace& row) {
    AggregateRecord record;
    record.uuid = row["uuid"].text();
    record.name = row["name"].text();
    record.hosts = row["hosts"].texts();
    record.metadata = row["metadata"].text_map();
    return record;
}

}  // namespace

Result<ServerPage> read_servers(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        return ServerPage{top["servers"].list(server_from), has_next(top, "servers_links")};
    });
}

Result<ServerRecord> read_server(std::string_view body, const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return server_from(top["server"]); });
}

Result<ActionRecord> read_action(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace row = top["instanceAction"];
        ActionRecord action = action_from(row);
        read_events(row, action);
        return action;
    });
}

Result<ShownFlavor> read_flavor(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace row = top["flavor"];
        return ShownFlavor{shown_flavor_from(row), row.has("extra_specs")};
    });
}

Result<std::map<std::string, std::string>> read_extra_specs(std::string_view body,
                                                            const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return top["extra_specs"].text_map(); });
}

Result<ServerGroup> read_server_group(std::string_view body, const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return group_from(top["server_group"]); });
}

Result<ActionPage> read_actions(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        return ActionPage{top["instanceActions"].list(action_from), has_next(top, "links")};
    });
}

Result<MigrationPage> read_migrations(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        MigrationPage page;
        top["migrations"].each([&](const JsonPlace& row) {
            page.last = row.text_or_empty("uuid");
            if (page.last.empty()) return;
            const ServerId server{row["instance_uuid"].text()};
            page.consumers[server].emplace(page.last);
            // A filter that Nova does not allow is passed over.
            if (row["status"].text() != "finished") return;
            // Since 2025.2 Nova may keep the hosts to itself (os-migrations:index:host).
            std::string source = row.text_or_empty("source_compute");
            if (source.empty()) return;
            page.resizes.push_back({server, ServerId{page.last}, std::move(source)});
        });
        page.more = has_next(top, "migrations_links");
        return page;
    });
}

Result<std::string> read_action_host(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::string host;
        std::optional<TimePoint> newest;
        const JsonPlace action = top["instanceAction"];
        const auto events = action.maybe("events");
        if (!events) return host;
        events->each([&](const JsonPlace& row) {
            // The conductor's own events have the conductor's host.
            if (!row["event"].text().starts_with("compute_")) return;
            std::string on = row.text_or_empty("host");
            const auto at = row["start_time"].time_or_null();
            if (on.empty() || (newest && at && *at < *newest)) return;
            host = std::move(on);
            newest = at;
        });
        return host;
    });
}

Result<std::vector<HostNumbers::Numbered>> read_service_numbers(std::string_view body,
                                                                const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::vector<HostNumbers::Numbered> numbered;
        top["services"].each([&](const JsonPlace& row) {
            if (row["binary"].text() == "nova-compute")
                numbered.push_back({row["host"].text(), row["id"].integer()});
        });
        return numbered;
    });
}

namespace {

/// The last three numbers of `uptime`, of 1, 5 and 15 minutes.
std::optional<LoadAverages> averages_in(std::string_view uptime) {
    constexpr std::string_view head = "load average: ";
    const std::size_t at = uptime.find(head);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = uptime.substr(at + head.size());
    std::array<double, 3> numbers{};
    for (double& number : numbers) {
        if (&number != numbers.data()) {
            if (!rest.starts_with(", ")) return std::nullopt;
            rest.remove_prefix(2);
        }
        const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number,
                                          std::chars_format::fixed);
        if (read.ec != std::errc{} || !(number >= 0)) return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
    }
    return LoadAverages{numbers[1], numbers[2]};
}

}  // namespace

Result<std::optional<LoadAverages>> read_load_averages(std::string_view body,
                                                       const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace hypervisor = top["hypervisor"];
        const JsonPlace uptime = hypervisor["uptime"];
        return uptime.is_null() ? std::nullopt : averages_in(uptime.text());
    });
}

Result<std::vector<HostNumbers::Numbered>> read_hypervisor_numbers(std::string_view body,
                                                                   const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::vector<HostNumbers::Numbered> numbered;
        top["hypervisors"].each([&](const JsonPlace& row) {
            numbered.push_back({row["hypervisor_hostname"].text(), row["id"].integer()});
        });
        return numbered;
    });
}

Result<FlavorPage> read_flavors(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        FlavorPage page;
        top["flavors"].each([&](const JsonPlace& row) {
            page.last_id = row["id"].text();
            page.flavors.insert_or_assign(page.last_id, shown_flavor_from(row));
        });
        return page;
    });
}

Result<std::string> read_flavor_id(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        const JsonPlace flavor = top["flavor"];
        return flavor["id"].id();
    });
}

Result<HypervisorPage> read_hypervisors(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        return HypervisorPage{top["hypervisors"].list(hypervisor_from),
                              has_next(top, "hypervisors_links")};
    });
}

Result<std::vector<ComputeServiceRecord>> read_services(std::string_view body,
                                                        const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::vector<ComputeServiceRecord> services;
        top["services"].each([&](const JsonPlace& row) {
            if (row["binary"].text() == "nova-compute") services.push_back(service_from(row));
        });
        return services;
    });
}

Result<std::vector<AggregateRecord>> read_aggregates(std::string_view body,
                                                     const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return top["aggregates"].list(aggregate_from); });
}

std::string metadata_body(const std::string& key, const std::string& value) {
    return nlohmann::json{{"metadata", {{key, value}}}}.dump();
}

}  // namespace reaper::openstack

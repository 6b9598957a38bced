#include "fakes/fake_cloud.hpp"

#include <algorithm>

#include "fakes/breathe.hpp"

namespace reaper::test {

void FakeCloud::add_host(const std::string& name, Resources capacity, const std::string& zone) {
    hosts_[name] = FakeHost{name, HostId{"rp-" + name}, std::move(capacity)};
    ComputeServiceRecord service;
    service.host = name;
    service.zone = zone;
    services[name] = service;
}

FakeServer& FakeCloud::add_server(const std::string& id, const std::string& host,
                                  const std::string& project, Resources resources) {
    FakeServer added;
    added.record.server.id = ServerId{id};
    added.record.server.name = "name-of-" + id;
    added.record.server.project = ProjectId{project};
    added.record.server.host = host;
    added.record.server.status = "ACTIVE";
    added.record.server.created = clock_.now() - std::chrono::hours{1};
    added.provider = hosts_.at(host).id;
    added.resources = std::move(resources);
    return servers_[ServerId{id}] = std::move(added);
}

void FakeCloud::add_requester(const std::string& id, const std::string& project, Flavor flavor) {
    FakeServer failed;
    failed.record.server.id = ServerId{id};
    failed.record.server.project = ProjectId{project};
    failed.record.server.status = "ERROR";
    failed.record.reservation = "r-1";
    failed.record.fault = Fault{FailureCause::no_valid_host, "No valid host was found.", {}};
    failed.record.image = "image-1";
    if (flavor == Flavor{}) flavor = Flavor{"flavor", 2, 2048, 20, 0, 0, {}};
    failed.record.flavor = std::move(flavor);
    servers_[ServerId{id}] = std::move(failed);
}

bool FakeCloud::exists(const std::string& id) {
    settle();
    return servers_.contains(ServerId{id});
}

std::string FakeCloud::host_of(const std::string& provider) const {
    for (const auto& [name, host] : hosts_)
        if (host.id.str() == provider) return name;
    return {};
}

Resources FakeCloud::free_on(const std::string& host) {
    settle();
    Resources room = hosts_.at(host).capacity;
    for (const auto& [id, server] : servers_)
        if (server.provider == hosts_.at(host).id) room -= server.resources;
    for (const auto& [id, consumer] : consumers)
        if (const auto held = consumer.holds.find(hosts_.at(host).id); held != consumer.holds.end())
            room -= held->second;
    return room;
}

std::vector<std::string> FakeCloud::host_names() const {
    std::vector<std::string> names;
    for (const auto& [name, host] : hosts_) names.push_back(name);
    return names;
}

std::vector<std::string> FakeCloud::living(const std::string& host) {
    settle();
    std::vector<std::string> ids;
    for (const auto& [id, server] : servers_)
        if (server.record.server.host == host) ids.push_back(id.str());
    return ids;
}

std::size_t FakeCloud::count(const std::string& call_prefix) const {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(),
                      [&](const auto& call) { return call.starts_with(call_prefix); }));
}

std::optional<Error> FakeCloud::note(const std::string& call) {
    settle();
    calls.push_back(call);
    return on_call ? on_call(call) : std::nullopt;
}

void FakeCloud::settle() {
    std::erase_if(servers_, [&](const auto& entry) {
        return entry.second.gone_at && *entry.second.gone_at <= clock_.now();
    });
    for (auto& [id, server] : servers_)
        if (server.shelved_at && *server.shelved_at <= clock_.now()) finish_shelving(server);
    std::erase_if(resizes, [&](const UnconfirmedResize& resize) {
        if (servers_.contains(resize.server)) return false;
        consumers.erase(resize.holder);
        return true;
    });
}

/// It waits to be confirmed: so much it left behind there.
void FakeCloud::leave_behind(const std::string& id, const std::string& host, Resources held) {
    server_at(id).record.server.status = "VERIFY_RESIZE";
    const ServerId holder{"migration-" + id};
    consumers[holder].holds[hosts_.at(host).id] = std::move(held);
    resizes.push_back({ServerId{id}, holder, host});
}

ResultTask<std::vector<Project>> FakeCloud::projects_with_tag(std::string tag) {
    co_await breathe();
    if (auto error = note("projects " + tag)) co_return *error;
    std::vector<Project> projects;
    for (const auto& id : tag == "preemptible" ? tagged : std::set<ProjectId>{}) {
        Project project;
        project.id = id;
        project.name = id.str();
        projects.push_back(project);
    }
    co_return projects;
}

ResultTask<std::string> FakeCloud::own_user() {
    co_await breathe();
    co_return own_user_id;
}

ResultTask<std::optional<TimePoint>> FakeCloud::credential_expires() {
    co_await breathe();
    if (auto error = note("credential expiry")) co_return *error;
    co_return own_credential_expires;
}

ResultTask<std::optional<TokenOwner>> FakeCloud::owner_of(std::string token) {
    co_await breathe();
    if (auto error = note("token")) co_return *error;
    const auto at = tokens.find(token);
    if (at == tokens.end()) co_return std::optional<TokenOwner>();
    co_return std::optional<TokenOwner>(at->second);
}

void FakeCloud::soft_delete_by(const std::string& id, const std::string& user) {
    FakeServer& server = server_at(id);
    server.record.server.status = "SOFT_DELETED";
    note_action(ServerId{id}, "delete", user);
}

void FakeCloud::restore_by(const std::string& id, const std::string& user) {
    server_at(id).record.server.status = "ACTIVE";
    note_action(ServerId{id}, "restore", user);
}

void FakeCloud::note_action(const ServerId& id, const std::string& name, const std::string& user) {
    ActionRecord action;
    action.name = name;
    action.user = user;
    action.started = clock_.now();
    auto& actions = histories[id];
    actions.insert(actions.begin(), std::move(action));
}

ResultTask<std::vector<ServerRecord>> FakeCloud::soft_deleted(std::optional<TimePoint> since) {
    co_await breathe();
    if (auto error = note("soft-deleted")) co_return *error;
    std::vector<ServerRecord> records;
    for (const auto& [id, server] : servers_)
        if (server.record.server.status == "SOFT_DELETED" &&
            (!since || histories[id].empty() || histories[id].front().started >= *since))
            records.push_back(server.record);
    co_return records;
}

ResultTask<ProjectSearch> FakeCloud::find_project(std::string written) {
    co_await breathe();
    if (auto error = note("project " + written)) co_return *error;
    ProjectSearch search;
    if (no_projects.contains(written)) {
        search.why_not = "Keystone has no project '" + written + "'";
        co_return search;
    }
    if (const auto known = known_projects.find(written); known != known_projects.end()) {
        search.found = known->second;
        co_return search;
    }
    const auto named = project_names.find(written);
    Project project;
    project.id = ProjectId{named == project_names.end() ? written : named->second};
    project.name = written;
    search.found = std::move(project);
    co_return search;
}

ResultTask<ProjectNames> FakeCloud::names_of_projects() {
    co_await breathe();
    if (auto error = note("names of projects")) co_return *error;
    if (names_take > Duration{0}) co_await clock_.sleep(names_take);
    ProjectNames names;
    for (const auto& [id, name] : listed_names) names.emplace(id, name);
    co_return names;
}

ResultTask<std::map<std::string, Flavor>> FakeCloud::all_flavors() {
    co_await breathe();
    if (auto error = note("flavors")) co_return *error;
    co_return flavors;
}

ResultTask<NovaRelease> FakeCloud::release() {
    co_return nova_release;
}

ResultTask<std::vector<ServerRecord>> FakeCloud::servers(Progress progress) {
    co_await breathe();
    if (auto error = note("servers")) co_return *error;
    std::vector<ServerRecord> records;
    for (const auto& [id, server] : servers_)
        if (server.record.server.status != "SOFT_DELETED") records.push_back(server.record);
    if (progress) progress(records.size());
    co_return records;
}

ResultTask<std::vector<ServerRecord>> FakeCloud::ended_servers(TimePoint since) {
    co_await breathe();
    if (auto error = note("ended servers")) co_return *error;
    std::vector<ServerRecord> records;
    for (const ServerRecord& record : ended)  // an end is a change: `changes-since`
        if (record.terminated && *record.terminated >= since) records.push_back(record);
    co_return records;
}

ResultTask<std::vector<ServerRecord>> FakeCloud::servers_on(std::string service_host) {
    co_await breathe();
    if (auto error = note("servers on " + service_host)) co_return *error;
    std::vector<ServerRecord> records;
    for (const auto& [id, server] : servers_)
        if (server.record.server.host == service_host &&
            server.record.server.status != "SOFT_DELETED")
            records.push_back(server.record);
    co_return records;
}

ResultTask<std::optional<ComputeServiceRecord>> FakeCloud::compute_service(std::string host) {
    co_await breathe();
    if (auto error = note("service " + host)) co_return *error;
    const auto found = services.find(host);
    if (found == services.end()) co_return std::optional<ComputeServiceRecord>{};
    co_return std::optional<ComputeServiceRecord>{found->second};
}

ResultTask<std::optional<ServerRecord>> FakeCloud::server(ServerId id) {
    auto record = co_await server_or_deleted(std::move(id));
    if (record && *record && (*record)->server.status == "DELETED") record->reset();
    co_return record;
}

ResultTask<std::optional<ServerRecord>> FakeCloud::server_or_deleted(ServerId id) {
    co_await breathe();
    if (auto error = note("server " + id.str())) co_return *error;
    if (const auto takes = slow.find(id); takes != slow.end()) co_await clock_.sleep(takes->second);
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return std::optional<ServerRecord>{};
    co_return std::optional<ServerRecord>{found->second.record};
}

void FakeCloud::note_failed(const std::string& request, const std::string& action) {
    ActionRecord record;
    record.name = action;
    record.request = RequestId{request};
    record.failed = record.ended = true;
    record.cause = FailureCause::no_valid_host;
    recorded_actions[request] = record;
}

ResultTask<std::optional<ActionRecord>> FakeCloud::action(ServerId id, RequestId request) {
    co_await breathe();
    if (auto error = note("action " + request.str())) co_return *error;
    const auto found = recorded_actions.find(request.str());
    if (found != recorded_actions.end()) co_return std::optional<ActionRecord>{found->second};
    const auto server = servers_.find(id);
    const bool booting = server != servers_.end() && server->second.record.server.status == "ERROR";
    if (!booting)
        for (const ActionRecord& each : histories[id])
            if (each.request == request) {
                ActionRecord shown = each;
                shown.ended = true;
                co_return std::optional<ActionRecord>{std::move(shown)};
            }
    if (!booting || forgotten.contains(request.str())) co_return std::optional<ActionRecord>{};
    ActionRecord create;
    create.name = "create";
    create.request = request;
    create.failed = create.ended = true;
    co_return std::optional<ActionRecord>{create};
}

ResultTask<std::vector<ServerRecord>> FakeCloud::servers_of(std::string reservation) {
    co_await breathe();
    if (auto error = note("servers of " + reservation)) co_return *error;
    std::vector<ServerRecord> records;
    for (const auto& [id, server] : servers_)
        if (server.record.reservation == reservation) records.push_back(server.record);
    co_return records;
}

ResultTask<std::optional<Flavor>> FakeCloud::flavor(std::string id) {
    co_await breathe();
    if (auto error = note("flavor " + id)) co_return *error;
    const auto found = flavors.find(id);
    if (found == flavors.end()) co_return std::optional<Flavor>{};
    co_return std::optional<Flavor>{found->second};
}

ResultTask<std::vector<ActionRecord>> FakeCloud::actions(ServerId id) {
    co_await breathe();
    if (auto error = note("actions " + id.str())) co_return *error;
    const auto found = histories.find(id);
    if (found == histories.end()) co_return std::vector<ActionRecord>{};
    co_return found->second;
}

void FakeCloud::lock(const std::string& id, const std::string& project) {
    server_at(id).record.server.locked = true;
    ActionRecord locked;
    locked.name = "lock";
    locked.project = ProjectId{project};
    locked.started = clock_.now();
    auto& history = histories[ServerId{id}];
    history.insert(history.begin(), std::move(locked));
}

ResultTask<std::vector<UnconfirmedResize>> FakeCloud::unconfirmed_resizes() {
    co_await breathe();
    if (auto error = note("unconfirmed resizes")) co_return *error;
    co_return resizes;
}

ResultTask<std::set<ServerId>> FakeCloud::migrations_of(ServerId id) {
    co_await breathe();
    if (auto error = note("migrations of " + id.str())) co_return *error;
    const auto found = migrations.find(id);
    if (found == migrations.end()) co_return std::set<ServerId>{};
    co_return found->second;
}

ResultTask<std::optional<std::string>> FakeCloud::last_host(ServerId id) {
    co_await breathe();
    if (auto error = note("last host " + id.str())) co_return *error;
    const auto found = last_hosts.find(id);
    if (found == last_hosts.end()) co_return std::optional<std::string>{};
    co_return std::optional<std::string>{found->second};
}

ResultTask<std::optional<LoadAverages>> FakeCloud::load_averages(HostId host) {
    co_await breathe();
    if (auto error = note("load averages " + host.str())) co_return *error;
    const auto found = load_averages_of.find(host_of(host.str()));
    if (found == load_averages_of.end()) co_return std::optional<LoadAverages>();
    co_return std::optional<LoadAverages>(found->second);
}

ResultTask<HostNumbers> FakeCloud::host_numbers() {
    co_await breathe();
    co_return numbers;
}

ResultTask<std::vector<ServerRecord>> FakeCloud::servers_in(std::set<std::string> statuses,
                                                            std::optional<TimePoint> since) {
    co_await breathe();
    std::string asked = "servers in";
    for (const auto& status : statuses) asked += " " + status;
    listed_since[asked] = since;
    if (auto error = note(asked)) co_return *error;
    if (lists_take > Duration{0}) co_await clock_.sleep(lists_take);
    std::vector<ServerRecord> records;
    for (const auto& [id, server] : servers_)
        if ((statuses.empty() || statuses.contains(server.record.server.status)) &&
            !not_listed.contains(id))
            records.push_back(server.record);
    co_return records;
}

ResultTask<std::vector<HypervisorRecord>> FakeCloud::hypervisors() {
    co_await breathe();
    if (auto error = note("hypervisors")) co_return *error;
    std::vector<HypervisorRecord> records;
    for (const auto& [name, host] : hosts_) {
        if (undiscovered.contains(name)) continue;
        HypervisorRecord record;
        record.id = host.id;
        record.name = name;
        record.service_host = name;
        records.push_back(record);
    }
    co_return records;
}

ResultTask<std::vector<ComputeServiceRecord>> FakeCloud::compute_services() {
    co_await breathe();
    if (auto error = note("services")) co_return *error;
    std::vector<ComputeServiceRecord> records;
    for (const auto& [name, service] : services) records.push_back(service);
    co_return records;
}

ResultTask<std::vector<AggregateRecord>> FakeCloud::aggregates() {
    co_await breathe();
    if (auto error = note("aggregates")) co_return *error;
    co_return host_aggregates;
}

ResultTask<std::optional<ServerGroup>> FakeCloud::server_group(std::string id) {
    co_await breathe();
    if (auto error = note("server group " + id)) co_return *error;
    const auto found = groups.find(id);
    if (found == groups.end()) co_return std::optional<ServerGroup>{};
    co_return std::optional<ServerGroup>{found->second};
}

ResultTask<DeleteAnswer> FakeCloud::delete_server(ServerId id, StillWanted wanted) {
    co_await breathe();
    if (wanted && !wanted(false)) co_return Error{Errc::cancelled, "no longer wanted"};
    if (auto lost = note("DELETE " + id.str())) {
        // The client sends it again, if it may.
        const bool again = lost->code == Errc::unreachable && wanted && wanted(true);
        if (again) lost = note("DELETE " + id.str());
        if (lost) co_return *lost;
    }
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return DeleteAnswer::gone;
    if (conflict_on_delete) co_return DeleteAnswer::conflict;
    if (ignore_deletes) co_return DeleteAnswer::accepted;
    note_action(id, "delete", own_user_id);
    if (soft_delete) {
        found->second.record.server.status = "SOFT_DELETED";
    } else {
        found->second.record.server.task_state = "deleting";
        found->second.gone_at = clock_.now() + deletion_takes;
    }
    co_return DeleteAnswer::accepted;
}

ResultTask<DeleteAnswer> FakeCloud::force_delete_server(ServerId id, StillWanted wanted) {
    co_await breathe();
    if (wanted && !wanted(false)) co_return Error{Errc::cancelled, "no longer wanted"};
    if (auto error = note("FORCE " + id.str())) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return DeleteAnswer::gone;
    if (ignore_deletes) co_return DeleteAnswer::accepted;
    note_action(id, "delete", own_user_id);
    found->second.record.server.task_state = "deleting";
    found->second.gone_at = clock_.now() + deletion_takes;
    co_return DeleteAnswer::accepted;
}

void FakeCloud::finish_shelving(FakeServer& server) const {
    server.shelved_at.reset();
    Server& record = server.record.server;
    const bool offloads = record.task_state == "shelving_offloading" || !shelving.stays_on_host;
    record.task_state = "";
    if (shelving.fails || (offloads && shelving.offload_fails)) return;
    record.status = offloads ? "SHELVED_OFFLOADED" : "SHELVED";
    if (!offloads) return;
    record.host = "";
    server.resources = {};
    server.also.clear();
}

ResultTask<DeleteAnswer> FakeCloud::shelve_server(ServerId id, Departure how, StillWanted wanted) {
    co_await breathe();
    if (wanted && !wanted(false)) co_return Error{Errc::cancelled, "no longer wanted"};
    const bool offloads = how == Departure::offloaded;
    if (auto error = note((offloads ? "OFFLOAD " : "SHELVE ") + id.str())) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return DeleteAnswer::gone;
    Server& server = found->second.record.server;
    if (!server.task_state.empty() || (server.status == "SHELVED") != offloads)
        co_return DeleteAnswer::conflict;
    if (shelving.refusal) {
        if (shelving.marked) server.task_state = "shelving";
        co_return *shelving.refusal;
    }
    note_action(id, offloads ? "shelveOffload" : "shelve", own_user_id);
    server.task_state = offloads ? "shelving_offloading" : "shelving";
    found->second.shelved_at = clock_.now() + shelving.takes;
    co_return DeleteAnswer::accepted;
}

ResultTask<bool> FakeCloud::unshelve_server(ServerId id) {
    co_await breathe();
    if (auto error = note("UNSHELVE " + id.str())) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return false;
    Server& server = found->second.record.server;
    if (!server.status.str().starts_with("SHELVED")) co_return Error{Errc::conflict, "not shelved"};
    note_action(id, "unshelve", own_user_id);
    if (shelving.no_host) co_return true;
    server.status = "ACTIVE";
    co_return true;
}

ResultTask<bool> FakeCloud::set_metadata(ServerId id, std::string key, std::string value) {
    co_await breathe();
    if (auto error = note("MARK " + id.str() + " " + key + "=" + value)) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return false;
    auto metadata = found->second.record.server.metadata.get();
    metadata[key] = value;
    found->second.record.server.metadata = std::move(metadata);
    co_return true;
}

ResultTask<bool> FakeCloud::remove_metadata(ServerId id, std::string key) {
    co_await breathe();
    if (auto error = note("UNMARK " + id.str() + " " + key)) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return false;
    auto metadata = found->second.record.server.metadata.get();
    const bool removed = metadata.erase(key) > 0;
    found->second.record.server.metadata = std::move(metadata);
    co_return removed;
}

ResultTask<bool> FakeCloud::turn(ServerId id, std::string status) {
    co_await breathe();
    if (auto error = note(status + " " + id.str())) co_return *error;
    const auto found = servers_.find(id);
    if (found == servers_.end()) co_return false;
    found->second.record.server.status = std::move(status);
    co_return true;
}

ResultTask<std::optional<ImageProperties>> FakeCloud::image(std::string id) {
    co_await breathe();
    if (auto error = note("image " + id)) co_return *error;
    std::optional<ImageProperties> properties;
    if (const auto found = images.find(id); found != images.end()) properties = found->second;
    co_return properties;
}

ResultTask<std::vector<ServerImage>> FakeCloud::own_server_images() {
    co_await breathe();
    if (auto error = note("snapshots")) co_return *error;
    co_return snapshots;
}

ResultTask<bool> FakeCloud::delete_image(std::string id) {
    co_await breathe();
    if (auto error = note("REMOVE " + id)) co_return *error;
    co_return std::erase_if(snapshots, [&](const ServerImage& each) { return each.id == id; }) > 0;
}

}  // namespace reaper::test

// Nova as the Compute port.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "clients/openstack/nova_format.hpp"
#include "clients/openstack/parts.hpp"
#include "clients/openstack/reading.hpp"
#include "clients/openstack/service.hpp"
#include "reaper/model/flavor.hpp"
#include "reaper/model/interner.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::openstack {

namespace {

constexpr int flavors_on_a_page = 1000;
constexpr int max_flavor_pages = 1000;

/// All flavors by id, all pages; those that are not public too, where we may see them.
ResultTask<std::map<std::string, Flavor>> list_flavors(std::shared_ptr<Service> nova) {
    std::map<std::string, Flavor> flavors;
    std::string marker;
    // A page that adds nothing is the end, whatever the links say.
    for (int number = 0; number < max_flavor_pages; ++number) {
        std::string path =
            "/flavors/detail?is_public=None&limit=" + std::to_string(flavors_on_a_page);
        if (!marker.empty()) path += "&marker=" + http::escape(marker);
        auto answer = co_await get(nova, std::move(path));
        // The flavor at the end of the last page is gone: what follows is not known.
        if (answer && answer->response.status == 400 && !marker.empty())
            co_return Error{Errc::conflict, answer->where + ": the list of flavors changes"};
        auto page = record_in(answer, read_flavors, *nova);
        if (!page) co_return page.error();
        const std::size_t before = flavors.size();
        flavors.merge(page->flavors);
        if (flavors.size() == before) co_return flavors;
        marker = page->last_id;
    }
    co_return Error{Errc::bad_answer, "nova: the list of flavors does not end"};
}

constexpr int page_size = 1000;  // Nova's own usual maximum
constexpr int max_pages = 10'000;
/// How long an earlier answer of Nova's predicts the next one.
constexpr Duration shown_for{30'000};
constexpr int max_restarts = 5;  // of a list whose marker vanished in mid-list

/// `2026-11-20T13:12:30Z`
std::string iso_seconds(TimePoint at) {
    return iso_time(at).substr(0, 19) + "Z";
}

std::string with_marker(std::string path, const std::string& marker) {
    if (!marker.empty()) path += "&marker=" + http::escape(marker);
    return path;
}

/// Of all projects; `filters`: `&name=value...`.
std::string servers_path(const std::string& filters = "") {
    return "/servers/detail?all_tenants=1" + filters + "&limit=" + std::to_string(page_size);
}

std::string server_path(const ServerId& id) {
    return "/servers/" + http::escape(id.str());
}

std::string action_path(const ServerId& id, const RequestId& request) {
    return server_path(id) + "/os-instance-actions/" + http::escape(request.str());
}

struct ListOptions {
    bool with_deleted = false;
    /// As long as all servers are on it, a page without a link to a next one is the last: rows
    /// that Nova counts and leaves out, or has twice, have no host.
    std::string host{};
    /// Servers that are missing are looked for again: a page without a link is the last.
    bool by_links = false;
    /// What else the list may have is left out; empty: nothing is. Nova passes over filters that it
    /// does not allow.
    std::function<bool(const ServerRecord&)> only{};
};

/// Is a list at its end? Nova counts some rows against a page's limit that it then omits or
/// duplicates (hosts without mapping, servers that fail to build). Then it shows no further link
/// although there is more. So only a page that adds nothing is the end.
Result<bool> is_end(bool grew, bool more, const std::string& where, const std::string& marker) {
    if (!grew && more)
        return Error{Errc::bad_answer, where + ": the pages repeat at " + one_line(marker, 60)};
    return !grew;
}

/// A server that moved to a later page meanwhile is taken once, as read last.
void take(std::vector<ServerRecord>& all, std::unordered_map<ServerId, std::size_t>& seen,
          ServerRecord record, std::string& marker) {
    // Rows of a cell that is down can't be markers: Nova would have to find them there.
    if (record.server.status != "UNKNOWN") marker = record.server.id.str();
    const auto [at, is_new] = seen.emplace(record.server.id, all.size());
    if (is_new)
        all.push_back(std::move(record));
    else
        all[at->second] = std::move(record);
}

std::vector<ServerRecord> without_deleted(std::vector<ServerRecord> all) {
    std::erase_if(all,
                  [](const ServerRecord& record) { return record.server.status == "DELETED"; });
    return all;
}

/// None if the list must be read again from its start.
ResultTask<std::optional<std::vector<ServerRecord>>> try_servers(
    const std::shared_ptr<Service>& nova, const std::string& list_path,
    const Compute::Progress& progress, const ListOptions& options) {
    using Listed = std::optional<std::vector<ServerRecord>>;
    std::vector<ServerRecord> all;
    Interner interner;
    std::unordered_map<ServerId, std::size_t> seen;
    std::string marker;
    bool all_on_host = !options.host.empty();
    for (int number = 0; number < max_pages; ++number) {
        std::string path = with_marker(list_path, marker);
        auto answer = co_await get(nova, std::move(path));
        if (answer && answer->response.status == 400 && !marker.empty()) co_return Listed();
        auto page = record_in(answer, read_servers, *nova);
        if (!page) co_return page.error();
        const std::size_t before = seen.size();
        for (ServerRecord& record : page->servers) {
            interner.share(record.server);
            all_on_host = all_on_host && record.server.host == options.host;
            take(all, seen, std::move(record), marker);
        }
        if (progress) progress(seen.size());
        const auto ended = is_end(seen.size() > before, page->more, answer->where, marker);
        if (!ended) co_return ended.error();
        if (*ended || ((all_on_host || options.by_links) && !page->more)) {
            if (!options.with_deleted) all = without_deleted(std::move(all));
            co_return Listed(std::move(all));
        }
    }
    co_return Error{Errc::bad_answer, "nova: the list of servers does not end"};
}

/// All pages of `path`.
ResultTask<std::vector<ServerRecord>> list(std::shared_ptr<Service> nova, std::string path,
                                           ListOptions options, Compute::Progress progress = {}) {
    for (int start = 0; start <= max_restarts; ++start) {
        auto listed = co_await try_servers(nova, path, progress, options);
        if (!listed) co_return listed.error();
        if (*listed && options.only)
            std::erase_if(**listed, [&](const ServerRecord& each) { return !options.only(each); });
        if (*listed) co_return std::move(**listed);
        spdlog::debug("nova: the server at the end of a page was deleted; listing again");
    }
    co_return Error{Errc::conflict, "nova: the list of servers changed under every one of " +
                                        std::to_string(max_restarts + 1) + " readings"};
}

/// What Nova's answers about single servers say of our rights. Only an administrator is shown
/// servers of two projects.
class ShownServers {
public:
    void note(const ProjectId& project, Duration now) {
        if (now < until_ && project != project_) administrator_until_ = now + shown_for;
        project_ = project;
        until_ = now + shown_for;
    }
    bool all(Duration now) const { return now < administrator_until_; }

private:
    ProjectId project_;  ///< of the last one
    Duration until_{};   ///< it is valid until then
    Duration administrator_until_{};
};

/// "Gone" and "not for you to see" are the same answer about one server if we are no administrator;
/// the list distinguishes them. (For a user who is no administrator it is a long one: Nova drops
/// the filter.)
ResultTask<bool> is_listed(std::shared_ptr<Service> nova, ServerId id) {
    std::string path = servers_path() + "&uuid=" + http::escape(id.str());
    ListOptions plain;
    Compute::Progress silent;
    auto listed =
        co_await list(std::move(nova), std::move(path), std::move(plain), std::move(silent));
    if (!listed) co_return listed.error();
    for (const ServerRecord& record : *listed)
        if (record.server.id == id) co_return true;
    co_return false;
}

Error not_shown(const std::string& where) {
    return {Errc::forbidden,
            where +
                ": 404, though Nova's list has it: to Nova the user is no administrator, and "
                "a server that is gone can't be distinguished from one that it may not see; let "
                "its role be one "
                "in Nova's policy file: \"context_is_admin\": \"role:admin or role:ROLE\""};
}

ResultTask<std::optional<ServerRecord>> find_server(std::shared_ptr<Service> nova, ServerId id,
                                                    std::shared_ptr<ShownServers> shown,
                                                    const Clock& clock) {
    std::string path = server_path(id);
    auto answer = co_await get(nova, std::move(path), newest_for_a_server);
    auto record = found_in(answer, read_server, *nova);
    if (!record) co_return record.error();
    if (!*record) {
        if (shown->all(clock.steady())) co_return std::optional<ServerRecord>();
        auto hidden = co_await is_listed(std::move(nova), id);
        if (!hidden) co_return hidden.error();
        if (*hidden) co_return not_shown(answer->where);
        co_return std::optional<ServerRecord>();
    }
    const Server& server = (*record)->server;
    if (server.id != id)
        co_return Error{Errc::bad_answer, answer->where + ": answered with another server, " +
                                              one_line(server.id.str(), 60)};
    shown->note(server.project, clock.steady());
    co_return std::move(*record);
}

ResultTask<std::optional<ServerRecord>> find_living(std::shared_ptr<Service> nova, ServerId id,
                                                    std::shared_ptr<ShownServers> shown,
                                                    const Clock& clock) {
    auto record = co_await find_server(std::move(nova), std::move(id), std::move(shown), clock);
    if (record && *record && (*record)->server.status == "DELETED") record->reset();
    co_return record;
}

ResultTask<std::optional<ActionRecord>> find_action(std::shared_ptr<Service> nova, ServerId id,
                                                    RequestId request) {
    std::string path = action_path(id, request);
    auto answer = co_await get(nova, std::move(path), newest_for_an_action);
    auto action = found_in(answer, read_action, *nova);
    if (action && *action && (*action)->request != request)
        co_return Error{Errc::bad_answer, answer->where + ": answered with another action, " +
                                              one_line((*action)->request.str(), 60)};
    co_return action;
}

ResultTask<std::optional<Flavor>> find_flavor(std::shared_ptr<Service> nova, std::string id) {
    if (id.empty()) co_return Error{Errc::bad_input, "nova: a flavor without an id"};
    const std::string path = "/flavors/" + http::escape(id);
    auto shown = co_await find(nova, path, read_flavor);
    if (!shown) co_return shown.error();
    if (!*shown) co_return std::optional<Flavor>();
    Flavor& flavor = (*shown)->flavor;
    if (!(*shown)->has_extra_specs) {
        std::string specs_at = path + "/os-extra_specs";
        auto specs = co_await find(nova, std::move(specs_at), read_extra_specs);
        if (!specs) co_return specs.error();
        if (!*specs) co_return std::optional<Flavor>();
        flavor.extra_specs = std::move(**specs);
    }
    co_return std::optional<Flavor>(std::move(flavor));
}

/// Of one with very many, the newest of them.
ResultTask<std::vector<ActionRecord>> list_actions(std::shared_ptr<Service> nova, ServerId id) {
    constexpr int most_pages = 20;
    const std::string first = server_path(id) + "/os-instance-actions";
    std::vector<ActionRecord> all;
    for (int pages = 0; pages < most_pages; ++pages) {
        std::string path = first;
        if (!all.empty()) path += "?marker=" + http::escape(all.back().request.str());
        auto page = co_await find(nova, std::move(path), read_actions);
        if (!page) co_return page.error();
        if (!*page) co_return all;
        auto& actions = (*page)->actions;
        const bool more = (*page)->more && !actions.empty();
        all.insert(all.end(), std::make_move_iterator(actions.begin()),
                   std::make_move_iterator(actions.end()));
        if (!more) break;
    }
    co_return all;
}

ResultTask<std::vector<UnconfirmedResize>> list_resizes(std::shared_ptr<Service> nova) {
    // `finished` are those that wait; confirmed or reverted, they have another status.
    const std::string first = "/os-migrations?status=finished";
    std::vector<UnconfirmedResize> all;
    std::string marker;
    do {
        std::string path = with_marker(first, marker);
        auto answer = co_await get(nova, std::move(path));
        if (answer && answer->response.status == 403) co_return all;
        auto page = found_in(answer, read_migrations, *nova);
        if (!page) co_return page.error();
        if (!*page) co_return all;
        marker = (*page)->more ? (*page)->last : std::string();
        all.insert(all.end(), (*page)->resizes.begin(), (*page)->resizes.end());
    } while (!marker.empty());
    co_return all;
}

/// Nova lists the newest first.
ResultTask<std::set<ServerId>> list_migrations_of(std::shared_ptr<Service> nova, ServerId id) {
    std::string path = "/os-migrations?instance_uuid=" + http::escape(id.str());
    auto answer = co_await get(nova, std::move(path));
    std::set<ServerId> none;
    if (answer && answer->response.status == 403) co_return none;
    auto page = found_in(answer, read_migrations, *nova);
    if (!page) co_return page.error();
    if (!*page) co_return none;
    co_return std::move((*page)->consumers[id]);
}

/// Newest first; the compute services' own events report their host (2.62 and later).
ResultTask<std::optional<std::string>> find_last_host(std::shared_ptr<Service> nova, ServerId id) {
    constexpr std::size_t most_looks = 8;
    auto history = co_await list_actions(nova, id);
    if (!history) co_return history.error();
    std::size_t looks = 0;
    for (const ActionRecord& action : *history) {
        if (++looks > most_looks) break;
        std::string path = action_path(id, action.request);
        auto host = co_await find(nova, std::move(path), read_action_host);
        if (!host) co_return host.error();
        if (*host && !(*host)->empty()) co_return host;
    }
    co_return std::optional<std::string>();
}

ResultTask<std::optional<std::vector<HypervisorRecord>>> try_hypervisors(
    const std::shared_ptr<Service>& nova) {
    using Listed = std::optional<std::vector<HypervisorRecord>>;
    std::vector<HypervisorRecord> all;
    std::unordered_set<HostId> seen;
    std::string marker;
    for (int number = 0; number < max_pages; ++number) {
        std::string path =
            with_marker("/os-hypervisors/detail?limit=" + std::to_string(page_size), marker);
        auto answer = co_await get(nova, std::move(path));
        if (answer && answer->response.status == 400 && !marker.empty()) co_return Listed();
        auto page = record_in(answer, read_hypervisors, *nova);
        if (!page) co_return page.error();
        const std::size_t before = all.size();
        for (HypervisorRecord& record : page->hypervisors) {
            marker = record.id.str();
            if (seen.insert(record.id).second) all.push_back(std::move(record));
        }
        const auto ended = is_end(all.size() > before, page->more, answer->where, marker);
        if (!ended) co_return ended.error();
        if (*ended) co_return Listed(std::move(all));
    }
    co_return Error{Errc::bad_answer, "nova: the list of hypervisors does not end"};
}

ResultTask<std::vector<HypervisorRecord>> list_hypervisors(std::shared_ptr<Service> nova) {
    for (int start = 0; start <= max_restarts; ++start) {
        auto listed = co_await try_hypervisors(nova);
        if (!listed) co_return listed.error();
        if (*listed) co_return std::move(**listed);
    }
    co_return Error{Errc::conflict, "nova: the list of hypervisors keeps changing"};
}

ResultTask<std::optional<ComputeServiceRecord>> find_compute_service(std::shared_ptr<Service> nova,
                                                                     std::string host) {
    std::string path = "/os-services?binary=nova-compute&host=" + http::escape(host);
    auto listed = co_await read(std::move(nova), std::move(path), read_services);
    if (!listed) co_return listed.error();
    for (auto& service : *listed)
        if (service.host == host) co_return std::optional<ComputeServiceRecord>(std::move(service));
    co_return std::optional<ComputeServiceRecord>();
}

ResultTask<std::vector<HostNumbers::Numbered>> read_numbers(
    std::shared_ptr<Service> nova, std::string path,
    Reader<std::vector<HostNumbers::Numbered>> reader) {
    ServiceCall call;
    call.path = std::move(path);
    auto answer = co_await nova->call_with(std::move(call), with_numbers);
    co_return record_in(answer, reader, *nova);
}

ResultTask<HostNumbers> read_host_numbers(std::shared_ptr<Service> nova) {
    HostNumbers numbers;
    std::string path = "/os-services?binary=nova-compute";
    auto read = co_await read_numbers(nova, std::move(path), read_service_numbers);
    if (!read) co_return read.error();
    numbers.services = std::move(*read);
    path = "/os-hypervisors";
    read = co_await read_numbers(nova, std::move(path), read_hypervisor_numbers);
    if (!read) co_return read.error();
    numbers.hypervisors = std::move(*read);
    co_return numbers;
}

ResultTask<std::optional<LoadAverages>> find_load_averages(std::shared_ptr<Service> nova,
                                                           HostId host) {
    ServiceCall call;
    call.path = "/os-hypervisors/" + http::escape(host.str()) + "/uptime";
    auto answer = co_await nova->call_with(std::move(call), with_uptime);
    const int status = answer ? answer->response.status : 0;
    // The host is down, or its driver has no such thing.
    if (status == 400 || status == 404 || status == 501) co_return std::optional<LoadAverages>();
    co_return record_in(answer, read_load_averages, *nova);
}

ResultTask<DeleteAnswer> remove(std::shared_ptr<Service> nova, ServerId id, ServiceCall call,
                                Compute::StillWanted wanted) {
    // Without an id the path would be that of the collection.
    if (id.empty()) co_return Error{Errc::bad_input, "nova: delete of a server without an id"};
    call.repeat = http::Repeat::safe;  // the second one finds it gone, or going
    call.still_wanted = std::move(wanted);
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    switch (answer->response.status) {
        case 202:
        case 204: co_return DeleteAnswer::accepted;
        case 404: co_return DeleteAnswer::gone;
        case 409: co_return DeleteAnswer::conflict;
        default: co_return nova->refusal(*answer);
    }
}

/// What may be done twice; false: not found.
ResultTask<bool> change(std::shared_ptr<Service> nova, ServerId id, ServiceCall call) {
    if (id.empty()) co_return Error{Errc::bad_input, "nova: a change of no server"};
    call.path = server_path(id) + call.path;
    call.repeat = http::Repeat::safe;
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status == 404) co_return false;
    if (answer->response.status / 100 != 2) co_return nova->refusal(*answer);
    co_return true;
}

ServiceCall posted(std::string path, std::string body) {
    ServiceCall call;
    call.method = http::Method::post;
    call.path = std::move(path);
    call.body = std::move(body);
    return call;
}

/// The last answer, for a while.
struct KnownRelease {
    NovaRelease release;
    Duration until{};
};

/// It is another one when the cloud was upgraded. `clock` must outlive it.
ResultTask<NovaRelease> read_release(std::shared_ptr<Service> nova,
                                     std::shared_ptr<std::optional<KnownRelease>> known,
                                     Clock& clock) {
    constexpr Duration valid_for = std::chrono::minutes(5);
    if (*known && clock.steady() < (*known)->until) co_return (*known)->release;
    auto newest = co_await nova->newest();
    if (!newest) co_return newest.error();
    *known = KnownRelease{release_of_api(newest->minor), clock.steady() + valid_for};
    co_return (*known)->release;
}

/// Its calls keep what they work on: they may go on when it is destroyed.
class Nova final : public Compute {
public:
    Nova(std::shared_ptr<Service> service, Clock& clock)
        : service_(std::move(service)), clock_(clock) {}

    ResultTask<NovaRelease> release() override { return read_release(service_, release_, clock_); }

    ResultTask<std::vector<ServerRecord>> servers(Progress progress) override {
        return list(service_, servers_path(), {}, std::move(progress));
    }
    ResultTask<std::vector<ServerRecord>> ended_servers(TimePoint since) override {
        ListOptions options;
        options.with_deleted = true;
        options.only = [](const ServerRecord& record) {
            return record.server.status == "DELETED" && record.terminated;
        };
        std::string path =
            servers_path("&deleted=true") + "&changes-since=" + http::escape(iso_seconds(since));
        return list(service_, std::move(path), std::move(options));
    }
    ResultTask<std::vector<ServerRecord>> soft_deleted(std::optional<TimePoint> since) override {
        ListOptions options;
        options.with_deleted = true;
        options.only = [](const ServerRecord& record) {
            return record.server.status == "SOFT_DELETED";
        };
        // Without `deleted`, Nova leaves them out whatever status is asked for.
        std::string path = servers_path("&deleted=true&status=SOFT_DELETED");
        if (since) path += "&changes-since=" + http::escape(iso_seconds(*since));
        return list(service_, std::move(path), std::move(options));
    }
    ResultTask<std::vector<ServerRecord>> servers_on(std::string service_host) override {
        if (service_host.empty())
            return fails<std::vector<ServerRecord>>(
                {Errc::bad_input, "nova: a host without a name"});
        ListOptions options;
        options.host = service_host;
        // Without the right to filter by host, Nova answers with the servers of all hosts.
        options.only = [service_host](const ServerRecord& record) {
            return record.server.host == service_host;
        };
        std::string path = servers_path() + "&host=" + http::escape(service_host);
        return list(service_, std::move(path), std::move(options));
    }
    ResultTask<std::vector<ServerRecord>> servers_of(std::string reservation) override {
        if (reservation.empty())
            return fails<std::vector<ServerRecord>>(
                {Errc::bad_input, "nova: a reservation without an id"});
        ListOptions options;
        options.by_links = true;
        options.only = [reservation](const ServerRecord& record) {
            return record.reservation == reservation;
        };
        std::string path = servers_path() + "&reservation_id=" + http::escape(reservation);
        return list(service_, std::move(path), std::move(options));
    }
    ResultTask<std::vector<ServerRecord>> servers_in(std::set<std::string> statuses,
                                                     std::optional<TimePoint> since) override {
        std::string path = servers_path();
        for (const auto& status : statuses) path += "&status=" + status;
        // A list of changes has deleted ones too, which may be many.
        if (statuses.empty()) path += "&deleted=false";
        if (since) path += "&changes-since=" + http::escape(iso_seconds(*since));
        ListOptions options;
        options.by_links = !statuses.empty();
        // Without the right to ask for a status of all projects, Nova may answer with others; and
        // of several statuses it makes a question that is wider than each.
        if (!statuses.empty())
            options.only = [statuses](const ServerRecord& record) {
                return statuses.contains(record.server.status);
            };
        return list(service_, std::move(path), std::move(options));
    }
    ResultTask<std::optional<ServerRecord>> server(ServerId id) override {
        return find_living(service_, std::move(id), shown_, clock_);
    }
    ResultTask<std::optional<ServerRecord>> server_or_deleted(ServerId id) override {
        return find_server(service_, std::move(id), shown_, clock_);
    }
    ResultTask<std::optional<ActionRecord>> action(ServerId id, RequestId request) override {
        return find_action(service_, std::move(id), std::move(request));
    }
    ResultTask<std::optional<Flavor>> flavor(std::string id) override {
        return find_flavor(service_, std::move(id));
    }
    ResultTask<std::vector<ActionRecord>> actions(ServerId id) override {
        return list_actions(service_, std::move(id));
    }
    ResultTask<std::vector<UnconfirmedResize>> unconfirmed_resizes() override {
        return list_resizes(service_);
    }
    ResultTask<std::set<ServerId>> migrations_of(ServerId id) override {
        return list_migrations_of(service_, std::move(id));
    }
    ResultTask<std::optional<std::string>> last_host(ServerId id) override {
        return find_last_host(service_, std::move(id));
    }
    ResultTask<HostNumbers> host_numbers() override { return read_host_numbers(service_); }
    ResultTask<std::optional<LoadAverages>> load_averages(HostId host) override {
        return find_load_averages(service_, std::move(host));
    }
    ResultTask<std::vector<HypervisorRecord>> hypervisors() override {
        return list_hypervisors(service_);
    }
    ResultTask<std::vector<ComputeServiceRecord>> compute_services() override {
        return read(service_, "/os-services?binary=nova-compute", read_services);
    }
    ResultTask<std::optional<ComputeServiceRecord>> compute_service(std::string host) override {
        return find_compute_service(service_, std::move(host));
    }
    ResultTask<std::vector<AggregateRecord>> aggregates() override {
        return read(service_, "/os-aggregates", read_aggregates);
    }
    ResultTask<std::map<std::string, Flavor>> all_flavors() override {
        return list_flavors(service_);
    }
    ResultTask<std::optional<ServerGroup>> server_group(std::string id) override {
        return find(service_, "/os-server-groups/" + http::escape(id), read_server_group);
    }
    ResultTask<DeleteAnswer> delete_server(ServerId id, StillWanted wanted) override {
        ServiceCall call;
        call.method = http::Method::del;
        call.path = server_path(id);
        return remove(service_, std::move(id), std::move(call), std::move(wanted));
    }
    ResultTask<DeleteAnswer> force_delete_server(ServerId id, StillWanted wanted) override {
        ServiceCall call;
        call.method = http::Method::post;
        call.path = server_path(id) + "/action";
        call.body = R"({"forceDelete": null})";
        return remove(service_, std::move(id), std::move(call), std::move(wanted));
    }
    ResultTask<DeleteAnswer> shelve_server(ServerId id, Departure how,
                                           StillWanted wanted) override {
        ServiceCall call;
        call.method = http::Method::post;
        call.path = server_path(id) + "/action";
        call.body =
            how == Departure::offloaded ? R"({"shelveOffload": null})" : R"({"shelve": null})";
        return remove(service_, std::move(id), std::move(call), std::move(wanted));
    }
    ResultTask<bool> unshelve_server(ServerId id) override {
        return change(service_, std::move(id), posted("/action", R"({"unshelve": null})"));
    }
    ResultTask<bool> set_metadata(ServerId id, std::string key, std::string value) override {
        return change(service_, std::move(id), posted("/metadata", metadata_body(key, value)));
    }
    ResultTask<bool> remove_metadata(ServerId id, std::string key) override {
        ServiceCall call;
        call.method = http::Method::del;
        call.path = "/metadata/" + http::escape(key);
        return change(service_, std::move(id), std::move(call));
    }
    ResultTask<bool> stop_server(ServerId id) override {
        return change(service_, std::move(id), posted("/action", R"({"os-stop": null})"));
    }
    ResultTask<bool> start_server(ServerId id) override {
        return change(service_, std::move(id), posted("/action", R"({"os-start": null})"));
    }

private:
    std::shared_ptr<Service> service_;
    Clock& clock_;
    std::shared_ptr<ShownServers> shown_ = std::make_shared<ShownServers>();
    std::shared_ptr<std::optional<KnownRelease>> release_ =
        std::make_shared<std::optional<KnownRelease>>();
};

}  // namespace

std::unique_ptr<Compute> make_compute(std::shared_ptr<Service> nova, Clock& clock) {
    return std::make_unique<Nova>(std::move(nova), clock);
}

// Nova as the FlavorSetup port.

namespace {

Error refused_by_nova(const Service& nova, const Answer& answer, const char* policy) {
    Error error = nova.refusal(answer);
    if (answer.response.status == 403)
        error.what += std::string{"; this needs Nova's policy "} + policy;
    return error;
}

ResultTask<std::string> post_flavor(std::shared_ptr<Service> nova, Flavor wanted) {
    const nlohmann::json flavor = {{"name", wanted.name},
                                   {"vcpus", wanted.vcpus},
                                   {"ram", wanted.memory_mb},
                                   {"disk", wanted.root_gb},
                                   {"swap", wanted.swap_mb},
                                   {"OS-FLV-EXT-DATA:ephemeral", wanted.ephemeral_gb},
                                   {"os-flavor-access:is_public", true}};
    ServiceCall call;
    call.method = http::Method::post;
    call.path = "/flavors";
    call.body = nlohmann::json{{"flavor", flavor}}.dump();
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status != 200)
        co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-manage:create");
    co_return read_flavor_id(answer->response.body, answer->where);
}

ResultTask<void> post_extra_specs(std::shared_ptr<Service> nova, std::string id,
                                  std::map<std::string, std::string> specs) {
    ServiceCall call;
    call.method = http::Method::post;
    call.path = "/flavors/" + http::escape(id) + "/os-extra_specs";
    call.body = nlohmann::json{{"extra_specs", specs}}.dump();
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    if (answer->response.status == 200) co_return Result<void>{};
    co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-extra-specs:create");
}

ResultTask<void> delete_flavor(std::shared_ptr<Service> nova, std::string id) {
    ServiceCall call;
    call.method = http::Method::del;
    call.path = "/flavors/" + http::escape(id);
    call.repeat = http::Repeat::safe;
    auto answer = co_await nova->call(std::move(call));
    if (!answer) co_return answer.error();
    const int status = answer->response.status;
    if (status == 202 || status == 204 || status == 404) co_return Result<void>{};
    co_return refused_by_nova(*nova, *answer, "os_compute_api:os-flavor-manage:delete");
}

/// Its calls keep the service: they may go on when it is destroyed.
class ServiceFlavors final : public FlavorSetup {
public:
    explicit ServiceFlavors(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    ResultTask<std::string> create_flavor(Flavor wanted) override {
        return post_flavor(service_, std::move(wanted));
    }
    ResultTask<void> set_extra_specs(std::string id,
                                     std::map<std::string, std::string> specs) override {
        return post_extra_specs(service_, std::move(id), std::move(specs));
    }
    ResultTask<void> remove_flavor(std::string id) override {
        return delete_flavor(service_, std::move(id));
    }

private:
    std::shared_ptr<Service> service_;
};

}  // namespace

std::unique_ptr<FlavorSetup> make_flavor_setup(std::shared_ptr<Service> nova) {
    return std::make_unique<ServiceFlavors>(std::move(nova));
}

}  // namespace reaper::openstack

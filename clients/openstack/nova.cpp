#include "clients/openstack/nova.hpp"

#include <chrono>
#include <spdlog/spdlog.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/text.hpp"
#include "clients/http/url.hpp"
#include "clients/openstack/nova_flavors.hpp"
#include "clients/openstack/nova_format.hpp"
#include "reaper/model/interner.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::openstack {

namespace {

constexpr int page_size = 1000;  // Nova's own usual maximum
constexpr int max_pages = 10'000;
/// For how long what Nova showed tells what it would show.
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

class Nova {
public:
    Nova(std::shared_ptr<Service> service, Clock& clock)
        : service_(std::move(service)), clock_(clock) {}

    /// It is another one when the cloud was upgraded.
    ResultTask<NovaRelease> release() {
        constexpr Duration told_for = std::chrono::minutes(5);
        if (release_ && clock_.steady() < release_until_) co_return *release_;
        auto newest = co_await service_->newest();
        if (!newest) co_return newest.error();
        release_ = release_of_api(newest->minor);
        release_until_ = clock_.steady() + told_for;
        co_return *release_;
    }

    ResultTask<std::vector<ServerRecord>> servers(Compute::Progress progress) {
        std::string everything = "/servers/detail?all_tenants=1&limit=" + std::to_string(page_size);
        ListOptions plain;
        co_return co_await list(std::move(everything), std::move(progress), std::move(plain));
    }

    ResultTask<std::vector<ServerRecord>> ended_servers(TimePoint since) {
        std::string path =
            "/servers/detail?all_tenants=1&deleted=true&limit=" + std::to_string(page_size) +
            "&changes-since=" + http::escape(iso_seconds(since));
        Compute::Progress silent;
        ListOptions deleted_too;
        deleted_too.with_deleted = true;
        auto listed = co_await list(std::move(path), std::move(silent), std::move(deleted_too));
        if (listed)
            std::erase_if(*listed, [](const ServerRecord& record) {
                return record.server.status != "DELETED" || !record.terminated;
            });
        co_return listed;
    }

    ResultTask<std::vector<ServerRecord>> soft_deleted(std::optional<TimePoint> since) {
        // Without `deleted`, Nova leaves them out whatever status is asked for.
        std::string path = "/servers/detail?all_tenants=1&deleted=true&status=SOFT_DELETED&limit=" +
                           std::to_string(page_size);
        if (since) path += "&changes-since=" + http::escape(iso_seconds(*since));
        Compute::Progress silent;
        ListOptions deleted_too;
        deleted_too.with_deleted = true;
        auto listed = co_await list(std::move(path), std::move(silent), std::move(deleted_too));
        if (listed)
            std::erase_if(*listed, [](const ServerRecord& record) {
                return record.server.status != "SOFT_DELETED";
            });
        co_return listed;
    }

    ResultTask<std::vector<ServerRecord>> servers_on(std::string service_host) {
        if (service_host.empty()) co_return Error{Errc::bad_input, "nova: a host without a name"};
        std::string path = "/servers/detail?all_tenants=1&limit=" + std::to_string(page_size) +
                           "&host=" + http::escape(service_host);
        Compute::Progress silent;
        ListOptions of_a_host;
        of_a_host.host = service_host;
        auto listed = co_await list(std::move(path), std::move(silent), std::move(of_a_host));
        // Without the right to filter by host, Nova answers with the servers of all hosts.
        if (listed)
            std::erase_if(*listed, [&](const ServerRecord& record) {
                return record.server.host != service_host;
            });
        co_return listed;
    }

    struct ListOptions {
        bool with_deleted = false;
        /// As long as all servers are on it, a page without a link to a next one is the last: rows
        /// that Nova counts and leaves out, or has twice, have no host.
        std::string host;
        /// Whoever is left out is looked for again: a page without a link is the last.
        bool by_links = false;
    };

    /// All pages of `path`.
    ResultTask<std::vector<ServerRecord>> list(std::string path, Compute::Progress progress,
                                               ListOptions options) {
        for (int start = 0; start <= max_restarts; ++start) {
            auto listed = co_await try_servers(path, progress, options);
            if (!listed) co_return listed.error();
            if (*listed) co_return std::move(**listed);
            spdlog::debug("nova: the server at the end of a page was deleted; listing again");
        }
        co_return Error{Errc::conflict, "nova: the list of servers changed under every one of " +
                                            std::to_string(max_restarts + 1) + " readings"};
    }

    ResultTask<std::optional<ServerRecord>> server(ServerId id) {
        std::string path = "/servers/" + http::escape(id.str());
        auto answer = co_await get(std::move(path), newest_for_a_server);
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) {
            if (clock_.steady() < administrator_until_) co_return std::optional<ServerRecord>();
            auto hidden = co_await is_listed(id);
            if (!hidden) co_return hidden.error();
            if (*hidden) co_return not_shown(answer->where);
            co_return std::optional<ServerRecord>();
        }
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        auto record = read_server(answer->response.body, answer->where);
        if (!record) co_return record.error();
        if (record->server.id != id)
            co_return Error{Errc::bad_answer, answer->where + ": answered with another server, " +
                                                  http::one_line(record->server.id.str(), 60)};
        note_shown(record->server.project);
        if (record->server.status == "DELETED") co_return std::optional<ServerRecord>();
        co_return std::optional<ServerRecord>(std::move(*record));
    }

    /// Only an administrator is shown servers of two projects.
    void note_shown(const ProjectId& project) {
        const Duration now = clock_.steady();
        if (now < shown_until_ && project != shown_project_) administrator_until_ = now + shown_for;
        shown_project_ = project;
        shown_until_ = now + shown_for;
    }

    ResultTask<std::optional<ActionRecord>> action(ServerId id, RequestId request) {
        std::string path = "/servers/" + http::escape(id.str()) + "/os-instance-actions/" +
                           http::escape(request.str());
        auto answer = co_await get(std::move(path), newest_for_an_action);
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return std::optional<ActionRecord>();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        auto action = read_action(answer->response.body, answer->where);
        if (!action) co_return action.error();
        if (action->request != request)
            co_return Error{Errc::bad_answer, answer->where + ": answered with another action, " +
                                                  http::one_line(action->request.str(), 60)};
        co_return std::optional<ActionRecord>(std::move(*action));
    }

    ResultTask<std::vector<ServerRecord>> servers_of(std::string reservation) {
        if (reservation.empty())
            co_return Error{Errc::bad_input, "nova: a reservation without an id"};
        std::string path = "/servers/detail?all_tenants=1&limit=" + std::to_string(page_size) +
                           "&reservation_id=" + http::escape(reservation);
        Compute::Progress silent;
        ListOptions plain;
        auto listed = co_await list(std::move(path), std::move(silent), std::move(plain));
        // A filter that Nova does not allow is passed over.
        if (listed)
            std::erase_if(*listed, [&](const ServerRecord& record) {
                return record.reservation != reservation;
            });
        co_return listed;
    }

    ResultTask<std::optional<Flavor>> flavor(std::string id) {
        if (id.empty()) co_return Error{Errc::bad_input, "nova: a flavor without an id"};
        const std::string path = "/flavors/" + http::escape(id);
        std::string shown_at = path;
        auto answer = co_await get(std::move(shown_at));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return std::optional<Flavor>();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        auto shown = read_flavor(answer->response.body, answer->where);
        if (!shown) co_return shown.error();
        if (!shown->has_extra_specs) {
            std::string specs_at = path + "/os-extra_specs";
            auto specs = co_await get(std::move(specs_at));
            if (!specs) co_return specs.error();
            if (specs->response.status == 404) co_return std::optional<Flavor>();
            if (specs->response.status != 200) co_return service_->refusal(*specs);
            auto read = read_extra_specs(specs->response.body, specs->where);
            if (!read) co_return read.error();
            shown->flavor.extra_specs = std::move(*read);
        }
        co_return std::optional<Flavor>(std::move(shown->flavor));
    }

    /// Of one with very many, the newest of them.
    ResultTask<std::vector<ActionRecord>> actions(ServerId id) {
        constexpr int most_pages = 20;
        const std::string first = "/servers/" + http::escape(id.str()) + "/os-instance-actions";
        std::vector<ActionRecord> all;
        for (int pages = 0; pages < most_pages; ++pages) {
            std::string path = first;
            if (!all.empty()) path += "?marker=" + http::escape(all.back().request.str());
            auto answer = co_await get(std::move(path));
            if (!answer) co_return answer.error();
            if (answer->response.status == 404) co_return all;
            if (answer->response.status != 200) co_return service_->refusal(*answer);
            auto page = read_actions(answer->response.body, answer->where);
            if (!page) co_return page.error();
            const bool more = page->more && !page->actions.empty();
            all.insert(all.end(), std::make_move_iterator(page->actions.begin()),
                       std::make_move_iterator(page->actions.end()));
            if (!more) break;
        }
        co_return all;
    }

    ResultTask<std::vector<UnconfirmedResize>> unconfirmed_resizes() {
        // `finished` are those that wait; confirmed or reverted, they have another status.
        const std::string first = "/os-migrations?status=finished";
        std::vector<UnconfirmedResize> all;
        std::string marker;
        do {
            std::string path = first;
            if (!marker.empty()) path += "&marker=" + http::escape(marker);
            auto answer = co_await get(std::move(path));
            if (!answer) co_return answer.error();
            const int status = answer->response.status;
            if (status == 403 || status == 404) co_return all;
            if (status != 200) co_return service_->refusal(*answer);
            auto page = read_migrations(answer->response.body, answer->where);
            if (!page) co_return page.error();
            marker = page->more ? page->last : std::string();
            all.insert(all.end(), page->resizes.begin(), page->resizes.end());
        } while (!marker.empty());
        co_return all;
    }

    /// Newest first; the compute services' own events tell their host (2.62 and later).
    ResultTask<std::optional<std::string>> last_host(ServerId id) {
        constexpr std::size_t most_looks = 8;
        auto history = co_await actions(id);
        if (!history) co_return history.error();
        std::size_t looks = 0;
        for (const ActionRecord& action : *history) {
            if (++looks > most_looks) break;
            std::string path = "/servers/" + http::escape(id.str()) + "/os-instance-actions/" +
                               http::escape(action.request.str());
            auto answer = co_await get(std::move(path));
            if (!answer) co_return answer.error();
            if (answer->response.status == 404) continue;
            if (answer->response.status != 200) co_return service_->refusal(*answer);
            auto host = read_action_host(answer->response.body, answer->where);
            if (!host) co_return host.error();
            if (!host->empty()) co_return std::optional<std::string>(std::move(*host));
        }
        co_return std::optional<std::string>();
    }

    ResultTask<std::vector<ServerRecord>> servers_in(std::set<std::string> statuses,
                                                     std::optional<TimePoint> since) {
        std::string path = "/servers/detail?all_tenants=1&limit=" + std::to_string(page_size);
        for (const auto& status : statuses) path += "&status=" + status;
        // A list of changes has deleted ones too, which may be many.
        if (statuses.empty()) path += "&deleted=false";
        if (since) path += "&changes-since=" + http::escape(iso_seconds(*since));
        Compute::Progress silent;
        ListOptions options;
        options.by_links = !statuses.empty();
        auto listed = co_await list(std::move(path), std::move(silent), std::move(options));
        // Without the right to ask for a status of all projects, Nova may answer with others; and
        // of several statuses it makes a question that is wider than each.
        if (listed && !statuses.empty())
            std::erase_if(*listed, [&](const ServerRecord& record) {
                return !statuses.contains(record.server.status);
            });
        co_return listed;
    }

    ResultTask<std::vector<HypervisorRecord>> hypervisors() {
        for (int start = 0; start <= max_restarts; ++start) {
            auto listed = co_await try_hypervisors();
            if (!listed) co_return listed.error();
            if (*listed) co_return std::move(**listed);
        }
        co_return Error{Errc::conflict, "nova: the list of hypervisors changes all the time"};
    }

    ResultTask<std::vector<ComputeServiceRecord>> compute_services() {
        std::string path = "/os-services?binary=nova-compute";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        co_return read_services(answer->response.body, answer->where);
    }

    ResultTask<std::optional<ComputeServiceRecord>> compute_service(std::string host) {
        std::string path = "/os-services?binary=nova-compute&host=" + http::escape(host);
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        auto listed = read_services(answer->response.body, answer->where);
        if (!listed) co_return listed.error();
        for (auto& service : *listed)
            if (service.host == host)
                co_return std::optional<ComputeServiceRecord>(std::move(service));
        co_return std::optional<ComputeServiceRecord>();
    }

    ResultTask<HostNumbers> host_numbers() {
        HostNumbers numbers;
        std::string services = "/os-services?binary=nova-compute";
        auto answer = co_await get_numbers(std::move(services));
        if (!answer) co_return answer.error();
        auto read = read_service_numbers(answer->response.body, answer->where);
        if (!read) co_return read.error();
        numbers.services = std::move(*read);
        std::string hypervisors = "/os-hypervisors";
        answer = co_await get_numbers(std::move(hypervisors));
        if (!answer) co_return answer.error();
        read = read_hypervisor_numbers(answer->response.body, answer->where);
        if (!read) co_return read.error();
        numbers.hypervisors = std::move(*read);
        co_return numbers;
    }

    ResultTask<std::optional<LoadAverages>> load_averages(HostId host) {
        ServiceCall call;
        call.path = "/os-hypervisors/" + http::escape(host.str()) + "/uptime";
        auto answer = co_await service_->call_with(std::move(call), with_uptime);
        if (!answer) co_return answer.error();
        const int status = answer->response.status;
        // The host is down, or its driver has no such thing.
        if (status == 400 || status == 404 || status == 501)
            co_return std::optional<LoadAverages>();
        if (status != 200) co_return service_->refusal(*answer);
        co_return read_load_averages(answer->response.body, answer->where);
    }

    ResultTask<std::vector<AggregateRecord>> aggregates() {
        std::string path = "/os-aggregates";
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        co_return read_aggregates(answer->response.body, answer->where);
    }

    ResultTask<std::optional<ServerGroup>> server_group(std::string id) {
        std::string path = "/os-server-groups/" + http::escape(id);
        auto answer = co_await get(std::move(path));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return std::optional<ServerGroup>();
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        auto group = read_server_group(answer->response.body, answer->where);
        if (!group) co_return group.error();
        co_return std::optional<ServerGroup>(std::move(*group));
    }

    ResultTask<DeleteAnswer> delete_server(ServerId id, Compute::StillWanted wanted) {
        ServiceCall call;
        call.method = http::Method::del;
        call.path = "/servers/" + http::escape(id.str());
        co_return co_await remove(std::move(id), std::move(call), std::move(wanted));
    }

    ResultTask<DeleteAnswer> force_delete_server(ServerId id, Compute::StillWanted wanted) {
        ServiceCall call;
        call.method = http::Method::post;
        call.path = "/servers/" + http::escape(id.str()) + "/action";
        call.body = R"({"forceDelete": null})";
        co_return co_await remove(std::move(id), std::move(call), std::move(wanted));
    }

    ResultTask<bool> set_metadata(ServerId id, std::string key, std::string value) {
        if (id.empty()) co_return Error{Errc::bad_input, "nova: metadata of no server"};
        ServiceCall call;
        call.method = http::Method::post;
        call.path = "/servers/" + http::escape(id.str()) + "/metadata";
        call.body = metadata_body(key, value);
        call.repeat = http::Repeat::safe;
        auto answer = co_await service_->call(std::move(call));
        if (!answer) co_return answer.error();
        if (answer->response.status == 404) co_return false;
        if (answer->response.status != 200) co_return service_->refusal(*answer);
        co_return true;
    }

    ResultTask<std::map<std::string, Flavor>> all_flavors() { return list_flavors(service_); }

private:
    /// "Gone" and "not for you to see" are the same answer about one server, where we may be no
    /// administrator; the list tells them apart. (To one who is no administrator it is a long one:
    /// Nova drops the filter.)
    ResultTask<bool> is_listed(ServerId id) {
        std::string path = "/servers/detail?all_tenants=1&limit=" + std::to_string(page_size) +
                           "&uuid=" + http::escape(id.str());
        Compute::Progress silent;
        ListOptions plain;
        auto listed = co_await list(std::move(path), std::move(silent), std::move(plain));
        if (!listed) co_return listed.error();
        for (const ServerRecord& record : *listed)
            if (record.server.id == id) co_return true;
        co_return false;
    }

    static Error not_shown(const std::string& where) {
        return {Errc::forbidden,
                where +
                    ": 404, though Nova's list has it: to Nova the user is no administrator, and "
                    "what is gone can't be told from what it may not see; let its role be one "
                    "in Nova's policy file: \"context_is_admin\": \"role:admin or role:ROLE\""};
    }

    ResultTask<Answer> get(std::string path, Version at_most = {}) {
        ServiceCall call;
        call.path = std::move(path);
        co_return co_await service_->call(std::move(call), at_most);
    }

    ResultTask<Answer> get_numbers(std::string path) {
        ServiceCall call;
        call.path = std::move(path);
        auto answer = co_await service_->call_with(std::move(call), with_numbers);
        if (answer && answer->response.status != 200) co_return service_->refusal(*answer);
        co_return answer;
    }

    ResultTask<DeleteAnswer> remove(ServerId id, ServiceCall call, Compute::StillWanted wanted) {
        // Without an id the path would be that of the collection.
        if (id.empty()) co_return Error{Errc::bad_input, "nova: delete of a server without an id"};
        call.repeat = http::Repeat::safe;  // the second one finds it gone, or going
        call.still_wanted = std::move(wanted);
        auto answer = co_await service_->call(std::move(call));
        if (!answer) co_return answer.error();
        switch (answer->response.status) {
            case 202:
            case 204: co_return DeleteAnswer::accepted;
            case 404: co_return DeleteAnswer::gone;
            case 409: co_return DeleteAnswer::conflict;
            default: co_return service_->refusal(*answer);
        }
    }

    /// Is a list at its end? Nova counts rows against a page's limit that it then leaves out or has
    /// twice (hosts without mapping, servers that fail to build), and then shows no further link
    /// though there is more. So a page that adds nothing is the end, and no other.
    static Result<bool> is_end(bool grew, bool more, const std::string& where,
                               const std::string& marker) {
        if (!grew && more)
            return Error{Errc::bad_answer,
                         where + ": the pages go in a circle at " + http::one_line(marker, 60)};
        return !grew;
    }

    /// None if the list must be read again from its start.
    ResultTask<std::optional<std::vector<ServerRecord>>> try_servers(
        const std::string& list_path, const Compute::Progress& progress,
        const ListOptions& options) {
        using Listed = std::optional<std::vector<ServerRecord>>;
        std::vector<ServerRecord> all;
        Interner interner;
        std::unordered_map<ServerId, std::size_t> seen;
        std::string marker;
        bool all_on_host = !options.host.empty();
        for (int number = 0; number < max_pages; ++number) {
            std::string path = with_marker(list_path, marker);
            auto answer = co_await get(std::move(path));
            if (!answer) co_return answer.error();
            if (answer->response.status == 400 && !marker.empty()) co_return Listed();
            if (answer->response.status != 200) co_return service_->refusal(*answer);
            auto page = read_servers(answer->response.body, answer->where);
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

    /// A server that moved to a later page meanwhile is taken once, as read last.
    static void take(std::vector<ServerRecord>& all,
                     std::unordered_map<ServerId, std::size_t>& seen, ServerRecord record,
                     std::string& marker) {
        // Rows of a cell that is down can't be markers: Nova would have to find them there.
        if (record.server.status != "UNKNOWN") marker = record.server.id.str();
        const auto [at, is_new] = seen.emplace(record.server.id, all.size());
        if (is_new)
            all.push_back(std::move(record));
        else
            all[at->second] = std::move(record);
    }

    static std::vector<ServerRecord> without_deleted(std::vector<ServerRecord> all) {
        std::erase_if(all,
                      [](const ServerRecord& record) { return record.server.status == "DELETED"; });
        return all;
    }

    ResultTask<std::optional<std::vector<HypervisorRecord>>> try_hypervisors() {
        using Listed = std::optional<std::vector<HypervisorRecord>>;
        std::vector<HypervisorRecord> all;
        std::unordered_set<HostId> seen;
        std::string marker;
        for (int number = 0; number < max_pages; ++number) {
            std::string path =
                with_marker("/os-hypervisors/detail?limit=" + std::to_string(page_size), marker);
            auto answer = co_await get(std::move(path));
            if (!answer) co_return answer.error();
            if (answer->response.status == 400 && !marker.empty()) co_return Listed();
            if (answer->response.status != 200) co_return service_->refusal(*answer);
            auto page = read_hypervisors(answer->response.body, answer->where);
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

    std::shared_ptr<Service> service_;
    Clock& clock_;
    std::optional<NovaRelease> release_;
    Duration release_until_{};
    ProjectId shown_project_;         ///< of the last server that was shown by itself
    Duration shown_until_{};          ///< it tells something until then
    Duration administrator_until_{};  ///< to Nova we are one, until then at least
};

class NovaCompute final : public Compute {
public:
    NovaCompute(std::shared_ptr<Service> service, Clock& clock)
        : nova_(std::make_shared<Nova>(std::move(service), clock)) {}

    ResultTask<NovaRelease> release() override { return http::keeping(nova_, nova_->release()); }

    ResultTask<std::vector<ServerRecord>> servers(Progress progress) override {
        return http::keeping(nova_, nova_->servers(std::move(progress)));
    }
    ResultTask<std::vector<ServerRecord>> ended_servers(TimePoint since) override {
        return http::keeping(nova_, nova_->ended_servers(since));
    }
    ResultTask<std::vector<ServerRecord>> soft_deleted(std::optional<TimePoint> since) override {
        return http::keeping(nova_, nova_->soft_deleted(since));
    }
    ResultTask<std::vector<ServerRecord>> servers_on(std::string service_host) override {
        return http::keeping(nova_, nova_->servers_on(std::move(service_host)));
    }
    ResultTask<std::optional<ServerRecord>> server(ServerId id) override {
        return http::keeping(nova_, nova_->server(std::move(id)));
    }
    ResultTask<std::optional<ActionRecord>> action(ServerId id, RequestId request) override {
        return http::keeping(nova_, nova_->action(std::move(id), std::move(request)));
    }
    ResultTask<std::vector<ServerRecord>> servers_of(std::string reservation) override {
        return http::keeping(nova_, nova_->servers_of(std::move(reservation)));
    }
    ResultTask<std::optional<Flavor>> flavor(std::string id) override {
        return http::keeping(nova_, nova_->flavor(std::move(id)));
    }
    ResultTask<std::vector<ActionRecord>> actions(ServerId id) override {
        return http::keeping(nova_, nova_->actions(std::move(id)));
    }
    ResultTask<std::vector<UnconfirmedResize>> unconfirmed_resizes() override {
        return http::keeping(nova_, nova_->unconfirmed_resizes());
    }
    ResultTask<std::optional<std::string>> last_host(ServerId id) override {
        return http::keeping(nova_, nova_->last_host(std::move(id)));
    }
    ResultTask<HostNumbers> host_numbers() override {
        return http::keeping(nova_, nova_->host_numbers());
    }
    ResultTask<std::optional<LoadAverages>> load_averages(HostId host) override {
        return http::keeping(nova_, nova_->load_averages(std::move(host)));
    }
    ResultTask<std::vector<ServerRecord>> servers_in(std::set<std::string> statuses,
                                                     std::optional<TimePoint> since) override {
        return http::keeping(nova_, nova_->servers_in(std::move(statuses), since));
    }
    ResultTask<std::vector<HypervisorRecord>> hypervisors() override {
        return http::keeping(nova_, nova_->hypervisors());
    }
    ResultTask<std::vector<ComputeServiceRecord>> compute_services() override {
        return http::keeping(nova_, nova_->compute_services());
    }
    ResultTask<std::optional<ComputeServiceRecord>> compute_service(std::string host) override {
        return http::keeping(nova_, nova_->compute_service(std::move(host)));
    }
    ResultTask<std::vector<AggregateRecord>> aggregates() override {
        return http::keeping(nova_, nova_->aggregates());
    }
    ResultTask<std::map<std::string, Flavor>> all_flavors() override {
        return http::keeping(nova_, nova_->all_flavors());
    }
    ResultTask<std::optional<ServerGroup>> server_group(std::string id) override {
        return http::keeping(nova_, nova_->server_group(std::move(id)));
    }
    ResultTask<DeleteAnswer> delete_server(ServerId id, StillWanted wanted) override {
        return http::keeping(nova_, nova_->delete_server(std::move(id), std::move(wanted)));
    }
    ResultTask<DeleteAnswer> force_delete_server(ServerId id, StillWanted wanted) override {
        return http::keeping(nova_, nova_->force_delete_server(std::move(id), std::move(wanted)));
    }
    ResultTask<bool> set_metadata(ServerId id, std::string key, std::string value) override {
        return http::keeping(nova_,
                             nova_->set_metadata(std::move(id), std::move(key), std::move(value)));
    }

private:
    std::shared_ptr<Nova> nova_;
};

}  // namespace

std::unique_ptr<Compute> make_compute(std::shared_ptr<Service> nova, Clock& clock) {
    return std::make_unique<NovaCompute>(std::move(nova), clock);
}

}  // namespace reaper::openstack

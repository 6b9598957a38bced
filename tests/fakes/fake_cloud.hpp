// A small cloud in memory behind the real ports. It records every call, deletes asynchronously as
// Nova does, and lets a test change it during any call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/fake_clock.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper::test {

struct FakeServer {
    ServerRecord record;
    HostId provider;  ///< where its room is held
    Resources resources;
    std::optional<TimePoint> gone_at;       ///< its room comes free then
    Allocations also{};                     ///< held on nested providers
    std::optional<TimePoint> shelved_at{};  ///< Nova is done with shelving it then
};

/// What comes of the calls to shelve a server, and to bring it back.
struct FakeShelving {
    Duration takes{3000};
    bool fails = false;          ///< it comes back to what it was
    bool stays_on_host = false;  ///< until it is offloaded
    bool no_host = false;        ///< that it could come back to
    bool offload_fails = false;  ///< it stays shelved on its host
    std::optional<Error> refusal{};
    bool marked = false;  ///< as being shelved, before it is refused
};

/// A provider below a host's.
struct FakeNested {
    std::string name;
    HostId parent;
    std::map<ResourceClass, Inventory> inventories{};
    std::int64_t generation = 0;  ///< grows with each change
};

class FakeCloud : public Identity, public Compute, public Placement, public Images {
public:
    explicit FakeCloud(FakeClock& clock) : clock_(clock) {}

    CloudPorts ports() { return CloudPorts{*this, *this, *this, *this, clock_}; }

    // The world.
    void add_host(const std::string& name, Resources capacity, const std::string& zone = "nova");
    /// Its root provider, `rp-NAME` unless it was given another id; and back.
    std::string provider_of(const std::string& host) const { return hosts_.at(host).id.str(); }
    std::string host_of(const std::string& provider) const;
    void set_provider(const std::string& host, const std::string& id) {
        hosts_.at(host).id = HostId{id};
    }
    FakeServer& add_server(const std::string& id, const std::string& host,
                           const std::string& project, Resources resources);
    /// A failed server: no host, status ERROR. `Flavor{}`: 2 VCPU, 2048 MB, 20 GB.
    void add_requester(const std::string& id, const std::string& project, Flavor flavor);
    void add(FakeServer server) {
        const ServerId id = server.record.server.id;
        servers_.insert_or_assign(id, std::move(server));
    }
    void remove(const std::string& id) { servers_.erase(ServerId{id}); }
    void clear_servers() { servers_.clear(); }
    FakeServer& server_at(const std::string& id) { return servers_.at(ServerId{id}); }
    /// An empty world again.
    void clear() {
        hosts_.clear();
        servers_.clear();
        services.clear();
        calls.clear();
        on_call = {};
    }
    /// Where deletions are deferred: this user deleted it.
    void soft_delete_by(const std::string& id, const std::string& user);
    void restore_by(const std::string& id, const std::string& user);
    bool exists(const std::string& id);
    Resources free_on(const std::string& host);
    /// A provider without room for what is named: Placement checks that too which stays as it is.
    std::optional<ProviderId> full_for(const std::vector<ConsumerChange>& changes) const;
    Resources capacity_of(const std::string& host) const { return hosts_.at(host).capacity; }
    std::vector<std::string> host_names() const;
    std::vector<std::string> living(const std::string& host);

    std::map<std::string, std::set<Trait>> traits;  ///< of a host, by its name
    std::set<ProjectId> tagged{ProjectId{"spot"}};
    std::map<std::string, std::string> project_names;  ///< id by name; other texts are ids
    std::map<std::string, std::string> listed_names;   ///< of projects, by id
    std::set<std::string> no_projects;                 ///< texts that lead nowhere
    std::map<std::string, Project> known_projects;     ///< by id, where more matters than the name
    std::set<std::string> classes{"VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_PREEMPTIBLE"};
    std::set<std::string> undiscovered;  ///< hosts with a service that are no hypervisors
    std::map<std::string, ImageProperties> images;  ///< by id; others are not there
    std::vector<ServerImage> snapshots;             ///< the reaper's own
    /// Request id -> what Nova recorded. A server that failed to boot has the failed action
    /// `create` for any request id, unless `forgotten` has it.
    std::map<std::string, ActionRecord> recorded_actions;
    std::set<std::string> forgotten;
    /// A failed action of that name, as Nova shows it when it has ended.
    void note_failed(const std::string& request, const std::string& action);
    std::map<std::string, Flavor> flavors;  ///< by id
    std::string own_user_id = "reaper-user";
    std::optional<TimePoint> own_credential_expires;
    std::map<std::string, TokenOwner> tokens;
    std::map<ServerId, Duration> slow;  ///< reads of it take this long
    Duration lists_take{};              ///< of servers by status
    Duration names_take{};              ///< of projects
    std::set<ServerId> not_listed;      ///< by status: as between two pages
    /// By statuses: since when they were asked for last; none: whenever they changed.
    std::map<std::string, std::optional<TimePoint>> listed_since;
    NovaRelease nova_release = NovaRelease::zed;
    std::map<ServerId, std::vector<ActionRecord>> histories;  ///< the newest first
    /// Locks it, as a user of that project.
    void lock(const std::string& id, const std::string& project);
    std::vector<UnconfirmedResize> resizes;
    std::map<ServerId, std::set<ServerId>> migrations;  ///< of each server
    void leave_behind(const std::string& id, const std::string& host, Resources held);
    std::map<ServerId, std::string> last_hosts;
    std::vector<ServerRecord> ended;  ///< all that Nova still knows of
    HostNumbers numbers;
    std::map<std::string, LoadAverages> load_averages_of;  ///< by host
    Duration deletion_takes{2000};
    bool soft_delete = false;
    FakeShelving shelving;
    std::map<std::string, ServerGroup> groups;  ///< by id
    std::vector<AggregateRecord> host_aggregates;
    std::set<std::string> not_mirrored;  ///< hosts that Placement knows in no aggregate
    bool ignore_deletes = false;         ///< accepted, never done
    bool conflict_on_delete = false;     ///< 409: not in this state
    std::map<std::string, ComputeServiceRecord> services;
    /// That are no servers.
    std::map<ServerId, Consumer> consumers;
    /// By host and class; 0 if not there.
    std::map<std::pair<std::string, std::string>, Amount> reserved;
    std::map<std::string, int> vcpu_ratios;  ///< by host; 1 for the others
    void remove_host(const std::string& name) { hosts_.erase(name); }
    std::map<ProviderId, FakeNested> nested;

    // What happened.
    std::vector<std::string> calls;
    std::size_t count(const std::string& call_prefix) const;
    /// Called with each call (`server s1`, `DELETE s1`, `servers`, ...) before it is answered; an
    /// error that it returns is the answer.
    std::function<std::optional<Error>(const std::string&)> on_call;

    /// `set_holdings` is done then, and its answer is this error.
    std::optional<Error> lost_answer;

    // The ports.
    ResultTask<std::vector<Project>> projects_with_tag(std::string tag) override;
    ResultTask<ProjectSearch> find_project(std::string written) override;
    ResultTask<ProjectNames> names_of_projects() override;
    ResultTask<std::string> own_user() override;
    ResultTask<std::optional<TimePoint>> credential_expires() override;
    ResultTask<std::optional<TokenOwner>> owner_of(std::string token) override;
    ResultTask<NovaRelease> release() override;
    ResultTask<std::vector<ServerRecord>> servers(Progress progress) override;
    ResultTask<std::vector<ServerRecord>> soft_deleted(std::optional<TimePoint> since) override;
    ResultTask<std::vector<ServerRecord>> ended_servers(TimePoint since) override;
    ResultTask<std::vector<ServerRecord>> servers_on(std::string service_host) override;
    ResultTask<std::optional<ServerRecord>> server(ServerId id) override;
    ResultTask<std::optional<ServerRecord>> server_or_deleted(ServerId id) override;
    ResultTask<std::optional<ActionRecord>> action(ServerId id, RequestId request) override;
    ResultTask<std::vector<ServerRecord>> servers_of(std::string reservation) override;
    ResultTask<std::optional<Flavor>> flavor(std::string id) override;
    ResultTask<std::vector<ActionRecord>> actions(ServerId id) override;
    ResultTask<std::optional<std::string>> last_host(ServerId id) override;
    ResultTask<std::vector<UnconfirmedResize>> unconfirmed_resizes() override;
    ResultTask<std::set<ServerId>> migrations_of(ServerId id) override;
    ResultTask<HostNumbers> host_numbers() override;
    ResultTask<std::optional<LoadAverages>> load_averages(HostId host) override;
    ResultTask<std::vector<ServerRecord>> servers_in(std::set<std::string> statuses,
                                                     std::optional<TimePoint> since) override;
    ResultTask<std::vector<HypervisorRecord>> hypervisors() override;
    ResultTask<std::vector<ComputeServiceRecord>> compute_services() override;
    ResultTask<std::optional<ComputeServiceRecord>> compute_service(std::string host) override;
    ResultTask<std::vector<AggregateRecord>> aggregates() override;
    ResultTask<std::map<std::string, Flavor>> all_flavors() override;
    ResultTask<std::optional<ServerGroup>> server_group(std::string id) override;
    ResultTask<DeleteAnswer> delete_server(ServerId id, StillWanted wanted) override;
    ResultTask<DeleteAnswer> force_delete_server(ServerId id, StillWanted wanted) override;
    ResultTask<DeleteAnswer> shelve_server(ServerId id, Departure how, StillWanted wanted) override;
    ResultTask<bool> unshelve_server(ServerId id) override;
    ResultTask<bool> set_metadata(ServerId id, std::string key, std::string value) override;
    ResultTask<bool> remove_metadata(ServerId id, std::string key) override;
    ResultTask<bool> stop_server(ServerId id) override { return turn(std::move(id), "SHUTOFF"); }
    ResultTask<bool> start_server(ServerId id) override { return turn(std::move(id), "ACTIVE"); }
    ResultTask<std::vector<ProviderRecord>> providers() override;
    ResultTask<std::set<ResourceClass>> resource_classes() override;
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override;
    ResultTask<ProviderState> room(ProviderId id) override;
    ResultTask<ProviderState> provider(ProviderId id) override;
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override;
    ResultTask<Allocations> allocations(ServerId consumer) override;
    ResultTask<Consumer> consumer(ServerId id) override;
    ResultTask<Resources> usage_of(std::string project) override;
    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) override;
    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) override;
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) override;
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                           Duration deadline) override;
    ResultTask<std::optional<ImageProperties>> image(std::string id) override;
    ResultTask<std::vector<ServerImage>> own_server_images() override;
    ResultTask<bool> delete_image(std::string id) override;

private:
    std::optional<Error> note(const std::string& call);
    ResultTask<bool> turn(ServerId id, std::string status);
    void settle();
    void note_action(const ServerId& id, const std::string& name, const std::string& user);
    void finish_shelving(FakeServer& server) const;
    ProviderState state_of(const ProviderId& id) const;
    Consumer consumer_now(const ServerId& id) const;
    ProviderSummary summary_of(const ProviderId& id, const FakeNested& provider) const;
    Amount held_of(const ProviderId& id, const ResourceClass& resource_class) const;

    struct FakeHost {
        std::string name;
        HostId id;
        Resources capacity;
    };
    FakeClock& clock_;
    std::map<std::string, FakeHost> hosts_;
    std::map<ServerId, FakeServer> servers_;
};

}  // namespace reaper::test

// What happens to servers, hosts and aggregates: everything that Nova does, step by step on the
// simulated clock, telling the listeners. Refusals are those of Nova's API.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/cloudsim/core/scheduler.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

struct CreateRequest {
    std::string name;
    std::shared_ptr<const Flavor> flavor;
    const Image* image = nullptr;  ///< none: boots from a volume
    std::size_t count = 1;
    std::string zone;
    std::string forced_host;  ///< of `zone:host`
    std::string host;         ///< of microversion 2.74
    std::map<std::string, std::string> metadata;
    std::set<std::string> tags;
    ServerGroup* group = nullptr;
    std::vector<Uuid> same_host;  ///< hints
    std::vector<Uuid> different_host;
};

enum class DeleteKind { normal, soft, forced };

class Lifecycle {
public:
    explicit Lifecycle(World& world) : world_(world) {}

    // Servers. What takes time goes on by itself.
    std::vector<Server*> create(CreateRequest request, ContextPtr by);
    /// `soft`: with reclaim_instance_interval; then it goes for good after `reclaim`.
    Outcome remove(Server& server, DeleteKind kind, Micros reclaim, const ContextPtr& by);
    Outcome restore(Server& server, const ContextPtr& by);
    void lock(Server& server, std::string reason, const ContextPtr& by);
    Outcome unlock(Server& server, const ContextPtr& by);
    Outcome resize(Server& server, std::shared_ptr<const Flavor> flavor, const ContextPtr& by);
    Outcome confirm_resize(Server& server, const ContextPtr& by);
    Outcome revert_resize(Server& server, const ContextPtr& by);
    Outcome live_migrate(Server& server, const ContextPtr& by);
    /// Off a host that is down.
    Outcome evacuate(Server& server, const ContextPtr& by);
    Outcome shelve(Server& server, const ContextPtr& by);
    Outcome unshelve(Server& server, const ContextPtr& by);
    Outcome stop(Server& server, const ContextPtr& by);
    Outcome start(Server& server, const ContextPtr& by);
    void reset_state(Server& server, bool active, const ContextPtr& by);

    // Hosts
    void set_service(Host& host, bool disabled, std::optional<std::string> reason,
                     const ContextPtr& by);
    void force_down(Host& host, bool down, const ContextPtr& by);
    /// Deletions on the host are accepted, but wait for `release`.
    void hold(Host& host) { host.held = true; }
    void release(Host& host);

    // Aggregates
    Aggregate& create_aggregate(const std::string& name, const std::string& zone,
                                const ContextPtr& by);
    void delete_aggregate(Aggregate& aggregate, const ContextPtr& by);
    void add_to_aggregate(Aggregate& aggregate, Host& host, const ContextPtr& by);
    void remove_from_aggregate(Aggregate& aggregate, Host& host, const ContextPtr& by);
    void set_aggregate_metadata(Aggregate& aggregate,
                                const std::map<std::string, std::optional<std::string>>& changes,
                                const ContextPtr& by);

    /// A server on a host at once, its room claimed; null if there is no room. For filling a cloud.
    Server* put(std::unique_ptr<Server> server, Host& host);
    /// No servers, whatever else.
    void clear_servers();

private:
    void schedule(std::vector<Uuid> ids, CreateRequest request, const ContextPtr& by);
    void scheduled(const Placing& placing, const Selection& selection, const ContextPtr& by);
    void refuse(const std::vector<Uuid>& ids, const Placing& placing, bool had_candidates,
                const ContextPtr& by);
    void build(Server& server, Host& host, const ContextPtr& by);
    void activate(const Uuid& id, const ContextPtr& by);
    void erase_on_host(const Uuid& id, const ContextPtr& by);
    void erase(Server& server, const std::string& publisher, const ContextPtr& by);
    void mark_deleted(Server& server, const std::string& publisher, const ContextPtr& by);
    void forget(Server& server, const std::string& publisher, const ContextPtr& by);
    void soft_delete_on_host(const Uuid& id, Micros reclaim, const ContextPtr& by);
    void respawn(Server& like, Host& host);
    void resize_scheduled(const Uuid& id, std::shared_ptr<const Flavor> flavor,
                          const ContextPtr& by);
    void resize_moved(const Uuid& id, const ContextPtr& by);
    void resize_to(const Uuid& id, const Uuid& migration,
                   const std::shared_ptr<const Flavor>& flavor, const Placing& placing,
                   const Selection& selection, const ContextPtr& by);
    void resize_refused(Server& server, const Placing& placing, bool had_candidates,
                        const ContextPtr& by);
    using MoveStep = void (Lifecycle::*)(Server&, const ContextPtr&);
    /// The task is set now; the step comes when the scheduler's turn is, if it still is.
    Outcome begin_move(Server& server, const char* action, TaskState task, MoveStep step,
                       const ContextPtr& by);
    /// What comes when its search has ended.
    using Arrival = void (Lifecycle::*)(Server& server, const Uuid& migration,
                                        const Placing& placing, const Selection& selection,
                                        const ContextPtr& by);
    void move(Server& server, const Uuid& migration, const ContextPtr& by, Arrival arrived);
    void live_migrate_scheduled(Server& server, const ContextPtr& by);
    void live_migrate_to(Server& server, const Uuid& migration, const Placing& placing,
                         const Selection& selection, const ContextPtr& by);
    void evacuate_to(Server& server, const Uuid& migration, const Placing& placing,
                     const Selection& selection, const ContextPtr& by);
    void unshelve_to(Server& server, const Uuid& migration, const Placing& placing,
                     const Selection& selection, const ContextPtr& by);
    void evacuate_scheduled(Server& server, const ContextPtr& by);
    void shelved(Server& server, const ContextPtr& by);
    void unshelve_scheduled(Server& server, const ContextPtr& by);
    void arrive(Server& server, Host& target, std::string_view event, const ContextPtr& by);
    void set_states(Server& server, VmState state, TaskState task, const std::string& publisher,
                    const ContextPtr& by);
    void tell(std::string_view name, const Server& server, const std::string& publisher,
              const ContextPtr& by, const Flavor* new_flavor = nullptr, bool deleted = false);
    void effect(std::string_view what, const Server& server, const Host* host);
    void record(Server& server, const char* action, const ContextPtr& by);
    /// What `by` began has come to its end; `why_failed` empty: well.
    void end_action(Server& server, const ContextPtr& by, const std::string& why_failed = "");
    void sync_zone(Host& host);
    Outcome wrong_state(const Server& server, const char* method) const;

    World& world_;
};

/// Hands what one consumer holds to another that holds nothing, or replaces what it holds.
void hand_over(World& world, const Uuid& from, const Uuid& to);

/// `nova-compute:host-3`
/// What Nova says then.
std::string no_valid_host(bool had_candidates);
std::string compute_publisher(const Host& host);
/// Who tells what an API call changed at once.
inline constexpr const char* api_publisher = "nova-api:ctl";
inline constexpr const char* conductor_publisher = "nova-conductor:ctl";

}  // namespace reaper::cloudsim

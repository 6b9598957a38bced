#include "tests/cloudsim/core/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace reaper::cloudsim {

namespace {

/// How many of these are on the host; all but for themselves.
std::size_t count_on(const World& world, const Placing& placing, const std::vector<Uuid>& servers,
                     const Host* host) {
    return static_cast<std::size_t>(
        std::count_if(servers.begin(), servers.end(), [&](const Uuid& id) {
            const Server* server = world.nova.find_server(id);
            const bool itself = std::find(placing.servers.begin(), placing.servers.end(), id) !=
                                placing.servers.end();
            return server && !itself && server->host && (!host || server->host == host);
        }));
}

/// Of its group, as the filter for affinity counts: without the softly deleted ones, and with the
/// server itself where it moves from.
std::size_t members_on(const World& world, const Placing& placing, const Host* host) {
    std::vector<Uuid> members = placing.group->members;
    std::erase_if(members, [&](const Uuid& id) {
        const Server* const member = world.nova.find_server(id);
        return member != nullptr && member->state == VmState::soft_deleted;
    });
    const bool own = placing.ignored != nullptr && (host == nullptr || host == placing.ignored);
    return count_on(world, placing, members, host) + (own ? 1 : 0);
}

bool suits_group(const World& world, const Placing& placing, const Host& host) {
    if (!placing.group || placing.group->members.empty()) return true;
    const std::string& policy = placing.group->policy;
    if (policy == "anti-affinity")
        return count_on(world, placing, placing.group->members, &host) <
               static_cast<std::size_t>(placing.group->max_on_a_host);
    if (policy == "affinity")
        return members_on(world, placing, &host) > 0 || members_on(world, placing, nullptr) == 0;
    return true;
}

/// SameHostFilter, DifferentHostFilter.
bool suits_hints(const World& world, const Placing& placing, const Host& host) {
    if (!placing.same_host.empty() && count_on(world, placing, placing.same_host, &host) == 0)
        return false;
    return count_on(world, placing, placing.different_host, &host) == 0;
}

/// AggregateInstanceExtraSpecsFilter, for wishes that are no operators: the value has to be among
/// the aggregates'.
bool suits_extra_specs(const World& world, const Placing& placing, const Host& host) {
    static const std::string scope = "aggregate_instance_extra_specs:";
    if (!world.settings.extra_specs_filter) return true;
    for (const auto& [name, wish] : placing.flavor->extra_specs) {
        const bool scoped = name.starts_with(scope);
        if (!scoped && name.find(':') != std::string::npos) continue;
        const std::string key = scoped ? name.substr(scope.size()) : name;
        bool met = false;
        for (const auto& aggregate : world.nova.aggregates) {
            const auto& hosts = aggregate->hosts;
            if (std::find(hosts.begin(), hosts.end(), host.name) == hosts.end()) continue;
            const auto value = aggregate->metadata.find(key);
            met = met || (value != aggregate->metadata.end() && value->second == wish);
        }
        if (!met) return false;
    }
    return true;
}

/// A moved server stays in its cell; a new one goes to none that is disabled.
bool suits_cell(const Placing& placing, const Host& host) {
    return placing.cell ? host.cell == *placing.cell : !host.cell_disabled;
}

struct Choice {
    Host* host = nullptr;
    const Candidate* candidate = nullptr;
    std::size_t order = 0;
    double weight = 0;
};

std::int64_t left(const Host& host, NameId resource_class) {
    const Room* room = host.provider->room(resource_class);
    return room ? room->inventory.capacity() - room->used : 0;
}

/// RAM, CPU and disk that are free, each scaled to 0..1 over the hosts: Nova's weighers.
void weigh(World& world, std::vector<Choice>& choices) {
    for (Choice& choice : choices) choice.weight = 0;
    for (const char* name : {"MEMORY_MB", "VCPU", "DISK_GB"}) {
        const NameId resource_class = world.names.id(name);
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (const Choice& choice : choices) {
            const std::int64_t free = left(*choice.host, resource_class);
            least = std::min(least, free);
            most = std::max(most, free);
        }
        if (most == least) continue;
        for (Choice& choice : choices)
            choice.weight += static_cast<double>(left(*choice.host, resource_class) - least) /
                             static_cast<double>(most - least);
    }
    std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.order < b.order;
    });
}

/// A filter that is not visible from outside: no host takes such an image.
bool is_impossible(const Placing& placing) {
    return placing.image != nullptr && placing.image->properties.contains("cloudsim:impossible");
}

/// What the filters say of a host that Placement offers, but for its state, groups and hints.
bool suits(World& world, const Placing& placing, const Host& host) {
    if (is_impossible(placing) || &host == placing.ignored || !suits_cell(placing, host))
        return false;
    if (!placing.forced.empty()) return host.name == placing.forced;
    return (placing.host.empty() || host.name == placing.host) &&
           suits_extra_specs(world, placing, host);
}

std::vector<Choice> filtered(World& world, const Placing& placing, const Candidates& candidates) {
    std::vector<Choice> choices;
    for (const Candidate& candidate : candidates.requests) {
        Host* host = world.nova.host_of(*candidate.held.front().provider->root);
        if (!host) continue;
        const bool takes = !placing.forced.empty() ||
                           (host->up() && !host->disabled && suits_group(world, placing, *host) &&
                            suits_hints(world, placing, *host));
        if (takes && suits(world, placing, *host))
            choices.push_back({host, &candidate, choices.size(), 0});
    }
    return choices;
}

/// Placement answers nothing, but refuses: several groups need a policy, and each one resources.
bool is_refused(const CandidateQuery& query, const Flavor& flavor) {
    const auto policy = flavor.extra_specs.find("group_policy");
    const bool has_policy = policy != flavor.extra_specs.end() &&
                            (policy->second == "isolate" || policy->second == "none");
    const auto suffixed = query.groups.size() - query.groups.count("");
    return (suffixed > 1 && !has_policy) ||
           std::any_of(query.groups.begin(), query.groups.end(), [](const auto& group) {
               return !group.first.empty() && group.second.resources.empty();
           });
}

bool would_give(const Provider& provider, const std::pair<NameId, std::int64_t>& wish) {
    const Room* room = provider.room(wish.first);
    return room && room->inventory.allows_amount(wish.second) &&
           room->inventory.total >= wish.second;
}

/// Could providers of the tree meet the group, were they empty? `by_one`: one of them alone.
bool would_serve(const std::vector<Provider*>& tree, const RequestGroup& group, bool by_one) {
    if (group.in_tree && *group.in_tree != tree.front()->uuid) return false;
    if (by_one)
        return std::any_of(tree.begin(), tree.end(), [&](const Provider* provider) {
            return admits(*provider, group) &&
                   std::all_of(group.resources.begin(), group.resources.end(),
                               [&](const auto& wish) { return would_give(*provider, wish); });
        });
    RequestGroup any = group;
    any.required.clear();
    const bool room =
        std::all_of(any.resources.begin(), any.resources.end(), [&](const auto& wish) {
            return std::any_of(tree.begin(), tree.end(), [&](const Provider* provider) {
                return would_give(*provider, wish) && admits(*provider, any);
            });
        });
    RequestGroup traits;
    traits.required = group.required;
    return room && admits(*tree.front(), traits);
}

Claim claim_for(World& world, const Placing& placing, const Uuid& server, const Choice& choice) {
    Claim claim;
    claim.consumer = server;
    claim.project = placing.project;
    claim.user = placing.user;
    claim.type = world.names.id("unknown");
    claim.held = choice.candidate->held;
    return claim;
}

/// Without the hosts that the policy of its group forbids the next one.
void keep_policy(const World& world, const Placing& placing, const std::vector<Host*>& chosen,
                 std::vector<Choice>& choices) {
    const bool strict_group = placing.group && (placing.group->policy == "anti-affinity" ||
                                                placing.group->policy == "affinity");
    if (!strict_group || chosen.empty()) return;
    const bool together = placing.group->policy == "affinity";
    std::erase_if(choices, [&](const Choice& choice) {
        const auto here = std::count(chosen.begin(), chosen.end(), choice.host);
        if (together) return here == 0;
        const auto before = count_on(world, placing, placing.group->members, choice.host);
        return here + static_cast<std::ptrdiff_t>(before) >= placing.group->max_on_a_host;
    });
}

/// A host for each server, each chosen with those before it in place.
std::vector<Host*> place_all(World& world, const Placing& placing, const Candidates& candidates) {
    std::vector<Host*> chosen;
    std::vector<Choice> choices = filtered(world, placing, candidates);
    for (const Uuid& server : placing.servers) {
        keep_policy(world, placing, chosen, choices);
        weigh(world, choices);
        const auto taken = std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) {
            return !world.placement.claim({claim_for(world, placing, server, choice)});
        });
        if (taken == choices.end()) break;
        chosen.push_back(taken->host);
    }
    return chosen;
}

}  // namespace

void keep_wishes(const World& world, const Server& server, Placing& placing) {
    const ServerExtras* const extra = server.extra();
    if (extra == nullptr) return;
    if (extra->group) placing.group = world.nova.find_group(*extra->group);
    placing.zone = extra->pinned_zone;
    placing.same_host = extra->same_host;
    placing.different_host = extra->different_host;
}

std::size_t may_join(const World& world, const Placing& placing, const Host& host) {
    if (!suits_group(world, placing, host) || !suits_hints(world, placing, host)) return 0;
    if (!placing.group || placing.group->policy != "anti-affinity") return any_number;
    return static_cast<std::size_t>(placing.group->max_on_a_host) -
           count_on(world, placing, placing.group->members, &host);
}

bool is_place(World& world, const Placing& placing, const Host& host) {
    const CandidateQuery query = query_for(world, placing);
    if (is_refused(query, *placing.flavor) || !suits(world, placing, host)) return false;
    std::vector<Provider*> tree{host.provider};
    for (std::size_t at = 0; at < tree.size(); ++at)
        for (Provider* child : tree[at]->children) tree.push_back(child);
    return std::all_of(query.groups.begin(), query.groups.end(), [&](const auto& group) {
        return would_serve(tree, group.second, !group.first.empty());
    });
}

bool joins_others(const World& world, const Placing& placing) {
    return placing.group && placing.group->policy == "affinity" &&
           members_on(world, placing, nullptr) > 0;
}

namespace {

Selection select_now(World& world, const Placing& placing, const ContextPtr& by) {
    const CandidateQuery query = query_for(world, placing);
    if (is_refused(query, *placing.flavor)) return NoValidHost{false};
    const Candidates candidates = find_candidates(world.placement, query);
    if (candidates.requests.empty()) return NoValidHost{false};
    ScheduleEvent event{false, placing, by};
    world.tell([&](Listener& listener) { listener.on_schedule(event); });
    std::vector<Host*> chosen = place_all(world, placing, candidates);
    if (chosen.size() < placing.count()) {
        for (std::size_t at = 0; at < chosen.size(); ++at)
            world.placement.remove_consumer(placing.servers[at]);
        return NoValidHost{true};
    }
    event.end = true;
    world.tell([&](Listener& listener) { listener.on_schedule(event); });
    return chosen;
}

/// One search through the door: a host for each server, one after the other.
class Search : public std::enable_shared_from_this<Search> {
public:
    using Selected = std::function<void(const Placing&, const Selection&)>;

    Search(World& world, Placing placing, ContextPtr by, Selected selected)
        : world_(world),
          placing_(std::move(placing)),
          group_(placing_.group ? std::optional(placing_.group->id) : std::nullopt),
          by_(std::move(by)),
          selected_(std::move(selected)) {}

    void begin() {
        world_.tell([&](Listener& listener) { listener.on_search({placing_, by_}); });
        const CandidateQuery query = query_for(world_, placing_);
        if (is_refused(query, *placing_.flavor)) {
            selected_(placing_, NoValidHost{false});
            return;
        }
        world_.door->search(query, by_->global_id(),
                            [self = shared_from_this()](std::optional<Candidates> found) {
                                self->on_found(std::move(found));
                            });
    }

private:
    void on_found(std::optional<Candidates> found) {
        look_again();
        if (!found || found->requests.empty()) {
            selected_(placing_, NoValidHost{false});
            return;
        }
        candidates_ = std::move(*found);
        const ScheduleEvent event{false, placing_, by_};
        world_.tell([&](Listener& listener) { listener.on_schedule(event); });
        begin_server();
    }

    void begin_server() {
        if (chosen_.size() == placing_.count()) {
            const ScheduleEvent event{true, placing_, by_};
            world_.tell([&](Listener& listener) { listener.on_schedule(event); });
            selected_(placing_, chosen_);
            return;
        }
        choices_ = filtered(world_, placing_, candidates_);
        keep_policy(world_, placing_, chosen_, choices_);
        weigh(world_, choices_);
        next_ = 0;
        try_next();
    }

    void try_next() {
        if (next_ == choices_.size()) {
            for (std::size_t at = 0; at < chosen_.size(); ++at)
                world_.door->give_back(placing_.servers[at], by_->global_id());
            selected_(placing_, NoValidHost{true});
            return;
        }
        const Choice choice = choices_[next_++];
        const Uuid& server = placing_.servers[chosen_.size()];
        world_.door->claim(claim_for(world_, placing_, server, choice), by_->global_id(),
                           [self = shared_from_this(), host = choice.host](bool done) {
                               self->look_again();
                               if (!done) {
                                   self->try_next();
                                   return;
                               }
                               self->chosen_.push_back(host);
                               self->begin_server();
                           });
    }

    /// The group may have gone.
    void look_again() { placing_.group = group_ ? world_.nova.find_group(*group_) : nullptr; }

    World& world_;
    Placing placing_;
    std::optional<Uuid> group_;
    ContextPtr by_;
    Selected selected_;
    Candidates candidates_;
    std::vector<Host*> chosen_;
    std::vector<Choice> choices_;
    std::size_t next_ = 0;
};

}  // namespace

void select_destinations(World& world, Placing placing, ContextPtr by,
                         std::function<void(const Placing&, const Selection&)> selected) {
    if (world.door == nullptr) {
        selected(placing, select_now(world, placing, by));
        return;
    }
    std::make_shared<Search>(world, std::move(placing), std::move(by), std::move(selected))
        ->begin();
}

}  // namespace reaper::cloudsim

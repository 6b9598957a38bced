#include "reaper/planner/host_row.hpp"

#include <chrono>
#include <limits>
#include <numeric>

#include "reaper/model/resources.hpp"
#include "reaper/model/server_state.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/planner/victim_filter.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room.hpp"
#include "strategies/objective.hpp"

namespace reaper {
namespace {

constexpr Amount max_work = std::numeric_limits<std::uint32_t>::max();

/// Numbers of candidates at which the curve of work is sampled.
constexpr std::array<std::size_t, WorkCurve::points> sampled{0, 1, 2, 4, 7, 12};

/// The union of the providers' traits; with one provider that has any, without a copy.
bool same_traits(const std::set<Trait>& traits, const Host& host) {
    const Provider* only = nullptr;
    for (const auto& provider : host.providers) {
        if (provider.traits.empty()) continue;
        if (only != nullptr) {
            std::set<Trait> all;
            for (const auto& each : host.providers)
                all.insert(each.traits.begin(), each.traits.end());
            return all == traits;
        }
        only = &provider;
    }
    return only == nullptr ? traits.empty() : only->traits == traits;
}

bool has_nested_traits(const Host& host) {
    for (const auto& provider : host.providers)
        if (!provider.traits.empty() && &provider != &host.root()) return true;
    return false;
}

Shared<std::set<Trait>> root_traits(const Host& host) {
    return host.providers.empty() ? Shared<std::set<Trait>>{} : host.root().traits;
}

bool same_profile(const Profile& profile, const Host& host) {
    return profile.up == host.up && profile.enabled == host.enabled &&
           profile.availability_zone == host.availability_zone &&
           profile.nested_traits == has_nested_traits(host) &&
           profile.member_of == host.member_of && same_traits(profile.traits, host) &&
           profile.root_traits == root_traits(host);
}

std::size_t hash_of_profile(const Host& host) {
    std::size_t hash =
        hash_of(host.availability_zone) * 4 + (host.up ? 2 : 0) + (host.enabled ? 1 : 0);
    std::size_t traits = 0;  // a sum: in any order, each once for each provider's
    std::set<std::string_view> seen;
    for (const auto& provider : host.providers)
        for (const auto& trait : provider.traits)
            if (seen.insert(trait.str()).second) traits += hash_of(trait.str());
    for (const auto& [uuid, aggregate] : host.member_of) hash = hash * 31 + hash_of(uuid);
    return hash ^ traits * 0x9e3779b97f4a7c15ULL;
}

/// Room that a departing server holds on a provider counts as free.
void add_coming_room(const Resources& held, const Provider& provider, const RowNames& names,
                     std::vector<ClassRow>& classes) {
    for (const auto& [resource_class, inventory] : provider.inventories) {
        auto& room = classes[names.find_class(resource_class)].room;
        room = saturating_add(room, sane(held.get(resource_class)));
    }
}

/// Servers whose deletion is under way already.
void add_coming_room(const Server& server, const Host& host, const RowNames& names,
                     std::vector<ClassRow>& classes) {
    for (const auto& provider : host.providers) {
        const auto at = server.allocations.find(provider.id);
        if (at != server.allocations.end()) add_coming_room(at->second, provider, names, classes);
    }
}

/// What victims hold that Nova lists no more.
void add_unlisted_room(const Host& host, const Ledger& ledger, const RowNames& names,
                       std::vector<ClassRow>& classes) {
    const auto listed = [&](const ServerId& id) {
        return std::any_of(host.servers.begin(), host.servers.end(),
                           [&](const Server& server) { return server.id == id; });
    };
    for (const auto& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            if (ledger.evicting(consumer) && !ledger.given_up(consumer) && !listed(consumer))
                add_coming_room(held, provider, names, classes);
}

/// Exact where one provider has the class, as all of a row.
void take_off_promises(const Host& host, const Ledger& ledger, const Role* role,
                       const RowNames& names, std::vector<ClassRow>& classes) {
    for (const auto* const promise : ledger.promises_on(host.id)) {
        if (promise->open() <= 0 || (role != nullptr && ledger.reserved().is_for(*promise, *role)))
            continue;
        for (const auto& [resource_class, each] : promise->slot) {
            const auto number = names.find_class(resource_class);
            if (each <= 0 || number == RowNames::none) continue;
            auto& room = classes[number].room;
            room = saturating_subtract(room, saturating_multiply(each, promise->open()));
        }
    }
}

/// Is it a tenant that does not go for such requests?
bool stays(const ServerId& server, const ReservedRoom& room, const Role* role) {
    return role == nullptr ? room.lender_of(server) != nullptr : room.stays_for(server, *role);
}

/// Both above 0. Small numbers are divided several times faster.
bool divides(Amount divisor, Amount amount) {
    if ((divisor | amount) >> 32 == 0)
        return static_cast<std::uint32_t>(amount) % static_cast<std::uint32_t>(divisor) == 0;
    return amount % divisor == 0;
}

/// Adds one candidate's gains on the host's providers.
class Gains {
public:
    Gains(const Host& host, RowNames& names, std::vector<ClassRow>& classes)
        : host_{host}, names_{names}, classes_{classes} {
        starts_.reserve(host.servers.size());
        all_.reserve(4 * host.servers.size());
    }

    /// Returns the number of its kind.
    std::size_t add(const Server& server) {
        Amount work = 0;
        for (const auto& [provider, held] : server.allocations)
            for (const auto& cpus : cpu_classes()) work = saturating_add(work, held.get(cpus));
        gains_.clear();
        for (const auto& [provider, held] : server.allocations) {
            const Provider* const on = provider_of_host(provider);
            if (on == nullptr) continue;
            for (const auto& [resource_class, amount] : held)
                if (amount > 0 && on->inventories.contains(resource_class))
                    collect(names_.class_number(resource_class), sane(amount));
        }
        const Amount start = minutes_up(server.launched.value_or(server.created));
        const bool idle = !loses_work(server);
        starts_.push_back(Start{start, idle, all_.size(), all_.size() + gains_.size()});
        for (const auto& [number, gain] : gains_) {
            put(number, gain, work);
            all_.push_back(Gain{number, gain});
        }
        std::sort(gains_.begin(), gains_.end());
        return names_.kind_number(gains_);
    }

    /// The curves of all classes, when all candidates have been added.
    void draw(std::vector<WorkCurve>& curves) {
        curves.assign(classes_.size(), WorkCurve{});
        std::sort(starts_.begin(), starts_.end(),
                  [](const Start& a, const Start& b) { return a.start > b.start; });
        counts_.assign(classes_.size(), Drawn{});
        for (const auto& [start, idle, first, last] : starts_)
            for (std::size_t i = first; i < last; ++i) {
                auto& curve = curves[all_[i].number];
                if (idle)
                    curve.idle = saturating_add(curve.idle, all_[i].gain);
                else
                    draw_one(curve, counts_[all_[i].number], all_[i].gain, start);
            }
        for (std::size_t i = 0; i < curves.size(); ++i) {
            // Nothing is gained beyond the last candidate.
            auto& drawn = counts_[i];
            for (; drawn.point < WorkCurve::points; ++drawn.point) {
                curves[i].gain[drawn.point] = drawn.gain;
                curves[i].started[drawn.point] = drawn.started;
                curves[i].next[drawn.point] = drawn.last;
            }
            classes_[i].latest =
                curves[i].idle > 0 ? std::numeric_limits<std::int32_t>::max() : curves[i].next[0];
        }
    }

private:
    const Provider* provider_of_host(const ProviderId& id) const {
        for (const auto& provider : host_.providers)
            if (provider.id == id) return &provider;
        return nullptr;
    }

    void collect(std::uint32_t number, Amount gain) {
        for (auto& [other, sum] : gains_)
            if (other == number) {
                sum = saturating_add(sum, gain);
                return;
            }
        gains_.emplace_back(number, gain);
    }

    void put(std::uint32_t number, Amount gain, Amount work) {
        if (number >= classes_.size()) classes_.resize(number + 1);
        auto& row = classes_[number];
        const bool first = row.gain == 0;
        row.gain = saturating_add(row.gain, gain);
        row.largest = std::max(row.largest, gain);
        if (first || !divides(row.unit, gain)) row.unit = std::gcd(row.unit, gain);
        // Only where it is less: a product is quicker than a division.
        const Amount shifted =
            work >= (max_work << work_bits) / 2 ? 0 : std::max<Amount>(work, 0) << work_bits;
        if (first || shifted < saturating_multiply(row.work, gain))
            row.work = static_cast<std::uint32_t>(std::min(shifted / gain, max_work));
    }

    struct Gain {
        std::uint32_t number = 0;
        Amount gain = 0;
    };
    /// One candidate: its start, and where its gains are.
    struct Start {
        Amount start = 0;
        bool idle = false;
        std::size_t first = 0;
        std::size_t last = 0;
    };
    /// How far a curve is drawn.
    struct Drawn {
        std::size_t point = 0;
        std::size_t candidates = 0;
        Amount gain = 0;
        Amount started = 0;
        std::int32_t last = 0;
    };

    static Amount minutes_up(TimePoint time) {
        const Amount minutes =
            std::chrono::ceil<std::chrono::minutes>(time).time_since_epoch().count();
        return std::clamp<Amount>(minutes, 0, std::numeric_limits<std::int32_t>::max());
    }

    static void draw_one(WorkCurve& curve, Drawn& drawn, Amount gain, Amount start) {
        drawn.last = static_cast<std::int32_t>(start);
        if (drawn.point < WorkCurve::points && drawn.candidates == sampled[drawn.point]) {
            curve.gain[drawn.point] = drawn.gain;
            curve.started[drawn.point] = drawn.started;
            curve.next[drawn.point] = drawn.last;
            ++drawn.point;
        }
        ++drawn.candidates;
        drawn.gain = saturating_add(drawn.gain, gain);
        drawn.started = saturating_add(drawn.started, saturating_multiply(gain, start));
    }

    const Host& host_;
    RowNames& names_;
    std::vector<ClassRow>& classes_;
    RowNames::Kind gains_;
    std::vector<Gain> all_;
    std::vector<Start> starts_;
    std::vector<Drawn> counts_;
};

/// In a loop of its own: each id is somewhere else in memory, and so they are waited for together.
void read_consumers(const Host& host, HostRow& row) {
    row.consumers.clear();
    for (const auto& server : host.servers) row.consumers.push_back(hash_of_consumer(server.id));
    for (const auto& server : host.left_behind)
        row.consumers.push_back(hash_of_consumer(server.id));
    for (const auto& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            row.consumers.push_back(hash_of_consumer(consumer));
}

void read_room(const Host& host, RowNames& names, std::vector<ClassRow>& classes) {
    for (const auto& provider : host.providers)
        for (const auto& [resource_class, inventory] : provider.inventories) {
            const auto number = names.class_number(resource_class);
            if (number >= classes.size()) classes.resize(number + 1);
            auto& row = classes[number];
            const Amount capacity = sane(provider.capacity(resource_class, inventory));
            row.providers = static_cast<std::uint8_t>(std::min(row.providers + 1, 2));
            row.on_root = row.providers == 1 && &provider == &host.root();
            row.capacity = capacity;
            row.limits = names.limits_number(inventory);
            row.room += capacity - sane(provider.used.get(resource_class));
        }
}

}  // namespace

std::uint32_t RowNames::class_number(const ResourceClass& resource_class) {
    const auto number = find_class(resource_class);
    if (number != none) return number;
    classes_.push_back(resource_class);
    return static_cast<std::uint32_t>(classes_.size() - 1);
}

std::uint32_t RowNames::find_class(const ResourceClass& resource_class) const {
    const auto at = std::find(classes_.begin(), classes_.end(), resource_class);
    return at == classes_.end() ? none : static_cast<std::uint32_t>(at - classes_.begin());
}

std::uint16_t RowNames::limits_number(const Inventory& inventory) {
    const UnitLimits limits{inventory.min_unit, inventory.max_unit, inventory.step_size};
    const auto at = std::find(limits_.begin(), limits_.end(), limits);
    if (at != limits_.end()) return static_cast<std::uint16_t>(at - limits_.begin());
    // A cloud where every host has limits of its own: the last number stands for "ask the host".
    if (limits_.size() >= odd_limits) return odd_limits;
    limits_.push_back(limits);
    return static_cast<std::uint16_t>(limits_.size() - 1);
}

std::uint32_t RowNames::profile_number(const Host& host, std::uint32_t guess) {
    if (guess < profiles_.size() && same_profile(profiles_[guess], host)) return guess;
    const std::size_t hash = hash_of_profile(host);
    const auto [first, last] = profile_by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at)
        if (same_profile(profiles_[at->second], host)) return at->second;
    Profile profile{
        host.up,           host.enabled,  host.availability_zone, {}, has_nested_traits(host),
        root_traits(host), host.member_of};
    for (const auto& provider : host.providers)
        profile.traits.insert(provider.traits.begin(), provider.traits.end());
    profiles_.push_back(std::move(profile));
    const auto number = static_cast<std::uint32_t>(profiles_.size() - 1);
    profile_by_hash_.emplace(hash, number);
    return number;
}

std::size_t RowNames::kind_number(const Kind& kind) {
    std::uint64_t hash = 0;
    for (const auto& [number, gain] : kind)
        hash = (hash ^ number ^ static_cast<std::uint64_t>(gain) << 8) * 0x9e3779b97f4a7c15ULL;
    // A quarter of the places is taken at most: the next free one is not far.
    std::size_t place = hash >> 56;
    for (; kind_checker_[place] != max_kinds; place = (place + 1) % kind_checker_.size())
        if (kinds_[kind_checker_[place]] == kind) return kind_checker_[place];
    if (kinds_.size() >= max_kinds) return max_kinds;
    kind_checker_[place] = static_cast<std::uint8_t>(kinds_.size());
    kinds_.push_back(kind);
    return kinds_.size() - 1;
}

std::uint32_t RowNames::project_number(const ProjectId& project) {
    const auto place = reinterpret_cast<std::uintptr_t>(&project.str());
    auto& recent = recent_projects_[place / 16 * 0x9e3779b9U % 65536 % recent_projects_.size()];
    if (recent < projects_.size() && projects_[recent] == project) return recent;
    const auto [at, added] =
        project_numbers_.try_emplace(project, static_cast<std::uint32_t>(projects_.size()));
    if (added) projects_.push_back(project);
    recent = at->second;
    return at->second;
}

void read_host(const Host& host, const Protection& protection, const VictimFilter* victim_filter,
               const Ledger* ledger, const Role* role, RowNames& names, HostRow& row,
               CandidateSketch& candidates, std::vector<ClassRow>& classes,
               std::vector<WorkCurve>& curves) {
    classes.assign(names.classes(), ClassRow{});
    row.host = &host;
    row.profile = names.profile_number(host, row.profile);
    row.service_host = hash_of(host.service_host);
    row.last_start = row.newest = std::numeric_limits<Amount>::min();
    candidates.newest = std::numeric_limits<Amount>::min();
    candidates.oldest = std::numeric_limits<Amount>::max();
    candidates.kinds = 0;
    candidates.kinds_known = true;
    candidates.of_kind = {};
    row.projects.clear();
    read_consumers(host, row);
    read_room(host, names, classes);
    Gains gains{host, names, classes};
    const bool host_protected = protection.protects_host(host.member_of);
    if (ledger != nullptr) {
        add_unlisted_room(host, *ledger, names, classes);
        take_off_promises(host, *ledger, role, names, classes);
    }
    const auto offer = [&](const Server& server) {
        if (ledger != nullptr && ledger->evicting(server.id)) return;
        if (host_protected || !may_be_victim(server) || protection.protects(server)) return;
        if (ledger != nullptr && stays(server.id, ledger->reserved(), role)) return;
        if (victim_filter != nullptr && victim_filter->keeps(server, host)) return;
        const std::size_t kind = gains.add(server);
        if (kind < RowNames::max_kinds && candidates.of_kind[kind] < 255) {
            candidates.kinds |= std::uint64_t{1} << kind;
            ++candidates.of_kind[kind];
        } else {
            candidates.kinds_known = false;
        }
        row.last_start =
            std::max<Amount>(row.last_start, start_of(server).time_since_epoch().count());
        const Amount created = server.created.time_since_epoch().count();
        candidates.newest = std::max(candidates.newest, created);
        candidates.oldest = std::min(candidates.oldest, created);
    };
    for (const auto& server : host.servers) {
        row.newest = std::max<Amount>(row.newest, server.created.time_since_epoch().count());
        const bool goes = ledger == nullptr ? comes_free(server) : comes_free(server, *ledger);
        if (goes) add_coming_room(server, host, names, classes);
        if (!server.revocable()) continue;
        row.projects.push_back(names.project_number(server.project));
        if (!goes) offer(server);
    }
    for (const auto& server : host.left_behind) {
        const bool goes =
            ledger != nullptr && ledger->evicting(server.id) && !ledger->given_up(server.id);
        if (goes) add_coming_room(server, host, names, classes);
        if (server.revocable()) offer(server);
    }
    gains.draw(curves);
}

}  // namespace reaper

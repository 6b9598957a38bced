#include "reaper/gateway/candidates.hpp"

#include <algorithm>
#include <utility>

#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"

namespace reaper {
namespace {

constexpr const char* const ways_name = "allocation_requests";
constexpr const char* const hosts_name = "provider_summaries";

HostId root_of(const std::string& provider, const JsonPlace& row) {
    const std::string root = row.text_or_empty("root_provider_uuid");
    return HostId{root.empty() ? provider : root};
}

/// How often `amounts` fit into `room`.
Amount times(const Resources& amounts, const Resources& room) {
    Amount fits = std::numeric_limits<Amount>::max();
    for (const auto& [name, amount] : amounts) {
        if (amount > 0) fits = std::min(fits, std::max<Amount>(room.get(name), 0) / amount);
    }
    return fits;
}

}  // namespace

std::vector<HostId> quick_hosts_of(std::string_view body, std::size_t most) {
    constexpr std::string_view name = "\"root_provider_uuid\"";
    if (body.find("MISC_SHARES_VIA_AGGREGATE") != body.npos) return {};
    std::set<std::string_view> seen;
    std::vector<HostId> hosts;
    for (auto at = body.find(name); at != body.npos && hosts.size() < most;
         at = body.find(name, at + name.size())) {
        const auto from = body.find('"', at + name.size());
        if (from == body.npos) break;
        const auto to = body.find('"', from + 1);
        if (to == body.npos) break;
        const std::string_view id = body.substr(from + 1, to - from - 1);
        if (seen.insert(id).second) hosts.emplace_back(std::string(id));
    }
    return hosts;
}

Candidates::Candidates()
    : answer_{{ways_name, nlohmann::json::array()}, {hosts_name, nlohmann::json::object()}} {}

Result<Candidates> Candidates::read(std::string_view body) {
    Candidates read;
    try {
        read.answer_ = parse_bounded(body);
        if (read.answer_.is_discarded()) return Error{Errc::bad_answer, "no JSON"};
        const JsonPlace top(read.answer_);
        const JsonPlace summaries = top[hosts_name];
        summaries.each_member([&](const std::string& provider, const JsonPlace& row) {
            const HostId root = root_of(provider, row);
            read.roots_.emplace(ProviderId{provider}, root);
            Resources& free = read.free_[root];
            const JsonPlace classes = row["resources"];
            classes.each_member([&](const std::string& name, const JsonPlace& room) {
                const Amount left = room["capacity"].integer() - room["used"].integer();
                free.add(ResourceClass{name}, std::max<Amount>(left, 0));
            });
        });
        const JsonPlace ways = top[ways_name];
        ways.each([&](const JsonPlace& way) {
            PlacementWay& candidate = read.ways_.emplace_back();
            const JsonPlace allocations = way["allocations"];
            allocations.each_member([&](const std::string& provider, const JsonPlace& row) {
                const auto root = read.roots_.find(ProviderId{provider});
                row.expect(root != read.roots_.end(), "a provider of provider_summaries");
                const JsonPlace amounts = row["resources"];
                candidate[root->second] += amounts.resources();
            });
        });
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_answer, wrong.what};
    }
    return read;
}

std::set<HostId> Candidates::hosts() const {
    std::set<HostId> hosts;
    for (const PlacementWay& way : ways_)
        for (const auto& [host, amounts] : way) hosts.insert(host);
    return hosts;
}

std::map<HostId, Amount> Candidates::places_by_host(const std::set<HostId>& hosts) const {
    std::map<HostId, Amount> most;
    for (const PlacementWay& way : ways_) {
        // Of a way over several hosts, the one that it fits least often counts.
        HostId scarcest;
        Amount fits = std::numeric_limits<Amount>::max();
        for (const auto& [host, amounts] : way) {
            const Amount here = times(amounts, free_.at(host));
            if (here < fits || scarcest.str().empty()) scarcest = host;
            fits = std::min(fits, here);
        }
        const bool besides = std::none_of(
            way.begin(), way.end(), [&](const auto& part) { return hosts.contains(part.first); });
        if (!besides) continue;
        Amount& known = most[scarcest];
        known = std::max(known, std::min<Amount>(fits, std::numeric_limits<int>::max()));
    }
    return most;
}

Amount Candidates::places_besides(const std::set<HostId>& hosts) const {
    Amount sum = 0;
    for (const auto& [host, places] : places_by_host(hosts)) sum += places;
    return sum;
}

bool Candidates::withhold(const Withheld& withheld) {
    std::set<HostId> changed;
    for (const HostId& host : hosts()) {
        const Resources kept = withheld(host);
        if (kept.empty()) continue;
        free_[host] -= kept;
        changed.insert(host);
    }
    if (changed.empty()) return false;
    return leave_only([&](const PlacementWay& way) {
        return std::all_of(way.begin(), way.end(), [&](const auto& part) {
            return !changed.contains(part.first) || times(part.second, free_.at(part.first)) >= 1;
        });
    });
}

bool Candidates::keep_to(ResType type) {
    return leave_only([&](const PlacementWay& way) {
        return std::all_of(way.begin(), way.end(), [&](const auto& part) {
            return declared_type(traits_of(part.first)).value_or(type) == type;
        });
    });
}

bool Candidates::keep_to_hosts(const std::set<HostId>& hosts) {
    return leave_only([&](const PlacementWay& way) {
        return std::all_of(way.begin(), way.end(),
                           [&](const auto& part) { return hosts.contains(part.first); });
    });
}

std::set<Trait> Candidates::traits_of(const HostId& host) const {
    std::set<Trait> traits;
    const auto& rows = answer_[hosts_name];
    const auto row = rows.find(host.str());
    if (row == rows.end() || !row->contains("traits")) return traits;
    for (const auto& trait : row->at("traits"))
        if (trait.is_string()) traits.insert(Trait{trait.get<std::string>()});
    return traits;
}

/// True if some are left out.
bool Candidates::leave_only(const std::function<bool(const PlacementWay&)>& wanted) {
    auto& rows = answer_[ways_name];
    std::vector<PlacementWay> left;
    nlohmann::json left_rows = nlohmann::json::array();
    for (std::size_t i = 0; i < ways_.size(); ++i) {
        if (!wanted(ways_[i])) continue;
        left.push_back(std::move(ways_[i]));
        left_rows.push_back(std::move(rows[i]));
    }
    // Hosts that were added stay.
    for (std::size_t i = ways_.size(); i < rows.size(); ++i)
        left_rows.push_back(std::move(rows[i]));
    const bool fewer = left.size() < ways_.size();
    ways_ = std::move(left);
    rows = std::move(left_rows);
    return fewer;
}

void Candidates::join(const Candidates& others) {
    for (const auto& row : others.answer_[ways_name]) answer_[ways_name].push_back(row);
    answer_[hosts_name].update(others.answer_[hosts_name]);
    ways_.insert(ways_.end(), others.ways_.begin(), others.ways_.end());
    free_.insert(others.free_.begin(), others.free_.end());
    roots_.insert(others.roots_.begin(), others.roots_.end());
}

std::string Candidates::text() const {
    const std::set<HostId> left = hosts();
    nlohmann::json answer = answer_;
    auto& summaries = answer[hosts_name];
    for (const auto& [provider, root] : roots_)
        if (!left.contains(root) && !added_.contains(root)) summaries.erase(provider.str());
    return answer.dump();
}

void Candidates::add(const std::vector<OfferedHost>& hosts, const Resources& amounts) {
    nlohmann::json wanted = nlohmann::json::object();
    for (const auto& [name, amount] : amounts) wanted[name.str()] = amount;
    for (const OfferedHost& offered : hosts) {
        const std::string& id = offered.host.str();
        nlohmann::json rooms = nlohmann::json::object();
        for (const auto& [name, capacity] : offered.capacity)
            rooms[name.str()] = {{"capacity", capacity}, {"used", offered.used.get(name)}};
        nlohmann::json traits = nlohmann::json::array();
        for (const Trait& trait : offered.traits) traits.push_back(trait.str());
        answer_[ways_name].push_back({{"allocations", {{id, {{"resources", wanted}}}}},
                                      {"mappings", {{"", nlohmann::json::array({id})}}}});
        answer_[hosts_name][id] = {{"resources", std::move(rooms)},
                                   {"traits", std::move(traits)},
                                   {"parent_provider_uuid", nullptr},
                                   {"root_provider_uuid", id}};
        added_.insert(offered.host);
    }
}

}  // namespace reaper

// A host in numbers: what every decision needs to know of it, whatever the request. It is read from
// the host once when the host changes. Class names become small numbers. All that only decides
// whether a request may use the host (state, zone, traits) becomes the number of a *profile* that
// many hosts share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/role.hpp"
#include "reaper/safeguards/protection.hpp"
#include "strategies/sketch.hpp"

namespace reaper {

class Ledger;
class VictimFilter;

/// One class on one host. The sums run over its providers, candidates are the revocable servers
/// that may go (suitable_hosts.hpp) and are not protected; room is capacity - used, what is being
/// deleted taken off the use.
struct ClassRow : NeedSketch {
    std::uint16_t limits = 0;    ///< number of its unit limits
    std::uint8_t providers = 0;  ///< that have the class; the rest is exact for one
    bool on_root = false;        ///< and that one is the root
    Amount capacity = 0;         ///< of the one provider
};

/// min_unit, max_unit and step_size.
struct UnitLimits {
    Amount min_unit = 1;
    Amount max_unit = 0;
    Amount step_size = 1;
    friend auto operator<=>(const UnitLimits&, const UnitLimits&) = default;
};

/// What decides whether a request may go to a host, room aside.
struct Profile {
    bool up = true;
    bool enabled = true;
    std::string availability_zone;
    std::set<Trait> traits;      ///< of any provider
    bool nested_traits = false;  ///< some are not the root's
    Shared<std::set<Trait>> root_traits;
    Shared<HostAggregates> member_of;
    friend bool operator==(const Profile&, const Profile&) = default;
};

struct HostRow {
    const Host* host = nullptr;  ///< null: the row is free
    std::uint32_t profile = 0;
    std::uint32_t rank = 0;          ///< in the order of names
    std::uint64_t service_host = 0;  ///< hash
    Amount last_start = 0;           ///< of the candidate that runs shortest, milliseconds UTC
    Amount newest = 0;               ///< creation of the newest server, as above
    /// Hashes of all consumers on the host, servers and others.
    std::vector<std::uint32_t> consumers;
    /// Projects of its revocable servers, one for each server.
    std::vector<std::uint32_t> projects;
};

/// Tables by row, of `stride` cells each, as so many rows of `wider`.
template <class Cell>
std::vector<Cell> widened(const std::vector<Cell>& cells, std::size_t stride, std::size_t wider,
                          std::size_t rows) {
    std::vector<Cell> all(rows * wider);
    for (std::size_t row = 0; stride > 0 && (row + 1) * stride <= cells.size(); ++row)
        std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(row * stride), stride,
                    all.begin() + static_cast<std::ptrdiff_t>(row * wider));
    return all;
}

inline std::uint64_t hash_of(std::string_view text) {
    return std::hash<std::string_view>{}(text);
}

/// Of a consumer's id, quickly, eight characters at a time. Equal for different ids occasionally: a
/// lookup must then compare the ids.
inline std::uint32_t hash_of_consumer(const ServerId& id) {
    const std::string& text = id.str();
    std::uint64_t hash = text.size();
    std::uint64_t word = 0;
    if (text.size() < sizeof word) return static_cast<std::uint32_t>(hash_of(text));
    const auto mix = [&](std::size_t from) {
        std::memcpy(&word, text.data() + from, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    };
    for (std::size_t from = 0; from + sizeof word < text.size(); from += sizeof word) mix(from);
    mix(text.size() - sizeof word);
    return static_cast<std::uint32_t>(hash);
}

/// Small numbers for things that many hosts share. Entries stay: a cloud has few of them.
class RowNames {
public:
    /// The number of a class, a new one if it was not met before.
    std::uint32_t class_number(const ResourceClass& resource_class);
    /// Its number, or that of none.
    static constexpr std::uint32_t none = 0xffffffff;
    std::uint32_t find_class(const ResourceClass& resource_class) const;
    std::size_t classes() const { return classes_.size(); }

    /// Its number, or `odd_limits` when there are too many different ones: the host must be asked.
    static constexpr std::uint16_t odd_limits = 1000;
    std::uint16_t limits_number(const Inventory& inventory);
    const std::vector<UnitLimits>& limits() const { return limits_; }

    /// `guess`: the number that the host had before.
    std::uint32_t profile_number(const Host& host, std::uint32_t guess);
    const std::vector<Profile>& profiles() const { return profiles_; }

    /// Gains of a candidate by class number, ascending.
    using Kind = std::vector<std::pair<std::uint32_t, Amount>>;
    /// Its number; `most_kinds` if there are too many different ones.
    static constexpr std::size_t max_kinds = KindGains::max_kinds;
    std::size_t kind_number(const Kind& kind);
    const std::vector<Kind>& kinds() const { return kinds_; }

    std::uint32_t project_number(const ProjectId& project);
    const std::vector<ProjectId>& projects() const { return projects_; }

private:
    static constexpr std::array<std::uint8_t, 256> no_kinds() {
        std::array<std::uint8_t, 256> none_of_them{};
        none_of_them.fill(max_kinds);
        return none_of_them;
    }

    std::vector<ResourceClass> classes_;
    std::vector<UnitLimits> limits_;
    std::vector<Profile> profiles_;
    std::multimap<std::size_t, std::uint32_t> profile_by_hash_;
    std::vector<Kind> kinds_;
    /// Numbers of kinds, each from the place on that its hash says; `most_kinds`: none.
    std::array<std::uint8_t, 256> kind_checker_ = no_kinds();
    std::vector<ProjectId> projects_;
    std::unordered_map<ProjectId, std::uint32_t> project_numbers_;
    /// The numbers met last, by where a project's text is: equal texts are mostly one.
    std::array<std::uint32_t, 1024> recent_projects_{};
};

/// Reads the host into `row`, `candidates`, `classes` and `curves` (by class number; as many as
/// `names` knows in the end). A server that the victim filter (may be null) keeps is no candidate.
/// Room is as the ledger (null: an empty one) leaves it to requests that it promises nothing on the
/// host: those of the role (may be null), else those that nothing is reserved for.
void read_host(const Host& host, const Protection& protection, const VictimFilter* victim_filter,
               const Ledger* ledger, const Role* role, RowNames& names, HostRow& row,
               CandidateSketch& candidates, std::vector<ClassRow>& classes,
               std::vector<WorkCurve>& curves);

}  // namespace reaper

// What the safeguards are set to. Plain data; the configuration fills it in. Everywhere 0 means
// "none".
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace reaper {

/// `protect:` servers that are never victims.
struct ProtectSettings {
    /// Do tags, metadata and locks of a server's owner keep it from going?
    bool owners = false;
    std::vector<std::string> tags{"reaper-protected"};
    /// Keys: a server is protected by any value but false, no and 0.
    std::vector<std::string> metadata{"reaper:protected"};
    std::vector<std::string> projects;      ///< as written: ids, names or DOMAIN/NAME
    std::vector<std::string> flavors{};     ///< names
    std::vector<std::string> aggregates{};  ///< names or UUIDs
    /// Servers that an operator protects (`reaper protect`), by id, each with the reason.
    std::map<std::string, std::string> servers{};
    /// Their ids, by what is written; of one that is not here it is not known which project it is.
    std::map<std::string, std::string> project_ids{};
    /// A server may be a victim only when it has run this long (since its launch, else its
    /// creation).
    std::chrono::milliseconds min_run_time{0};

    friend bool operator==(const ProtectSettings&, const ProtectSettings&) = default;
};

/// `limits:` victims at most. A share is per cent of all revocable servers.
struct LimitSettings {
    int victims_per_request = 100;
    int share_per_request = 25;
    std::chrono::milliseconds window{3'600'000};  ///< of those below
    int share_per_requester = 50;                 ///< for the requests of one project
    int share_least = 50;                         ///< a share is never fewer victims than this
    int victims_per_window = 0;
    int victims_per_project = 0;
    int victims_per_aggregate = 0;

    friend bool operator==(const LimitSettings&, const LimitSettings&) = default;
};

/// `thrash:` workloads that keep being evicted and coming back are kept longer.
struct ThrashSettings {
    int after = 3;  ///< evictions within the window
    std::chrono::milliseconds window{86'400'000};
    /// Servers that have run less than `grace * 2^(evictions - after)` are kept, ...
    std::chrono::milliseconds grace{1'800'000};
    std::chrono::milliseconds max_grace{28'800'000};  ///< ... but not longer than this
    /// Of the metadata that names a workload; empty: the server's name does.
    std::string workload_key{};

    friend bool operator==(const ThrashSettings&, const ThrashSettings&) = default;
};

/// How long something is left alone after it went wrong: twice as long each time in a row.
struct RetrySettings {
    std::chrono::milliseconds retry_after{1'800'000};
    std::chrono::milliseconds max_retry_after{86'400'000};

    friend bool operator==(const RetrySettings&, const RetrySettings&) = default;
};

/// `breaker:` things in a row that stop all culls, until one is tried.
struct BreakerSettings {
    int wasted = 5;    ///< slots whose room went unused, ...
    int projects = 2;  ///< ... of at least so many projects
    int failed = 5;    ///< deletions that failed
    /// 0: only after an operator has checked.
    RetrySettings retry{std::chrono::milliseconds{1'800'000},
                        std::chrono::milliseconds{28'800'000}};

    friend bool operator==(const BreakerSettings&, const BreakerSettings&) = default;
};

/// `project_breaker:` the same for the culls of one project.
struct ProjectBreakerSettings {
    int wasted = 3;  ///< slots in a row whose room went unused
    /// Slots at a time of which it is not known whether they help; of a project whose freed room
    /// was taken lately twice as many as were taken.
    int unproven = 10;
    RetrySettings retry{};

    friend bool operator==(const ProjectBreakerSettings&, const ProjectBreakerSettings&) = default;
};

/// `shape_cooldown:` the same for one shape (flavor, image, constraints) of a project's requests.
struct ShapeCooldownSettings {
    int wasted = 2;  ///< slots in a row; after the first, other hosts are tried
    RetrySettings retry{};

    friend bool operator==(const ShapeCooldownSettings&, const ShapeCooldownSettings&) = default;
};

/// `short_lived:` projects that give freed room back within minutes, again and again.
struct ShortLivedSettings {
    std::chrono::milliseconds lived{600'000};  ///< room that is used for this long was worth it
    int allowance = 10;  ///< victims within the window for room that was not used; 0: any number
    std::chrono::milliseconds window{7'200'000};
    RetrySettings retry{};

    friend bool operator==(const ShortLivedSettings&, const ShortLivedSettings&) = default;
};

struct SafeguardSettings {
    ProtectSettings protect;
    LimitSettings limits;
    ThrashSettings thrash;
    BreakerSettings breaker;
    ProjectBreakerSettings project_breaker;
    ShapeCooldownSettings shape_cooldown;
    ShortLivedSettings short_lived;
    /// How long a host ranks lower after room freed there was not taken.
    std::chrono::milliseconds host_cooldown{1'800'000};

    friend bool operator==(const SafeguardSettings&, const SafeguardSettings&) = default;
};

}  // namespace reaper

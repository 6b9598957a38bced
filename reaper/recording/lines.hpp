// The lines of a recording, to JSON and back (RECORDING.md).
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "reaper/decision/decision_observer.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/report/name_changer.hpp"

namespace reaper::recording {

inline constexpr int recording_version = 1;

/// The first line of a segment.
struct Begin {
    TimePoint at{};
    std::string run;       ///< the segments of one daemon that follow each other have the same
    int segment = 0;       ///< counts in the daemon
    bool follows = false;  ///< it goes on where the segment before it ended
    bool anonymous = false;
    bool dry_run = false;
    std::string version;  ///< the reaper's
};

/// The policy from here on.
struct PolicyLine {
    config::Policy policy;      ///< only of the writer: a reader gets `configuration`
    std::string configuration;  ///< as a file says it
    std::map<std::string, std::string> project_ids;  ///< those of protect.projects
    std::set<ResourceClass> revocable_classes;
    std::set<std::string> protected_servers{};  ///< by operators

    friend bool operator==(const PolicyLine&, const PolicyLine&) = default;
};

/// What one decision rested on, the hosts aside.
struct Seen {
    Request request;
    TimePoint at{};
    bool whole = false;     ///< the hosts are those that it rested on, all of them
    bool reserved = false;  ///< what reservations keep or lend had a say, which is not recorded
    Ledger ledger;
    std::vector<ServerId> given_up{};
    std::map<ServerId, std::string> skipped{};
    std::vector<PastVictim> history{};  ///< oldest first
    std::set<HostId> cooling{};         ///< hosts in cooldown
    std::string held{};  ///< the safeguard that kept it from deleting any; empty: none
    std::string held_because{};
    std::optional<std::string> no_move{};
    bool several_cells = false;
};
Seen seen_by(const DecisionSight& sight, bool whole);

/// What is read back.
struct HostLine {
    Host host;
};
struct GoneLine {
    HostId host;
};
struct WholeLine {};
struct TagsLine {
    TagData tag_data;
};
struct RequestLine {
    Request request;
    TimePoint at{};
};
struct PlanLine {
    RequestId request;
    PlanEntry plan;
};
struct StepLine {
    RequestId request;
    StepEntry step;
};
struct OutcomeLine {
    RequestId request;
    Outcome outcome;
};
struct FreedLine {
    RequestId request;
    FreedRoomResult result;
};
/// One that this version does not know.
struct OtherLine {};
using Line = std::variant<OtherLine, Begin, PolicyLine, TagsLine, HostLine, GoneLine, WholeLine,
                          std::shared_ptr<const Seen>, RequestLine, PlanLine, StepLine, OutcomeLine,
                          FreedLine>;

/// `changer`: null where names stay. It does not change what is said of the recording itself, nor
/// the policy.
nlohmann::json line_json(Line line, const report::NameChanger* changer);

/// What decides in it, without a name: taggers by flavors are left out (the hosts say which servers
/// are revocable), and so are cells and the strategy's projects.
config::Policy anonymous_policy(const config::Policy& policy, const report::NameChanger& changer);

/// `bad_input` with what is wrong for anything that no recorder of this version writes.
Result<Line> line_from(std::string_view text);

}  // namespace reaper::recording

// The recorded cloud under one policy, kept in step with the recording, and decisions on it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/planner/cloud_index.hpp"
#include "reaper/recording/replay.hpp"

namespace reaper::recording {

class Stage {
public:
    /// From here on; hosts that are there stay.
    void use(ReplayPolicy policy);
    bool ready() const { return policy_.compiled != nullptr; }
    void put(Host host);
    void erase(const HostId& host);
    void clear();
    void use(TagData tag_data);
    /// What its own taggers ask, and the recording does not answer.
    std::optional<std::string> unknown_tag() const;

    /// As it was: with the victims and the skipped servers of the recording.
    Decision decide_as_recorded(const Seen& seen) const;
    /// As if those decisions had been carried out that were made here before. `replayed`: the
    /// requests of the recording, whose victims are not taken from it.
    Choice decide_on(const Seen& seen, const std::set<RequestId>& replayed);

private:
    struct Kept {
        std::unique_ptr<Host> host;
    };
    Decision decide(const Seen& seen, const std::vector<PastVictim>& history,
                    std::map<ServerId, std::string> skipped) const;
    void tag(Host& host) const;
    void retag_all();

    ReplayPolicy policy_;
    TagData tag_data_;
    std::map<HostId, Kept> hosts_;
    CloudIndex index_;
    std::vector<PastVictim> gone_;  ///< by the decisions here, oldest first
    std::map<ServerId, RequestId> gone_for_;
};

}  // namespace reaper::recording

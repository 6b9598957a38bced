// The notices under way: which servers end when, and for which request.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

struct Notice {
    ServerId server;
    RequestId request;
    TimePoint until{};        ///< it is not deleted before
    bool told = false;        ///< Nova has it; else it may not, and `until` counts for nothing
    bool stopped = false;     ///< it was stopped, so that its guest shuts down
    Duration until_steady{};  ///< as `until`, where this process gave it
    std::string name{};       ///< of the server, and its host: as the plan had them
    std::string host{};
    TimePoint tried_since{};  ///< since when Nova is asked to take it
    RequestSource source{};   ///< of the request

    friend bool operator==(const Notice&, const Notice&) = default;
};

/// One for each server.
class Notices {
public:
    void set(Notice notice) { all_.insert_or_assign(notice.server, std::move(notice)); }
    void end(const ServerId& server) { all_.erase(server); }
    /// Null: it has none. Until the next change.
    const Notice* find(const ServerId& server) const;
    std::vector<Notice> of(const RequestId& request) const;
    /// When the last of a request ends; none: it has none.
    std::optional<TimePoint> last_of(const RequestId& request) const;
    /// By server.
    const std::map<ServerId, Notice>& all() const { return all_; }
    /// Those that Nova has, by server.
    std::vector<Notice> told() const;
    /// Those that the request has by the journal.
    void read_back(const RequestRecord& record);

private:
    std::map<ServerId, Notice> all_;
};

}  // namespace reaper

// Notice before the end: how long a server has between the notice and its deletion.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/notice_settings.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// The key of a server's metadata that says when it ends, as a time in UTC (`iso_time`).
inline constexpr const char* evict_at_key = "reaper:evict_at";

/// One of `periods`; none if it can't be read.
std::optional<std::pair<std::string, Duration>> notice_period_of(const std::string& text);

/// What rules may name a server by: its flavor, its project's id, its taggers.
std::vector<std::string> rule_names_of(const Server& server);

class NoticeRules {
public:
    /// What can't be read of the settings counts for nothing: the configuration is checked before.
    explicit NoticeRules(const NoticeSettings& settings = {});

    /// No server has a period, whatever it is.
    bool none() const;
    /// What its owner asked for, if owners may, at most `longest`; else the longest of `periods`
    /// that applies; else `period`. 0 if it does not run, and has no key of an end.
    Duration of(const Server& server) const;

    /// This server has notice already, and so much of it is left.
    void under_notice(const ServerId& server, Duration left) {
        left_.insert_or_assign(server, left);
    }
    /// What is left, if it has notice; else its period.
    Duration left_of(const Server& server) const;
    /// Everything that decides what `left_of` says of a server, as one text.
    std::string fingerprint() const;

private:
    NoticeSettings settings_;
    std::map<std::string, Duration, std::less<>> periods_;
    std::map<ServerId, Duration> left_;
};

}  // namespace reaper

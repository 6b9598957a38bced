// What the log tells of busy hosts: when one becomes too busy, what is done about it, and when it
// is calm again. The same is not told again in each interval.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/controllers/host_corrections.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

class QosLog {
public:
    /// A host is calm again when no figure was above its threshold for a minute.
    void look(const Host& host, const QosVerdict& verdict, TimePoint now);
    void corrected(const Host& host, const HostCorrection& correction,
                   const OrderedCorrection& ordered, bool dry_run);
    /// Once for each reason, until a correction follows or the host is calm.
    void not_corrected(const Host& host, const HostCorrection& correction, std::string why);
    /// Nobody revocable is there any more.
    void left(const Host& host);
    /// Hosts that are not looked at any more.
    void keep_only(const std::map<HostId, HostLoad>& hosts);
    void clear() { busy_.clear(); }
    void shift(Duration by);

private:
    struct Busy {
        TimePoint since{};
        std::optional<TimePoint> calm_since{};
        std::string not_corrected{};  ///< as it was told last
    };
    std::map<HostId, Busy> busy_;
};

}  // namespace reaper

// Whether each service that the reaper needs answers now: a small question to each at intervals.
// Reading the cloud is no proof: with Nova's events it is read only rarely.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/decision/live_settings.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/runtime/periodic.hpp"

namespace reaper {

/// The ports and the settings must outlive it, and it its tasks.
class CloudProbe {
public:
    static constexpr Duration between_questions{10'000};
    /// An answer counts for this time: some questions in a row may fail, or one may hang.
    static constexpr Duration valid_for{45'000};

    CloudProbe(CloudPorts cloud, const LiveSettings& settings);

    /// One for each service, so that one that hangs delays no other.
    std::vector<PeriodicTask> tasks();
    /// All of them answered now.
    void all_answered();
    /// Keystone refuses our credentials, as a call reported; true if it did not before.
    bool refused() { return !std::exchange(refused_, true); }
    /// Which one does not answer, since when and why; none if all do. The same text throughout.
    std::optional<std::string> why_silent() const;

private:
    enum Which : std::size_t { keystone, nova, placement };
    struct Seen {
        const char* name;
        Duration at{};      ///< steady: of the last answer
        TimePoint shown{};  ///< of the same, for people
        std::string why{};  ///< of the first failure since; empty: there was none
    };

    ResultTask<void> ask(Which which);
    Task<std::optional<Error>> trouble_of(Which which);
    void answered(Seen& seen);

    CloudPorts cloud_;
    const LiveSettings& settings_;
    bool refused_ = false;
    std::array<Seen, 3> services_{{{"keystone"}, {"nova"}, {"placement"}}};
};

}  // namespace reaper

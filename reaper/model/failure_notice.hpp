// What Nova's failure notification says, in our words (wire parsing is in clients/).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/flavor.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Which of Nova's failure events it was.
/// Nova sends no notice of `unshelve_server`: the reaper finds it by itself
/// (reaper/triggers/unshelve.hpp).
enum class FailureEvent { build_instances, migrate_server, rebuild_server, unshelve_server };

/// PCI devices that a flavor asks for (`pci_passthrough:alias`), in the words of the alias, which
/// is Nova's configuration.
struct PciRequest {
    std::string id;
    int count = 1;
    std::string resource_class;  ///< empty: by vendor and product
    std::string vendor, product;
    std::string traits;  ///< with commas between them
    friend bool operator==(const PciRequest&, const PciRequest&) = default;
};

/// One failure message.
struct FailureNotice {
    std::string message_id;  ///< oslo.messaging's, the same in a redelivery
    FailureEvent event{};
    RequestId request_id;        ///< `_context_request_id`
    std::string exception;       ///< `NoValidHost_Remote`, ...
    std::string exception_line;  ///< first line of its message
    ServerId server;             ///< the server that failed
    ServerId spec_server;        ///< the server that the request spec describes (the first of n)
    ProjectId project;           ///< of the request spec; the caller's, if the spec has none
    int num_instances = 1;
    std::optional<Flavor> flavor;         ///< absent for a live migration
    std::string flavor_id;                ///< empty without a flavor
    std::optional<std::string> image_id;  ///< absent for a boot from volume
    /// The image's properties and disk format, or the volume's, as Nova took them over; without
    /// the traits that it requires.
    std::map<std::string, std::string> image{};
    std::optional<std::string> availability_zone;
    std::vector<PciRequest> pci{};  ///< that the flavor asks for by its aliases
    TimePoint sent_at{};
    /// `_context_global_request_id`: by which Nova names the request to Placement, if its user gave
    /// one; several requests may have the same. Else empty.
    RequestId global_id{};

    friend bool operator==(const FailureNotice&, const FailureNotice&) = default;
};

/// A message of no interest: another event type, or another cause.
struct Ignored {
    std::string message_id;
    std::string event_type;
    std::string reason;
    friend bool operator==(const Ignored&, const Ignored&) = default;
};

/// A message that can't be understood.
struct Malformed {
    std::string reason;
    friend bool operator==(const Malformed&, const Malformed&) = default;
};

}  // namespace reaper

// Nova's notifications of failures, with or without oslo.messaging's envelope.
#include "reaper/notifications/nova_notification.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const Notification found = parse_notification(fuzz::text_of(data, size));
    if (const auto* bad = std::get_if<Malformed>(&found)) {
        fuzz::require(!bad->reason.empty(), "what is malformed has a reason");
        fuzz::require_one_line(bad->reason);
    }
    if (const auto* ignored = std::get_if<Ignored>(&found)) fuzz::require_one_line(ignored->reason);
    if (const auto* notice = std::get_if<FailureNotice>(&found)) {
        fuzz::require(!notice->server.empty(), "a failure names its server");
        fuzz::require(!notice->request_id.empty(), "a failure names its request");
        fuzz::require(notice->num_instances >= 1, "a failure is about at least one server");
    }
    return 0;
}

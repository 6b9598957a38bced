#include "reaper/model/records.hpp"

#include "reaper/model/text.hpp"

namespace reaper {

std::string_view to_string(OrderProgress progress) {
    switch (progress) {
        case OrderProgress::begun: break;
        case OrderProgress::waiting: return "waiting";
        case OrderProgress::applied: return "applied";
        case OrderProgress::failed: return "failed";
        case OrderProgress::not_done: return "not-done";
    }
    return "begun";
}

OrderProgress order_progress_of(std::string_view word) {
    for (const OrderProgress each : {OrderProgress::waiting, OrderProgress::applied,
                                     OrderProgress::failed, OrderProgress::not_done})
        if (word == to_string(each)) return each;
    return OrderProgress::begun;
}

// Source: where Nova's scheduler and conductor raise NoValidHost, Zed to 2026.1.
bool names_another_cause(std::string_view no_valid_host) {
    constexpr std::string_view head = "No valid host was found. ";
    for (const std::string_view cause :
         {"Scheduling failed: ", "Unable to replace instance claim on source",
          "No such host - host: ", "Unable to move instance ", "Image traits "})
        if (no_valid_host.find(std::string{head}.append(cause)) != no_valid_host.npos) return true;
    return false;
}

std::string PauseNote::line() const {
    std::string text = by.empty() ? "" : "by " + by + " ";
    text += "since " + iso_time(at);
    if (!reason.empty()) text += ": " + reason;
    if (!trouble.empty()) text += (reason.empty() ? ": " : "; ") + trouble;
    return text;
}

std::string protection_text(const ServerProtection& protection) {
    std::string text = protection.until ? "until " + iso_time(*protection.until)
                                        : std::string{"until an operator ends it"};
    text += ", by " + printable(protection.by, 255);
    if (!protection.reason.empty()) text += ": " + printable(protection.reason, 255);
    return text;
}

std::string why_unconfirmable(const std::string& source_host) {
    return "Nova could not confirm its resize: " + printable(source_host, 64) + " is down";
}

}  // namespace reaper

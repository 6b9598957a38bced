#include "reaper/model/server_protection.hpp"

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {

std::string protection_text(const ServerProtection& protection) {
    std::string text = protection.until ? "until " + iso_time(*protection.until)
                                        : std::string{"until an operator ends it"};
    text += ", by " + printable(protection.by, 255);
    if (!protection.reason.empty()) text += ": " + printable(protection.reason, 255);
    return text;
}

}  // namespace reaper

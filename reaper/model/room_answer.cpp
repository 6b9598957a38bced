#include "reaper/model/room_answer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::array<std::pair<RoomVerdict, std::string_view>, 6> verdicts{{
    {RoomVerdict::fits_now, "fits-now"},
    {RoomVerdict::on_its_way, "on-its-way"},
    {RoomVerdict::after_victims, "after-victims"},
    {RoomVerdict::held_back, "held-back"},
    {RoomVerdict::free_room_only, "free-room-only"},
    {RoomVerdict::never, "never"},
}};

std::string such_servers(int number) {
    return std::to_string(number) + " such " + (number == 1 ? "server" : "servers");
}

std::string reason_of(const Decision& decision) {
    if (const auto* const refused = std::get_if<Refused>(&decision)) return refused->reason;
    if (const auto* const not_enough = std::get_if<NotEnough>(&decision)) return not_enough->reason;
    return {};
}

std::string going(const Decision& decision) {
    std::size_t count = 0;
    for (const auto& host : host_plans(decision)) count += host.pending_releases.size();
    return counted(count, "server");
}

}  // namespace

std::string_view to_string(RoomVerdict verdict) {
    return word_in(verdicts, verdict);
}

std::optional<RoomVerdict> room_verdict_from(std::string_view text) {
    return value_in(verdicts, text);
}

std::vector<Victim> RoomAnswer::victims() const {
    const auto* const plan = std::get_if<Plan>(&decision);
    return plan == nullptr ? std::vector<Victim>{} : plan->victims();
}

std::string summary(const RoomAnswer& answer, int slots) {
    const std::string now =
        answer.fits_now == 0 ? "none fits now" : "room now for " + such_servers(answer.fits_now);
    switch (answer.verdict) {
        case RoomVerdict::fits_now: {
            const auto hosts = std::ranges::count_if(
                answer.there, [](const HostSlots& on) { return on.at_once > 0; });
            return "fits now: there is room for " + such_servers(answer.fits_now) + ", on " +
                   counted(hosts, "host");
        }
        case RoomVerdict::on_its_way:
            return "fits without a further deletion, when what is on the way out is gone (" +
                   going(answer.decision) + "); " + now;
        case RoomVerdict::after_victims: {
            const auto* const plan = std::get_if<Plan>(&answer.decision);
            return "fits after " + counted(answer.victims().size(), "victim") + ", on " +
                   counted(plan == nullptr ? 0 : plan->hosts.size(), "host") + "; " + now;
        }
        case RoomVerdict::held_back:
            return "does not fit now, and no server is deleted for it: " +
                   reason_of(answer.decision);
        case RoomVerdict::free_room_only:
            return "does not fit now, and no server is deleted for a revocable one: it waits for "
                   "free room (" +
                   reason_of(answer.decision) + "); " + now;
        case RoomVerdict::never:
            return "never fits " + such_servers(slots) +
                   " as the cloud is: " + reason_of(answer.decision);
    }
    return {};
}

}  // namespace reaper

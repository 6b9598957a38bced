#include "reaper/gateway/patience.hpp"

#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// A call that came so late to a look is not late for it.
constexpr Duration fair_wait{2'000};
/// While Nova does not name the requester, or not in time, no call waits for that.
constexpr Duration until_nova_is_asked_again{10'000};

/// Calls that may be looked into at a time: nova-scheduler has 64 places by default, and the rest
/// is for those that nothing is asked for. A look is short where Nova answers.
constexpr int most_looking = 48;

/// Of a service that is away, or lets us in no more; not of one request.
bool is_of_the_service(Errc code) {
    switch (code) {
        case Errc::unreachable:
        case Errc::timeout:
        case Errc::unauthorized:
        case Errc::bad_token:
        case Errc::forbidden:
        case Errc::server_error:
        case Errc::tls: return true;
        default: return false;
    }
}

}  // namespace

std::optional<std::string> Patience::passes_through() const {
    const Duration now = ports_.steady();
    if (ports_.stopping) return "stopping";
    if (auto late = waiting_room_.why_all_paused(now)) return late;
    if (auto why = ports_.unable()) return why;
    if (now < nova_silent_until_) return "Nova does not name the requester: " + nova_trouble_;
    return std::nullopt;
}

std::optional<std::string> Patience::why_busy() const {
    if (is_full())
        return std::to_string(waiting_room_.held()) + " calls wait already (gateway.max_held)";
    if (log_.counts.looking >= std::max(most_looking, ports_.settings().max_held))
        return std::to_string(log_.counts.looking) + " calls are looked into already";
    return passes_through();
}

/// Nova was asked, and did not say in time.
void Patience::note_unanswered(const GatewayCall& call, Duration waited) {
    const bool over = ports_.steady() >= call.until();
    if (!over || waited < fair_wait || call.client_gone()) return;
    log_.pause(waiting_room_.late(WaitingCall{}, ports_.steady()));
}

void Patience::note_slow_list() {
    lists_slow_until_ = ports_.steady() + until_nova_is_asked_again;
}

void Patience::note_nova(const std::optional<Error>& trouble) {
    const Duration now = ports_.steady();
    if (!trouble) nova_silent_until_ = {};
    if (!trouble || !is_of_the_service(trouble->code)) return;
    if (now >= nova_silent_until_)
        spdlog::error(
            "gateway: Nova does not name the requester: everything passes through for {} s: {}",
            until_nova_is_asked_again.count() / 1000, trouble->what);
    nova_silent_until_ = now + until_nova_is_asked_again;
    nova_trouble_ = trouble->what;
}

}  // namespace reaper

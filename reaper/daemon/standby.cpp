#include "reaper/daemon/standby.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "reaper/daemon/api_channel.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {
namespace {

constexpr Duration between_looks_at_lease{200};
/// Three signs of life did not come.
constexpr Duration longest_silence{6'000};

}  // namespace

ResultTask<void> Standby::run() {
    if (take_over_) {
        co_await service_.prepare();
        const bool ours = co_await wait();
        if (ours) {
            take_over_ = nullptr;
            spdlog::warn("takes over: the journal is ours now");
            on_status_(ServiceStatus{});
        }
    }
    co_return co_await service_.run();
}

/// Until the journal is ours; false: `stop` came before.
Task<bool> Standby::wait() {
    while (!stopping_) {
        report();
        if (const ReaperList known = reapers_->list(); !known.held && known.trouble.empty()) {
            const auto taken = co_await take_over_();
            if (taken) co_return !stopping_;
            const bool late = taken.error().code == Errc::conflict;
            if (!late && trouble_ != taken.error().what)
                spdlog::error("can't take over, trying again: {}", taken.error().what);
            trouble_ = late ? "" : taken.error().what;
        }
        if (stopping_) break;
        timer_.expires_after(between_looks_at_lease);
        co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return false;
}

void Standby::stop() {
    stopping_ = true;
    timer_.cancel();
    service_.stop();
}

std::optional<std::string> Standby::line() const {
    if (!take_over_) return std::nullopt;
    const ReaperList known = reapers_->list();
    if (!known.held) return "standing by: no reaper is active; this one takes over";
    std::string line = "standing by: " + known.holder;
    const JournalReaper* const active = known.active();
    if (active != nullptr && !active->note.gateway.empty())
        line += " (gateway " + active->note.gateway + ")";
    line += " is active";
    return active == nullptr ? line : line + " since " + iso_time(active->since);
}

std::optional<std::string> Standby::active_gateway(const std::string& ours) const {
    if (!take_over_ || stopping_) return std::nullopt;
    const ReaperList known = reapers_->list();
    const JournalReaper* const active = known.active();
    if (active == nullptr || active->here || active->silent > longest_silence) return std::nullopt;
    const std::string& url = active->note.gateway;
    // Of one that was here before us, or that only its own machine can reach.
    if (url.empty() || url == ours) return std::nullopt;
    const auto parsed = http::parse_url(url);
    if (!parsed) return std::nullopt;
    if (active->note.machine != machine_name() && is_this_machine(parsed->endpoint.host))
        return std::nullopt;
    return url;
}

std::optional<api::Health> Standby::health() const {
    const auto standing_by = line();
    if (!standing_by) return std::nullopt;
    std::string trouble = reapers_->list().trouble;
    if (trouble.empty()) trouble = trouble_;
    api::Health health;
    health.live.push_back({"loop", true, "looks for the end of the active reaper's lease"});
    health.ready.push_back({"journal", trouble.empty(), trouble.empty() ? "it answers" : trouble});
    const auto unfit = service_.why_unfit();
    health.ready.push_back({"cloud", !unfit, unfit.value_or("it answers")});
    health.notes.push_back({"standby", true, *standing_by});
    return health;
}

void Standby::report() {
    ServiceStatus status;
    status.ready = status.stands_by = true;
    status.line = *line();
    if (const auto unfit = service_.why_unfit()) status.line += "; " + *unfit;
    if (status.line == told_) return;
    // The first one is logged as what makes us ready.
    const std::string holder = reapers_->list().holder;
    if (!told_.empty() && holder != holder_) spdlog::info("{}", status.line);
    holder_ = holder;
    told_ = status.line;
    on_status_(std::move(status));
}

}  // namespace reaper

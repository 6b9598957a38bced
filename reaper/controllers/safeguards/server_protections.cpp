#include "reaper/controllers/safeguards/server_protections.hpp"

#include <utility>
#include <vector>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

std::string server_text(const ServerProtection& protection) {
    const std::string id = printable(protection.server.str(), 64);
    return "server " +
           (protection.name.empty() ? id : printable(protection.name, 64) + " (" + id + ")");
}

bool is_over(const ServerProtection& protection, TimePoint now) {
    return protection.until && *protection.until <= now;
}

}  // namespace

std::map<std::string, std::string> reasons_of(const std::map<ServerId, ServerProtection>& all) {
    std::map<std::string, std::string> reasons;
    for (const auto& [server, protection] : all)
        reasons.emplace(server.str(), protection_text(protection));
    return reasons;
}

ResultTask<std::map<ServerId, ServerProtection>> read_protections(JournalReader& journal,
                                                                  TimePoint now) {
    auto known = co_await journal.protections();
    if (!known) co_return known.error();
    std::map<ServerId, ServerProtection> all;
    for (auto& each : *known)
        if (!is_over(each, now)) all.emplace(each.server, each);
    co_return all;
}

std::map<std::string, std::string> ServerProtections::reasons() const {
    return reasons_of(all_);
}

/// Those whose time is over are ended by the first `check`, which journals it.
ResultTask<void> ServerProtections::restore() {
    auto known = co_await journal_.protections();
    if (!known) co_return known.error();
    all_.clear();
    for (auto& each : *known) all_.emplace(each.server, each);
    co_return Result<void>{};
}

/// What it tells of has happened already: a failure changes nothing of that.
Task<void> ServerProtections::note(std::string kind, std::string what) {
    JournalEvent event{std::move(kind), std::move(what), clock_.now()};
    const auto noted = co_await journal_.note_event(std::move(event));
    if (!noted) spdlog::error("not journaled: {}", noted.error().what);
}

ResultTask<void> ServerProtections::protect(ServerProtection protection) {
    ServerProtection noted = protection;
    auto written = co_await journal_.note_protection(std::move(noted));
    if (!written) co_return written.error();
    const std::string what = server_text(protection) + " " + protection_text(protection);
    all_.insert_or_assign(protection.server, std::move(protection));
    spdlog::warn("protected: {}", what);
    on_change_();
    co_await note("server-protected", what);
    co_return Result<void>{};
}

ResultTask<void> ServerProtections::end(ServerProtection protection, std::string kind,
                                        std::string why) {
    ServerId server = protection.server;
    auto written = co_await journal_.end_protection(std::move(server), protection.since);
    if (!written) co_return written.error();
    const auto known = all_.find(protection.server);
    if (known == all_.end() || !(known->second == protection)) co_return Result<void>{};
    all_.erase(known);
    const std::string what = server_text(protection) + ": " + why;
    spdlog::warn("{}: {}", kind, what);
    on_change_();
    co_await note(std::move(kind), what);
    co_return Result<void>{};
}

ResultTask<std::optional<ServerProtection>> ServerProtections::unprotect(ServerId server,
                                                                         std::string by) {
    const auto known = all_.find(server);
    if (known == all_.end()) co_return std::optional<ServerProtection>{};
    const ServerProtection protection = known->second;
    ServerProtection ended = protection;
    auto done = co_await end(std::move(ended), "server-unprotected",
                             "its protection was ended by " + printable(by, 255));
    if (!done) co_return done.error();
    co_return std::optional<ServerProtection>{protection};
}

ResultTask<void> ServerProtections::check() {
    const TimePoint now = clock_.now();
    std::vector<ServerProtection> over;
    for (const auto& [server, protection] : all_)
        if (is_over(protection, now)) over.push_back(protection);
    for (const auto& protection : over) {
        ServerProtection ended = protection;
        auto done =
            co_await end(std::move(ended), "protection-over", "the time of its protection is over");
        if (!done) co_return done.error();
    }
    co_return Result<void>{};
}

}  // namespace reaper

#include "reaper/safeguards/breaker.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr int max_counted = 1'000'000;

std::string last_for(const RequestId& request) {
    return request.empty() ? std::string{} : ", the last for " + printable(request.str(), 64);
}

}  // namespace

std::optional<std::string> Breaker::note_freed_room(const RequestId& request, CullWorth worth) {
    if (worth == CullWorth::needless) return std::nullopt;
    wasted_ = worth == CullWorth::helped ? 0 : std::min(wasted_ + 1, max_counted);
    if (open_ || settings_.wasted == 0 || wasted_ < settings_.wasted) return std::nullopt;
    open_ = true;
    return counted(wasted_, "cull") + " in a row went unused" + last_for(request) +
           "; look at `reaper history`, find what keeps servers off the freed room, then `reaper "
           "resume`";
}

std::optional<std::string> Breaker::note_deletion(bool succeeded, const RequestId& request) {
    failed_ = succeeded ? 0 : std::min(failed_ + 1, max_counted);
    if (open_ || settings_.failed == 0 || failed_ < settings_.failed) return std::nullopt;
    open_ = true;
    return counted(failed_, "deletion") + " in a row failed" + last_for(request) +
           "; look at `reaper history` and at Nova, find what keeps servers from being deleted, "
           "then `reaper resume`";
}

void Breaker::reset() {
    wasted_ = failed_ = 0;
    open_ = false;
}

}  // namespace reaper

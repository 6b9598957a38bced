#include "reaper/safeguards/short_lives.hpp"

#include <algorithm>
#include <set>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// Parts are distinguished by their length: no text of a user's can look like two.
void add(std::string& shape, char kind, const std::string& text) {
    shape += kind + std::to_string(text.size()) + ':' + text;
}

}  // namespace

std::string request_shape(const Request& request) {
    // Asked for as its fallback, it is the same shape.
    if (request.fallback) return request_shape(by_fallback(request));
    std::string shape;
    for (const auto& [resource_class, amount] : request.resources)
        add(shape, 'r', resource_class.str() + '=' + std::to_string(amount));
    add(shape, 'i', request.image);
    if (request.availability_zone) add(shape, 'z', *request.availability_zone);
    for (const auto& trait : request.required_traits) add(shape, 't', trait.str());
    for (const auto& trait : request.forbidden_traits) add(shape, 'f', trait.str());
    for (const auto& [key, value] : request.flavor_extra_specs) {
        add(shape, 'k', key);
        add(shape, 'v', value);
    }
    const PlacementConstraints& placement = request.placement;
    add(shape, 'g', placement.group.id);
    if (!placement.only_offered)
        for (const auto& host : placement.only_hosts) add(shape, 'h', host);
    for (const auto& server : placement.with) add(shape, 'w', server.str());
    for (const auto& server : placement.apart_from) add(shape, 'd', server.str());
    return shape;
}

std::string shape_text(const Request& request) {
    std::string text = to_string(request.resources);
    if (!request.image.empty()) text += ", image " + printable(request.image, 64);
    if (request.availability_zone) text += ", zone " + printable(*request.availability_zone, 64);
    return text;
}

namespace {

/// Once may be a mistake.
constexpr std::size_t least_requests = 2;
/// Of one project; the oldest are forgotten first.
constexpr std::size_t max_entries = 1'000;

}  // namespace

void ShortLives::reload(const ShortLivedSettings& settings) {
    settings_ = settings;
    circuits_.reload(settings.allowance, settings.retry);
    if (settings_.allowance <= 0) clear();
}

void ShortLives::note_taken(const RequestId& request, const ProjectId& project, double harm,
                            int takers, TimePoint at) {
    if (settings_.allowance <= 0 || takers <= 0) return;
    young_.insert_or_assign(request, Young{project, harm / takers, takers, at});
}

std::optional<ShortLives::Young> ShortLives::one_of(const RequestId& request) {
    const auto at = young_.find(request);
    if (at == young_.end()) return std::nullopt;
    Young young = at->second;
    if (--at->second.takers == 0) young_.erase(at);
    return young;
}

/// Its room was taken after the pause: what came before says nothing of the try.
bool ShortLives::is_try(const Young& young, TimePoint at) const {
    const auto until = circuits_.until(young.project.str());
    return state(young.project, at) == CircuitState::half_open && until && young.at >= *until;
}

std::optional<ShortLives::Change> ShortLives::note_given_back(const RequestId& request,
                                                              Duration lived, TimePoint at) {
    const auto young = one_of(request);
    if (!young) return std::nullopt;
    const double unused =
        1 - static_cast<double>(lived.count()) /
                static_cast<double>(std::max<Duration>(settings_.lived, Duration{1}).count());
    auto& account = accounts_[young->project];
    account.push_back({at, request, young->harm * std::clamp(unused, 0.0, 1.0)});
    if (account.size() > max_entries) account.pop_front();
    const CircuitState is = state(young->project, at);
    if (is == CircuitState::open) return std::nullopt;
    const double owed_now = owed(young->project, at);
    std::set<RequestId> requests;
    for (const Entry& entry : account)
        if (entry.owed > 0 && at - entry.at < settings_.window) requests.insert(entry.request);
    const bool too_much = owed_now >= settings_.allowance && requests.size() >= least_requests;
    if (!is_try(*young, at) && !(is == CircuitState::closed && too_much)) return std::nullopt;
    const auto opened =
        circuits_.wasted_at_once(young->project.str(), static_cast<int>(requests.size()), at);
    accounts_.erase(young->project);
    if (!opened) return std::nullopt;
    return Change{true, owed_now, opened->until};
}

std::optional<ShortLives::Change> ShortLives::note_stayed(const RequestId& request, TimePoint at) {
    const auto young = one_of(request);
    if (!young) return std::nullopt;
    if (is_try(*young, at)) {
        accounts_.erase(young->project);
        return circuits_.helped(young->project.str()) ? std::optional{Change{}} : std::nullopt;
    }
    const auto account = accounts_.find(young->project);
    // Nothing is paid in advance.
    if (account != accounts_.end()) account->second.push_back({at, request, -young->harm});
    return std::nullopt;
}

bool ShortLives::any_young(const ProjectId& project) const {
    return std::ranges::any_of(young_,
                               [&](const auto& each) { return each.second.project == project; });
}

double ShortLives::owed(const ProjectId& project, TimePoint now) const {
    const auto account = accounts_.find(project);
    if (account == accounts_.end()) return 0;
    double sum = 0;
    for (const Entry& entry : account->second)
        if (now - entry.at < settings_.window) sum = std::max(0.0, sum + entry.owed);
    return sum;
}

void ShortLives::prune(TimePoint now) {
    circuits_.prune(now);
    for (auto& [project, account] : accounts_)
        while (!account.empty() && now - account.front().at >= settings_.window)
            account.pop_front();
    std::erase_if(accounts_, [](const auto& each) { return each.second.empty(); });
    // The source that was to report it is gone.
    std::erase_if(young_, [&](const auto& each) {
        return now - each.second.at > settings_.lived + settings_.window;
    });
}

void ShortLives::shift(Duration by) {
    circuits_.shift(by);
    for (auto& [request, young] : young_) young.at += by;
    for (auto& [project, account] : accounts_)
        for (Entry& entry : account) entry.at += by;
}

void ShortLives::clear() {
    circuits_.clear();
    young_.clear();
    accounts_.clear();
}

}  // namespace reaper

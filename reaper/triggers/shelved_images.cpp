#include "reaper/triggers/shelved_images.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/shelved_returns.hpp"

namespace reaper {
namespace {

/// In one look.
constexpr int most_looked_into = 100;
/// What Nova calls the image of a server that is shelved.
constexpr std::string_view image_suffix = "-shelved";

bool runs(const Server& server) {
    const std::set<std::string_view> states{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"};
    return states.contains(server.status.str()) && server.task_state.empty() &&
           !server.host.empty();
}

/// Since it was shelved, it was unshelved. Else, as after an evacuation or an operator's reset, the
/// image may be all that is left of its disk.
bool came_back(const std::vector<ActionRecord>& actions, TimePoint shelved) {
    return std::ranges::any_of(actions, [&](const ActionRecord& action) {
        return action.name == "unshelve" && !action.failed && action.started > shelved;
    });
}

}  // namespace

ResultTask<void> ShelvedImages::look() {
    if (!dependencies_.may_act()) co_return Result<void>{};
    auto images = co_await dependencies_.cloud.images.own_server_images();
    if (!images) co_return images.error();
    std::erase_if(*images,
                  [](const ServerImage& each) { return !each.name.ends_with(image_suffix); });
    for (auto* const known : {&not_ours_, &of_gone_})
        std::erase_if(*known, [&](const std::string& id) {
            return std::none_of(images->begin(), images->end(),
                                [&](const ServerImage& each) { return each.id == id; });
        });
    if (images->empty()) co_return Result<void>{};
    std::set<std::string> kept{"SHELVED", "SHELVED_OFFLOADED"};
    auto listed = co_await dependencies_.cloud.compute.servers_in(std::move(kept), std::nullopt);
    if (!listed) co_return listed.error();
    std::set<ServerId> still_shelved;
    for (const ServerRecord& record : *listed) still_shelved.insert(record.server.id);
    int looked_into = 0;
    Result<void> all;
    for (const ServerImage& image : *images) {
        const bool shelved = still_shelved.contains(image.server);
        if (shelved) of_gone_.erase(image.id);
        if (shelved || not_ours_.contains(image.id)) continue;
        if (++looked_into > most_looked_into || !dependencies_.may_act()) break;
        ServerImage each = image;
        const auto done = co_await judge(std::move(each));
        if (!done) all = done.error();  // one must not hide the others
    }
    co_return all;
}

/// Deletes it, if a reaper shelved its server then, which is back, or gone at two looks in a row.
ResultTask<void> ShelvedImages::judge(ServerImage image) {
    JournalQuery query;
    query.server = image.server.str();
    query.since = image.created - same_shelving;
    query.until = image.created + same_shelving;
    const auto evictions = co_await dependencies_.journal.find_victims(std::move(query));
    if (!evictions) co_return evictions.error();
    const bool ours =
        std::any_of(evictions->begin(), evictions->end(),
                    [&](const VictimEntry& victim) { return victim.server == image.server; });
    if (!ours) {
        not_ours_.insert(image.id);
        co_return Result<void>{};
    }
    const auto record = co_await dependencies_.cloud.compute.server(image.server);
    if (!record) co_return record.error();
    if (*record) {
        of_gone_.erase(image.id);
        if (!runs((*record)->server)) co_return Result<void>{};
        const auto actions = co_await dependencies_.cloud.compute.actions(image.server);
        if (!actions) co_return actions.error();
        if (!came_back(*actions, image.created)) co_return Result<void>{};
    } else if (of_gone_.insert(image.id).second) {
        co_return Result<void>{};
    }
    const auto deleted = co_await dependencies_.cloud.images.delete_image(image.id);
    if (!deleted) co_return deleted.error();
    if (!*deleted) co_return Result<void>{};
    JournalEvent event{"image-deleted",
                       "image " + image.id + " (" + printable(image.name, 64) +
                           ") was of no more use: server " + image.server.str() + " is " +
                           (*record ? "back" : "gone"),
                       dependencies_.cloud.clock.now()};
    const LogFields about{.server = image.server.str()};
    log_about(about, spdlog::level::info, "{}", event.reason);
    co_return co_await dependencies_.journal.note_event(std::move(event));
}

}  // namespace reaper

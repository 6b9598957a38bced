#include "reaper/triggers/shelved_images.hpp"

#include <set>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// In one look.
constexpr int most_looked_into = 100;
/// What Nova calls the image of a server that is shelved.
constexpr std::string_view image_suffix = "-shelved";

/// It boots from its disk there; a server that Nova has trouble with may need its image yet.
bool is_back(const Server& server) {
    return !server.host.empty() && server.task_state.empty() && !server.soft_deleted() &&
           server.status != "SHELVED" && server.status != "ERROR";
}

}  // namespace

ResultTask<void> ShelvedImages::look() {
    if (!dependencies_.may_act()) co_return Result<void>{};
    auto images = co_await dependencies_.cloud.images.own_server_images();
    if (!images) co_return images.error();
    std::erase_if(*images,
                  [](const ServerImage& each) { return !each.name.ends_with(image_suffix); });
    if (images->empty()) co_return Result<void>{};
    std::set<std::string> kept{"SHELVED", "SHELVED_OFFLOADED"};
    auto listed = co_await dependencies_.cloud.compute.servers_in(std::move(kept), std::nullopt);
    if (!listed) co_return listed.error();
    std::set<ServerId> still_shelved;
    for (const ServerRecord& record : *listed) still_shelved.insert(record.server.id);
    int asked = 0;
    for (const ServerImage& image : *images) {
        if (still_shelved.contains(image.server)) continue;
        if (++asked > most_looked_into || !dependencies_.may_act()) break;
        ServerImage each = image;
        const auto useless = co_await is_of_no_use(std::move(each));
        if (!useless) co_return useless.error();
        if (!*useless) continue;
        JournalEvent event{"image-deleted",
                           "image " + image.id + " (" + printable(image.name, 64) +
                               ") is of no more use: server " + image.server.str() +
                               " is no longer shelved",
                           dependencies_.cloud.clock.now()};
        const LogFields about{.server = image.server.str()};
        log_about(about, spdlog::level::info, "{}", event.reason);
        auto noted = co_await dependencies_.journal.note_event(std::move(event));
        if (!noted) co_return noted.error();
        const auto deleted = co_await dependencies_.cloud.images.delete_image(image.id);
        if (!deleted) co_return deleted.error();
    }
    co_return Result<void>{};
}

/// The reaper shelved its server, which is gone or back.
ResultTask<bool> ShelvedImages::is_of_no_use(ServerImage image) {
    JournalQuery query;
    query.server = image.server.str();
    query.limit = 1;
    const auto victims = co_await dependencies_.journal.find_victims(std::move(query));
    if (!victims) co_return victims.error();
    if (victims->empty()) co_return false;
    const auto record = co_await dependencies_.cloud.compute.server(image.server);
    if (!record) co_return record.error();
    co_return !*record || is_back((*record)->server);
}

}  // namespace reaper

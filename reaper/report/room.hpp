// What the cloud has room for, for programs and people.
//
//  {answer, slots, fits_now, possible, hosts[{id, name, slots, on_its_way}],
//   victims, decision, summary, request}
//
// `answer` is fits-now, on-its-way, after-victims, held-back, free-room-only or never; `decision`
// is as in records, null for fits-now; `victims` counts those of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/report/render.hpp"

namespace reaper::report {

nlohmann::json room_json(const RoomAnswer& answer, const Request& request);

/// An answer with its question. In JSON it has remarks[] and taken_at besides.
struct RoomReport {
    RoomAnswer answer;
    Request request;
    std::vector<std::string> remarks{};  ///< for people, above all
    TimePoint taken_at{};                ///< of the cloud
};
/// The inverse; `bad_answer` with the place for anything of another shape.
Result<RoomReport> room_from_json(const nlohmann::json& document);

/// Where there is room as it is, what would be deleted or why not, and the answer as the last line.
std::string render_room(const RoomAnswer& answer, const Request& request,
                        const RenderOptions& options = {});

}  // namespace reaper::report

#include "reaper/json/fields.hpp"

#include "reaper/model/time_text.hpp"

namespace reaper {

nlohmann::json PlainJson::write(const TimePoint& time) {
    return iso_time(time);
}

nlohmann::json PlainJson::write(const Resources& resources) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [resource_class, amount] : resources) object[resource_class.str()] = amount;
    return object;
}

}  // namespace reaper

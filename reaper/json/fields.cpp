#include "reaper/json/fields.hpp"

namespace reaper {

nlohmann::json PlainJson::write(const std::string& text) {
    return text;
}

nlohmann::json PlainJson::write(const bool& value) {
    return value;
}

nlohmann::json PlainJson::write(const int& value) {
    return value;
}

nlohmann::json PlainJson::write(const std::int64_t& value) {
    return value;
}

nlohmann::json PlainJson::write(const std::size_t& value) {
    return value;
}

nlohmann::json PlainJson::write(const double& value) {
    return value;
}

nlohmann::json PlainJson::write(const TimePoint& time) {
    return iso_time(time);
}

nlohmann::json PlainJson::write(const Resources& resources) {
    nlohmann::json object = empty_object();
    for (const auto& [resource_class, amount] : resources) object[resource_class.str()] = amount;
    return object;
}

nlohmann::json empty_object() {
    return nlohmann::json::object();
}

nlohmann::json empty_list() {
    return nlohmann::json::array();
}

void set_member(nlohmann::json& object, const std::string& name, nlohmann::json value) {
    object[name] = std::move(value);
}

void add_element(nlohmann::json& list, nlohmann::json value) {
    list.push_back(std::move(value));
}

}  // namespace reaper

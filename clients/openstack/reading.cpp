#include "clients/openstack/reading.hpp"

#include "reaper/model/text.hpp"

namespace reaper::openstack {

nlohmann::json parse_json(std::string_view body) {
    nlohmann::json document = nlohmann::json::parse(body, nullptr, false);
    if (document.is_discarded())
        throw WrongJson{"not JSON: \"" + one_line(body.substr(0, 200), 80) + '"'};
    return document;
}

}  // namespace reaper::openstack

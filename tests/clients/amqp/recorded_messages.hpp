// Messages that a real Nova sent, as they were on the wire, and changed ones.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace reaper::test {

inline const std::filesystem::path recorded =
    std::filesystem::path(REAPER_TEST_DATA) / "openstack-zed" / "notifications";

inline std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("can't read " + file.string());
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// A recorded message with something changed inside; `edit` gets the inner message.
inline std::string edited(const std::string& file,
                          const std::function<void(nlohmann::json&)>& edit) {
    nlohmann::json outer = nlohmann::json::parse(read(recorded / file));
    nlohmann::json inner = nlohmann::json::parse(outer.at("oslo.message").get<std::string>());
    edit(inner);
    outer["oslo.message"] = inner.dump();
    return outer.dump();
}

inline nlohmann::json& payload(nlohmann::json& message) {
    return message["payload"]["nova_object.data"];
}

}  // namespace reaper::test

// Log lines that say what they are about: in words for people, and in fields for programs, if the
// log has them (reaper/daemon/logging.hpp).
#pragma once

#include <string>
#include <utility>

#include "reaper/model/request.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

/// What a line is about; what is empty, it is not about. Never a secret.
struct LogFields {
    std::string request{};  ///< its id: the same in journal, API and commands
    std::string server{};   ///< its id
    std::string server_name{};
    std::string host{};          ///< its name
    std::string project{};       ///< its id
    std::string project_name{};  ///< as far as it is known
    std::string flavor{};        ///< its name
};

inline LogFields about(const Request& request) {
    return {.request = request.id.str(),
            .project = request.project.str(),
            .project_name = request.project_name,
            .flavor = request.flavor};
}

namespace log_details {

/// Marks a source location of spdlog that instead points to the fields. The logger writes a line
/// before it returns, and so does not outlive them.
inline constexpr char marker[] = "log fields";

inline spdlog::source_loc place_of(const LogFields& fields) {
    return {marker, 1, reinterpret_cast<const char*>(&fields)};
}

}  // namespace log_details

/// Those of a message; none if it was logged without.
inline const LogFields* fields_of(const spdlog::details::log_msg& message) {
    return message.source.filename == log_details::marker
               ? reinterpret_cast<const LogFields*>(message.source.funcname)
               : nullptr;
}

template <class... Values>
void log_about(const LogFields& fields, spdlog::level::level_enum level,
               spdlog::format_string_t<Values...> format, Values&&... values) {
    spdlog::log(log_details::place_of(fields), level, format, std::forward<Values>(values)...);
}

}  // namespace reaper

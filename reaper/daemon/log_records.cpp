#include "reaper/daemon/log_records.hpp"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// As the configuration names it.
const char* level_name(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::trace: return "trace";
        case spdlog::level::debug: return "debug";
        case spdlog::level::info: return "info";
        case spdlog::level::warn: return "warning";
        default: return "error";
    }
}

/// Those that are there; names of users are made safe as the text is.
std::vector<std::pair<std::string, std::string>> fields_in(
    const spdlog::details::log_msg& message) {
    std::vector<std::pair<std::string, std::string>> found;
    const LogFields* const fields = fields_of(message);
    if (fields == nullptr) return found;
    const std::array<std::pair<const char*, const std::string*>, 7> all{
        {{"request", &fields->request},
         {"server", &fields->server},
         {"server_name", &fields->server_name},
         {"host", &fields->host},
         {"project", &fields->project},
         {"project_name", &fields->project_name},
         {"flavor", &fields->flavor}}};
    for (const auto& [name, value] : all)
        if (!value->empty()) found.emplace_back(name, printable(*value));
    return found;
}

class JsonFormatter final : public spdlog::formatter {
public:
    explicit JsonFormatter(bool prefix) : prefix_(prefix) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        const auto at = std::chrono::floor<Duration>(message.time);
        nlohmann::ordered_json line{{"time", iso_time(at)},
                                    {"level", level_name(message.level)},
                                    {"message", line_of(message)}};
        for (auto& [name, value] : fields_in(message)) line[name] = std::move(value);
        std::string text;
        if (prefix_) text = std::string{"<"} + priority_of(message.level) + ">";
        text += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JsonFormatter>(prefix_);
    }

private:
    bool prefix_;
};

}  // namespace

std::string line_of(const spdlog::details::log_msg& message) {
    constexpr std::size_t longest = 8'000;
    return printable(std::string_view{message.payload.data(), message.payload.size()}, longest);
}

char priority_of(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::critical: return '2';
        case spdlog::level::err: return '3';
        case spdlog::level::warn: return '4';
        case spdlog::level::info: return '6';
        default: return '7';
    }
}

std::unique_ptr<spdlog::formatter> json_formatter(bool prefix) {
    return std::make_unique<JsonFormatter>(prefix);
}

std::vector<std::string> journal_fields(const spdlog::details::log_msg& message) {
    std::vector<std::string> fields{"MESSAGE=" + line_of(message),
                                    std::string{"PRIORITY="} + priority_of(message.level),
                                    "SYSLOG_IDENTIFIER=reaper"};
    for (const auto& [name, value] : fields_in(message))
        fields.push_back("REAPER_" + to_upper(name) + "=" + value);
    return fields;
}

}  // namespace reaper

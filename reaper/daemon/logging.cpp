#include "reaper/daemon/logging.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"
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

namespace {

class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    JournalSink(JournalSend send, std::shared_ptr<spdlog::sinks::sink> otherwise)
        : send_(std::move(send)), otherwise_(std::move(otherwise)) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (!send_(journal_fields(message))) otherwise_->log(message);
    }
    void flush_() override { otherwise_->flush(); }

    JournalSend send_;
    std::shared_ptr<spdlog::sinks::sink> otherwise_;
};

bool send_to_journald(const std::vector<std::string>& fields) {
    std::vector<iovec> parts;
    for (const std::string& field : fields)
        parts.push_back({const_cast<char*>(field.data()), field.size()});
    return sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) == 0;
}

}  // namespace

std::shared_ptr<spdlog::sinks::sink> journal_sink(JournalSend send,
                                                  std::shared_ptr<spdlog::sinks::sink> otherwise) {
    return std::make_shared<JournalSink>(std::move(send), std::move(otherwise));
}

JournalSend system_journal() {
    // Without it, sending succeeds but has no effect.
    if (access("/run/systemd/journal/socket", W_OK) != 0) return nullptr;
    return send_to_journald;
}

namespace {

/// What journald takes from a `<N>` prefix.
class PriorityFlag : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        const char digit = priority_of(message.level);
        const char text[] = {'<', digit, '>'};
        out.append(text, text + sizeof text);
    }
    std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<PriorityFlag>();
    }
};

/// Whatever a message holds of what users of the cloud wrote: it is one line, of some length.
class OneLine : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        const std::string line = line_of(message);
        out.append(line.data(), line.data() + line.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<OneLine>();
    }
};

std::unique_ptr<spdlog::formatter> formatter_of(const LogOptions& options) {
    if (options.json) return json_formatter(options.style == LogStyle::journald);
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<PriorityFlag>('*').add_flag<OneLine>('N');
    switch (options.style) {
        case LogStyle::terminal: formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%-7l%$ %N"); break;
        case LogStyle::command: formatter->set_pattern("reaper: %^%l%$: %N"); break;
        case LogStyle::journald: formatter->set_pattern("%*%N"); break;
    }
    return formatter;
}

/// What journald is sent needs no prefix.
std::shared_ptr<spdlog::sinks::sink> sink_of(const LogOptions& options) {
    auto to_stderr = stderr_sink(options);
    const bool journald = options.style == LogStyle::journald && !options.json &&
                          is_journal_stream(STDERR_FILENO, std::getenv("JOURNAL_STREAM"));
    JournalSend send = journald ? system_journal() : nullptr;
    return send ? journal_sink(std::move(send), std::move(to_stderr)) : to_stderr;
}

}  // namespace

bool is_journal_stream(int fd, const char* journal_stream) {
    struct stat status {};
    if (journal_stream == nullptr || fstat(fd, &status) != 0) return false;
    const std::string ours = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
    return ours == journal_stream;
}

LogStyle daemon_style(const std::string& target) {
    if (target == "journald") return LogStyle::journald;
    if (target == "terminal") return LogStyle::terminal;
    return is_journal_stream(STDERR_FILENO, std::getenv("JOURNAL_STREAM")) ? LogStyle::journald
                                                                           : LogStyle::terminal;
}

LogOptions daemon_log(const config::Log& log, const std::string& level, bool color) {
    return {daemon_style(log.target), level, color, log.format == "json"};
}

std::shared_ptr<spdlog::sinks::sink> stderr_sink(const LogOptions& options) {
    const bool color = options.color && !options.json && options.style != LogStyle::journald;
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
        color ? spdlog::color_mode::always : spdlog::color_mode::never);
    sink->set_formatter(formatter_of(options));
    return sink;
}

void set_up_logging(const LogOptions& options) {
    auto logger = std::make_shared<spdlog::logger>("reaper", sink_of(options));
    logger->set_level(spdlog::level::from_str(options.level));
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
}

void set_up_logging(LogStyle style, const std::string& level, bool color) {
    set_up_logging({style, level, color, false});
}

void set_log_level(const std::string& level) {
    spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace reaper

#include "reaper/daemon/logging.hpp"

#include <cstdlib>
#include <memory>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "reaper/daemon/journal_sink.hpp"
#include "reaper/daemon/log_records.hpp"

namespace reaper {
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

#include "reaper/daemon/logging.hpp"

#include <cstdlib>
#include <memory>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// syslog's numbers (RFC 5424), which journald takes from a `<N>` prefix.
class PriorityFlag : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        const char digit = priority(message.level);
        const char text[] = {'<', digit, '>'};
        out.append(text, text + sizeof text);
    }
    std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<PriorityFlag>();
    }

private:
    static char priority(spdlog::level::level_enum level) {
        switch (level) {
            case spdlog::level::critical: return '2';
            case spdlog::level::err: return '3';
            case spdlog::level::warn: return '4';
            case spdlog::level::info: return '6';
            default: return '7';
        }
    }
};

/// Whatever a message holds of what users of the cloud wrote: it is one line, of some length.
class OneLine : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        constexpr std::size_t longest = 8'000;
        const std::string line =
            printable({message.payload.data(), message.payload.size()}, longest);
        out.append(line.data(), line.data() + line.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<OneLine>();
    }
};

std::unique_ptr<spdlog::formatter> formatter_of(LogStyle style) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<PriorityFlag>('*').add_flag<OneLine>('N');
    switch (style) {
        case LogStyle::terminal: formatter->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%-7l%$ %N"); break;
        case LogStyle::command: formatter->set_pattern("reaper: %^%l%$: %N"); break;
        case LogStyle::journald: formatter->set_pattern("%*%N"); break;
    }
    return formatter;
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

void set_up_logging(LogStyle style, const std::string& level, bool color) {
    using Sink = spdlog::sinks::stderr_color_sink_mt;
    const auto mode = color && style != LogStyle::journald ? spdlog::color_mode::always
                                                           : spdlog::color_mode::never;
    auto logger = std::make_shared<spdlog::logger>("reaper", std::make_shared<Sink>(mode));
    logger->set_formatter(formatter_of(style));
    logger->set_level(spdlog::level::from_str(level));
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
}

void set_log_level(const std::string& level) {
    spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace reaper

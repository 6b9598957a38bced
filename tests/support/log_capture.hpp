// What is logged, for tests.
#pragma once

#include <memory>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <string>
#include <vector>

namespace reaper::test {

/// Everything that is logged while it lives, debug included.
class LogCapture {
public:
    LogCapture() : before_(spdlog::default_logger()) {
        auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
        auto logger = std::make_shared<spdlog::logger>("captured", std::move(sink));
        logger->set_level(spdlog::level::trace);
        logger->flush_on(spdlog::level::trace);
        spdlog::set_default_logger(std::move(logger));
    }
    ~LogCapture() { spdlog::set_default_logger(before_); }
    LogCapture(const LogCapture&) = delete;
    LogCapture& operator=(const LogCapture&) = delete;

    std::string text() const { return text_.str(); }
    /// Lines that have this in them.
    std::vector<std::string> lines_with(const std::string& part) const {
        std::vector<std::string> found;
        std::istringstream all{text_.str()};
        for (std::string line; std::getline(all, line);)
            if (line.find(part) != std::string::npos) found.push_back(line);
        return found;
    }

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> before_;
};

}  // namespace reaper::test

// Text that comes in pieces, as whole lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace reaper::http {

/// Hands out whole lines, without their ends; what follows the last end is kept. `on_line` must
/// outlive it.
class Lines {
public:
    explicit Lines(const std::function<void(const std::string&)>& on_line) : on_line_(on_line) {}
    void add(std::string_view text) {
        rest_ += text;
        for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n')) {
            on_line_(rest_.substr(0, end));
            rest_.erase(0, end + 1);
        }
    }

private:
    const std::function<void(const std::string&)>& on_line_;
    std::string rest_;
};

}  // namespace reaper::http

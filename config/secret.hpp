// A text that must not be seen: it has no stream operator and no implicit conversion.
#pragma once

#include <string>
#include <utility>

namespace reaper::config {

class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}

    /// The text itself; only for the call that needs it.
    const std::string& reveal() const noexcept { return text_; }
    bool empty() const noexcept { return text_.empty(); }

    friend bool operator==(const Secret&, const Secret&) = default;

private:
    std::string text_;
};

}  // namespace reaper::config

// URLs, Retry-After, the words of services in errors, and what is done to foreign text.
#include <chrono>

#include "clients/http/failure.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

void check_url(std::string_view text) {
    using namespace reaper;
    const auto url = http::parse_url(text);
    if (!url) {
        fuzz::require_one_line(url.error().what);
        return;
    }
    fuzz::require(!url->endpoint.host.empty() && url->endpoint.port != 0, "a URL has a host");
    const std::string target = url->target();
    fuzz::require(target.starts_with('/'), "a target is a path");
    for (const char c : target + http::host_header(url->endpoint))
        fuzz::require(static_cast<unsigned char>(c) > 0x20, "no blank or line break is sent");
    fuzz::require_one_line(http::shown_target(*url).substr(0, 4'096));
}

void check_escape(std::string_view text) {
    for (const char c : reaper::http::escape(text))
        reaper::fuzz::require(c != '/' && c != '?' && c != '#' && c > 0x20,
                              "escaped is one segment");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto text = fuzz::text_of(data, size);
    check_url(text);
    check_escape(text);
    const TimePoint now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);
    if (const auto pause = http::retry_after(text, now))
        fuzz::require(pause->count() >= 0, "a pause is not negative");
    for (const std::size_t limit : {std::size_t(3), std::size_t(60), std::size_t(300)}) {
        const std::string line = one_line(text, limit);
        fuzz::require(line.size() <= limit + 3, "cut at the limit");
        fuzz::require_one_line(line);
    }
    fuzz::require_one_line(printable(text, 300));
    return 0;
}

#include "clients/http_proxy/target.hpp"

#include <algorithm>

#include "clients/http/url.hpp"

namespace reaper::proxy {

namespace {

/// Where the path begins: behind the authority of an absolute URL.
std::size_t path_start(std::string_view target) {
    if (target.starts_with('/')) return 0;
    const auto authority = target.find("://");
    if (authority == std::string_view::npos) return std::string_view::npos;
    const auto path = target.find_first_of("/?", authority + 3);
    return path == std::string_view::npos ? target.size() : path;
}

/// `.` or `..`, however it is written: behind it the path may lead out of the prefix.
bool is_dots(std::string_view segment) {
    std::size_t dots = 0;
    while (!segment.empty()) {
        const bool escaped = segment.starts_with("%2e") || segment.starts_with("%2E");
        if (!escaped && segment.front() != '.') return false;
        segment.remove_prefix(escaped ? 3 : 1);
        ++dots;
    }
    return dots == 1 || dots == 2;
}

bool has_dots(std::string_view path) {
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        if (is_dots(path.substr(0, slash))) return true;
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return false;
}

}  // namespace

std::string path_prefix(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    while (path.starts_with('/')) path.remove_prefix(1);
    return path.empty() ? "" : "/" + std::string(path);
}

std::optional<std::string> upstream_target(const PathPrefixes& prefixes, std::string_view target) {
    const auto start = path_start(target);
    if (start == std::string_view::npos) return std::string(target);  // `*`
    const auto rest = target.substr(start);
    if (!rest.starts_with(prefixes.ours)) return std::nullopt;
    const auto behind = rest.substr(prefixes.ours.size());
    if (!prefixes.ours.empty() && !behind.empty() && behind.front() != '/' && behind.front() != '?')
        return std::nullopt;
    const bool bounded = !prefixes.ours.empty() || !prefixes.upstream.empty();
    if (bounded && has_dots(behind.substr(0, behind.find('?')))) return std::nullopt;
    if (prefixes.ours == prefixes.upstream) return std::string(target);
    std::string mapped(target.substr(0, start));
    mapped += prefixes.upstream;
    if (prefixes.upstream.empty() && !behind.starts_with('/')) mapped += '/';
    mapped += behind;
    return mapped;
}

std::string shown(std::string_view target) {
    // An authority may have a password.
    if (const auto start = path_start(target); start != std::string_view::npos)
        target.remove_prefix(start);
    const auto mark = target.find('?');
    http::Url url;
    url.path = target.substr(0, mark);
    if (mark != std::string_view::npos) url.query = target.substr(mark + 1);
    return http::shown_target(url);
}

}  // namespace reaper::proxy

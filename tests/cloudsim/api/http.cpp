#include "tests/cloudsim/api/http.hpp"

namespace reaper::cloudsim {

namespace {

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string decoded(std::string_view text, bool plus_is_space) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size() && digit(text[at + 1]) >= 0 &&
            digit(text[at + 2]) >= 0) {
            out += static_cast<char>(digit(text[at + 1]) * 16 + digit(text[at + 2]));
            at += 2;
        } else {
            out += plus_is_space && text[at] == '+' ? ' ' : text[at];
        }
    }
    return out;
}

}  // namespace

std::string_view Request::header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers)
        if (name == lower_case_name) return value;
    return {};
}

std::optional<std::string> Request::parameter(std::string_view name) const {
    for (const auto& [key, value] : query)
        if (key == name) return value;
    return std::nullopt;
}

std::vector<std::string> Request::parameters(std::string_view name) const {
    std::vector<std::string> all;
    for (const auto& [key, value] : query)
        if (key == name) all.push_back(value);
    return all;
}

std::string Request::path_text() const {
    return target.substr(0, target.find('?'));
}

std::string Request::query_text() const {
    const auto mark = target.find('?');
    return mark == std::string::npos ? "" : target.substr(mark + 1);
}

void Request::set_target(std::string text) {
    target = std::move(text);
    path.clear();
    query.clear();
    const std::string whole_path = path_text();
    std::string_view rest = whole_path;
    while (!rest.empty()) {
        const auto slash = rest.find('/');
        const std::string_view segment = rest.substr(0, slash);
        if (!segment.empty()) path.push_back(decoded(segment, false));
        rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
    }
    const std::string whole_query = query_text();
    rest = whole_query;
    while (!rest.empty()) {
        const auto next = rest.find('&');
        const std::string_view pair = rest.substr(0, next);
        const auto equals = pair.find('=');
        if (!pair.empty())
            query.emplace_back(
                decoded(pair.substr(0, equals), true),
                equals == std::string_view::npos ? "" : decoded(pair.substr(equals + 1), true));
        rest = next == std::string_view::npos ? "" : rest.substr(next + 1);
    }
}

Response json_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

}  // namespace reaper::cloudsim

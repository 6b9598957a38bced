// The words of services (and of proxies before them) for what they refuse: a status, headers and a
// body of any kind. Input: `STATUS` in one byte, headers `NAME: VALUE` in lines, a blank line,
// body.
#include "clients/openstack/service_error.hpp"

#include "clients/http/failure.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

constexpr int statuses[] = {200, 204, 301, 400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 504};

reaper::openstack::Answer answer_in(std::string_view text) {
    reaper::openstack::Answer answer;
    answer.where = "GET nova http://host:8774/v2.1/servers";
    const auto chosen = text.empty() ? 0 : static_cast<unsigned char>(text.front());
    answer.response.status = statuses[static_cast<std::size_t>(chosen) % std::size(statuses)];
    text.remove_prefix(text.empty() ? 0 : 1);
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.empty()) break;
        const auto colon = std::min(line.find(':'), line.size());
        const auto value = colon < line.size() ? line.substr(colon + 1) : std::string_view();
        answer.response.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
    }
    answer.response.body = text;
    return answer;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::openstack;
    const Answer answer = answer_in(fuzz::text_of(data, size));
    const Error error = status_error(answer, "user reaper in project service");
    fuzz::require_one_line(error.what);
    fuzz::require(error.what.size() < 1'024, "a refusal is reported in a few words", error.what);
    // What a user typed as a password may come back in an answer, whatever it is.
    const std::string secret = answer.response.body.substr(0, answer.response.body.size() % 7);
    const std::string told = http::without(error.what, secret);
    // The mark in its place is of dots: with the text around it, it may make up one that has some.
    const bool comparable = !secret.empty() && secret.find('.') == std::string::npos;
    fuzz::require(!comparable || told.find(secret) == std::string::npos, "a secret is taken out",
                  told);
    return 0;
}

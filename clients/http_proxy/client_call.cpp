#include "clients/http_proxy/client_call.hpp"

#include <utility>

#include "clients/http_proxy/message.hpp"

namespace reaper::proxy {

namespace {

/// The head would not be read as it was written.
bool breaks_the_line(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

bool has_a_body(const HttpRequest& request) {
    return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
           request.method == "PATCH";
}

}  // namespace

Result<std::string> ClientCall::head_of(const HttpRequest& request) const {
    const auto target = upstream_target(shared_.prefixes, request.target);
    if (!target)
        return Error{Errc::bad_input,
                     shown(request.target) + " is not under " + shared_.prefixes.ours + "/"};
    std::string text = request.method + " " + *target + " HTTP/1.1";
    bool bad = breaks_the_line(text);
    text += "\r\n";
    for (const auto& [name, value] : end_to_end(request.headers)) {
        bad = bad || breaks_the_line(name) || breaks_the_line(value);
        // The body is there: nobody has to be asked for it.
        if (is_same_name(name, "Content-Length") || is_same_name(name, "Expect")) continue;
        append_header(text, name, value);
    }
    if (bad) return Error{Errc::bad_input, "the request has a line break in its head"};
    if (values_of(request.headers, "Host").empty()) append_header(text, "Host", shared_.authority);
    if (has_a_body(request))
        append_header(text, "Content-Length", std::to_string(request.body.size()));
    return text += "\r\n";
}

ResultTask<std::unique_ptr<UpstreamAnswer>> ClientCall::ask(HttpRequest request) {
    auto head = head_of(request);
    if (!head) co_return head.error();
    const Outgoing out{request.method, std::move(*head), request.body};
    const Interim nobody;
    auto answered = co_await shared_.upstream->ask(out, guard_, nobody);
    if (const auto* failure = std::get_if<http::Failure>(&answered))
        co_return Error{failure->code, shared_.settings.name + ": " + failure->cause};
    std::unique_ptr<UpstreamAnswer> answer =
        std::get<std::unique_ptr<AnswerStream>>(std::move(answered));
    co_return answer;
}

}  // namespace reaper::proxy

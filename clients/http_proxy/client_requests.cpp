// What goes to the upstream.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/http_proxy/client_call.hpp"
#include "clients/http_proxy/client_connection.hpp"
#include "clients/http_proxy/error_answer.hpp"
#include "clients/http_proxy/upload.hpp"

namespace reaper::proxy {

namespace {

std::string framed(std::string_view body, bool chunked) {
    std::string text;
    if (!chunked || body.empty()) return text.append(body);
    return text.append(chunk_head(body.size())).append(body).append(chunk_tail);
}

}  // namespace

std::string ClientConnection::upstream_head(const Call& call) const {
    std::string text;
    text.reserve(1024);
    text.append(call.head().method).append(" ").append(call.target).append(" HTTP/1.1\r\n");
    append_end_to_end(text, call.head().headers);
    if (values_of(call.head().headers, "Host").empty())
        append_header(text, "Host", shared_->authority);
    if (call.chunked()) append_header(text, "Transfer-Encoding", "chunked");
    return text += "\r\n";
}

Interim ClientConnection::interim_of(const Call& call) {
    if (call.head().minor == 0) return nullptr;
    return [this](const AnswerHead& head) { return say_interim(head); };
}

Task<bool> ClientConnection::pass_on(Call& call) {
    const std::string_view here = call.reader->read_body(input_);
    if (const auto& bad = call.reader->bad()) co_return co_await refuse(*bad);
    if (call.reader->done()) co_return co_await pass_whole(call, here);
    co_return co_await pass_piece_by_piece(call, here);
}

Task<bool> ClientConnection::pass_whole(Call& call, std::string_view body) {
    std::string chunks;
    Outgoing out{call.head().method, upstream_head(call), body};
    if (call.chunked()) {
        chunks = framed(body, call.chunked()).append(last_chunk);
        out.body = chunks;
    }
    const ClientWatch watch{stream_, [&call] { call.guard.give_up(); }};
    const Interim interim = interim_of(call);
    auto answered = co_await shared_->upstream->ask(out, call.guard, interim);
    if (const auto* failure = std::get_if<http::Failure>(&answered))
        co_return co_await give_failure(call, *failure);
    const auto answer = std::get<std::unique_ptr<AnswerStream>>(std::move(answered));
    co_return co_await give(call, *answer);
}

Task<bool> ClientConnection::pass_piece_by_piece(Call& call, std::string_view first) {
    const std::string chunks = framed(first, call.chunked());
    Upstream& upstream = *shared_->upstream;
    const Outgoing out{call.head().method, upstream_head(call), chunks, false};
    auto sent = co_await upstream.send(out, call.guard);
    if (const auto* failure = std::get_if<http::Failure>(&sent)) {
        call.keep = false;
        co_return co_await give_failure(call, *failure);
    }
    const auto connection = std::get<std::shared_ptr<UpstreamConnection>>(std::move(sent));
    const UploadInProgress upload{start_upload(call, connection)};
    const Interim interim = interim_of(call);
    auto answered = co_await upstream.receive(connection, call.head().method, call.guard, interim);
    const auto* const failure = std::get_if<http::Failure>(&answered);
    const bool all_sent = upload->outcome == Upload::Outcome::whole;
    call.keep = call.keep && all_sent;
    if (failure == nullptr) {
        const auto answer = std::get<std::unique_ptr<AnswerStream>>(std::move(answered));
        const bool more = co_await give(call, *answer);
        co_await stop(*upload, *connection);
        co_return more&& all_sent;
    }
    co_await stop(*upload, *connection);
    if (upload->outcome == Upload::Outcome::bad) co_return co_await refuse(*call.reader->bad());
    if (upload->outcome == Upload::Outcome::client_left) co_return false;
    if (!call.guard.gone()) upstream.note(*failure);
    co_return co_await give_failure(call, *failure);
}

std::shared_ptr<Upload> ClientConnection::start_upload(
    Call& call, const std::shared_ptr<UpstreamConnection>& connection) {
    auto upload = std::make_shared<Upload>(shared_->executor, call.guard);
    auto carried = carry(shared_from_this(), connection, call.reader, upload);
    auto on_end = [upload](std::exception_ptr failed) {
        if (failed) upload->end(Upload::Outcome::client_left);
    };
    boost::asio::co_spawn(shared_->executor, std::move(carried), std::move(on_end));
    return upload;
}

/// What the client sends goes on to the upstream, as fast as that takes it.
Task<void> ClientConnection::carry(std::shared_ptr<ClientConnection> client,
                                   std::shared_ptr<UpstreamConnection> connection, Request request,
                                   std::shared_ptr<Upload> upload) {
    const HttpProxyLimits& limits = client->shared_->settings.limits;
    Input& input = client->input_;
    while (!request->done()) {
        client->stream_.expires_after(limits.body);
        const auto read = co_await client->stream_.read_some(input.room());
        input.commit(read.bytes);
        if (read.error && read.bytes == 0) {
            connection->stream.close();
            upload->end(upload->stopped ? Upload::Outcome::upstream_left
                                        : Upload::Outcome::client_left);
            co_return;
        }
        const std::string_view body = request->read_body(input);
        if (request->bad()) {
            connection->stream.close();
            upload->end(Upload::Outcome::bad);
            co_return;
        }
        std::string head;
        std::string_view tail;
        if (request->framing().kind == Framing::Kind::chunked) {
            if (!body.empty()) head = chunk_head(body.size());
            if (!body.empty()) tail = chunk_tail;
            if (request->done()) tail = body.empty() ? last_chunk : tail_and_last_chunk;
        }
        const http::SocketStream::Pieces pieces{
            boost::asio::buffer(head), boost::asio::const_buffer(body.data(), body.size()),
            boost::asio::const_buffer(tail.data(), tail.size())};
        const auto written = co_await connection->stream.write(pieces, limits.upstream);
        if (written.error) {
            upload->end(Upload::Outcome::upstream_left);
            co_return;
        }
    }
    connection->request_sent = true;
    upload->end(Upload::Outcome::whole);
    if (!upload->abandoned) upload->watch_client(client->stream_);
}

Task<void> ClientConnection::stop(Upload& upload, UpstreamConnection& connection) {
    if (upload.outcome == Upload::Outcome::running) {
        upload.stopped = true;
        connection.stream.close();
        stream_.tcp().cancel();
    }
    while (upload.outcome == Upload::Outcome::running)
        co_await upload.ended.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
}

Task<std::variant<std::string, BadMessage, ClientConnection::Closed>> ClientConnection::read_body(
    const Call& call) {
    const HttpProxyLimits& limits = shared_->settings.limits;
    const BadMessage too_large{413, "the body of the request is too large"};
    RequestReader& reader = *call.reader;
    if (reader.framing().length > limits.body_bytes) co_return too_large;
    if (expects_continue(reader.head()) && !reader.done() && input_.empty()) {
        const AnswerHead go_on{1, 100, "Continue"};
        const bool told = co_await say_interim(go_on);
        if (!told) co_return Closed{};
    }
    std::string body;
    while (true) {
        body += reader.read_body(input_);
        if (reader.bad()) co_return *reader.bad();
        if (body.size() > limits.body_bytes) co_return too_large;
        if (reader.done()) co_return body;
        stream_.expires_after(limits.body);
        const auto moved = co_await stream_.read_some(input_.room());
        input_.commit(moved.bytes);
        if (moved.error && moved.bytes == 0) co_return Closed{};
    }
}

Task<bool> ClientConnection::decide(Call& call) {
    auto read = co_await read_body(call);
    if (std::holds_alternative<Closed>(read)) co_return false;
    if (const auto* bad = std::get_if<BadMessage>(&read)) co_return co_await refuse(*bad);
    HttpRequest request{call.head().method, call.head().target, end_to_end(call.head().headers),
                        std::get<std::string>(std::move(read))};
    const ClientWatch watch{stream_, [&call] { call.guard.give_up(); }};
    const auto answer = co_await ask_handler(call, std::move(request));
    if (call.guard.gone()) co_return false;
    if (const auto* own = std::get_if<OwnAnswer>(&answer)) co_return co_await give(call, *own);
    if (const auto* error = std::get_if<Error>(&answer)) {
        const OwnAnswer told = error_answer(status_of(error->code), error->what);
        co_return co_await give(call, told);
    }
    auto* const passed =
        dynamic_cast<AnswerStream*>(std::get<std::unique_ptr<UpstreamAnswer>>(answer).get());
    if (passed != nullptr) co_return co_await give(call, *passed);
    const OwnAnswer none = error_answer(500, "this should not happen, please report it");
    co_return co_await give(call, none);
}

Task<ProxyAnswer> ClientConnection::ask_handler(Call& call, HttpRequest request) {
    ClientCall asked{*shared_, call.guard};
    try {
        co_return co_await shared_->handler->handle(std::move(request), asked);
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", shared_->settings.name, wrong.what());
    }
    co_return error_answer(500, "this should not happen, please report it");
}

}  // namespace reaper::proxy

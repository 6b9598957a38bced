#include "clients/http_proxy/client_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <variant>

#include "clients/http/socket_stream.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::proxy {

struct Upload;

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
public:
    ClientConnection(std::shared_ptr<Shared> shared, boost::asio::ip::tcp::socket socket);
    ~ClientConnection();
    ClientConnection& operator=(ClientConnection&&) = delete;

    /// Until the client leaves, says nothing in time, or is closed.
    Task<void> serve();
    /// At once; a call under way is given up.
    void close();

private:
    struct Closed {};
    using Request = std::shared_ptr<RequestReader>;
    using HeadRead = std::variant<Request, BadMessage, Closed>;
    /// A request under way.
    struct Call {
        Request reader;
        std::string target;  ///< the upstream's
        bool keep = false;   ///< another one may follow
        CallGuard guard{};
        int status = 0;  ///< of its answer; 0: none was given

        const RequestHead& head() const { return reader->head(); }
        bool chunked() const { return reader->framing().kind == Framing::Kind::chunked; }
    };
    /// Marks the connection as one that may be closed for another.
    class GivesWay;

    Task<HeadRead> read_head();
    Task<bool> serve_one(Request request);
    Task<bool> serve_call(Call& call);

    // What goes to the upstream; each says whether another request may follow
    Task<bool> pass_on(Call& call);
    Task<bool> pass_whole(Call& call, std::string_view body);
    Task<bool> pass_piece_by_piece(Call& call, std::string_view first);
    Task<bool> decide(Call& call);
    Task<std::variant<std::string, BadMessage, Closed>> read_body(const Call& call);
    std::string upstream_head(const Call& call) const;
    std::shared_ptr<Upload> start_upload(Call& call,
                                         const std::shared_ptr<UpstreamConnection>& connection);
    static Task<void> carry(std::shared_ptr<ClientConnection> client,
                            std::shared_ptr<UpstreamConnection> connection, Request request,
                            std::shared_ptr<Upload> upload);
    Task<void> stop(Upload& upload, UpstreamConnection& connection);
    Task<ProxyAnswer> ask_handler(Call& call, HttpRequest request);
    Interim interim_of(const Call& call);
    Task<bool> say_interim(const AnswerHead& head);

    // What goes to the client; each says whether another request may follow
    Task<bool> give(Call& call, AnswerStream& answer);
    Task<bool> give(Call& call, const OwnAnswer& answer);
    Task<bool> give_failure(Call& call, const http::Failure& failure);
    Task<bool> refuse(const BadMessage& bad);
    Task<bool> write(http::SocketStream::Pieces pieces);

    std::shared_ptr<Shared> shared_;
    http::SocketStream stream_;
    Input input_;
    std::list<ClientConnection*>::iterator open_at_;
    CallGuard* under_way_ = nullptr;
};

// Notices that a client leaves while it waits for its answer. Nothing is read: what it sent ahead
// (pipelined requests) stays where it is.

/// A client that ends its side of the connection has left, as nginx and others see it, too.
class ClientWatch {
public:
    /// From now on; calls back at most once, never in the destructor. The stream must outlive the
    /// watch.
    ClientWatch(http::SocketStream& stream, std::function<void()> on_left);
    ~ClientWatch();
    ClientWatch& operator=(ClientWatch&&) = delete;

private:
    struct State;
    std::shared_ptr<State> state_;  ///< shared with handlers that come late
};

namespace asio = boost::asio;
using boost::system::error_code;

struct ClientWatch::State : std::enable_shared_from_this<ClientWatch::State> {
    State(http::SocketStream& watched, std::function<void()> told)
        : stream(watched), on_left(std::move(told)), later(watched.tcp().get_executor()) {}

    void watch() {
        auto handler = [self = shared_from_this()](error_code error) {
            if (!error) self->look();
        };
        stream.tcp().socket().async_wait(
            asio::ip::tcp::socket::wait_read,
            asio::bind_cancellation_slot(stop.slot(), std::move(handler)));
    }
    void look() {
        if (!active) return;
        if (stream.peer_left()) {
            active = false;
            on_left();
            return;
        }
        // There is something to read, and it stays there: without a pause, the same wait would
        // return at once.
        later.expires_after(std::chrono::seconds{1});
        auto handler = [self = shared_from_this()](error_code error) {
            if (!error) self->look();
        };
        later.async_wait(std::move(handler));
    }

    http::SocketStream& stream;
    std::function<void()> on_left;
    asio::steady_timer later;
    asio::cancellation_signal stop;
    bool active = true;
};

ClientWatch::ClientWatch(http::SocketStream& stream, std::function<void()> on_left)
    : state_(std::make_shared<State>(stream, std::move(on_left))) {
    if (stream.tcp().socket().is_open()) state_->watch();
}

ClientWatch::~ClientWatch() {
    state_->active = false;
    state_->stop.emit(asio::cancellation_type::all);
    state_->later.cancel();
}

/// The body of a request on its way to the upstream, while the answer may come already.
struct Upload {
    enum class Outcome {
        running,
        whole,          ///< all of it was sent
        client_left,    ///< or stalled
        bad,            ///< its framing is broken
        upstream_left,  ///< it takes no more; it may have answered before
    };

    Upload(const boost::asio::any_io_executor& executor, CallGuard& whose)
        : ended(executor, boost::asio::steady_timer::time_point::max()), guard(whose) {}

    void end(Outcome how) {
        outcome = how;
        ended.cancel();
    }
    /// A client that has sent all of it may leave before the answer.
    void watch_client(http::SocketStream& stream) {
        watch.emplace(stream, [this] { guard.give_up(); });
    }

    Outcome outcome = Outcome::running;
    boost::asio::steady_timer ended;
    CallGuard& guard;
    std::optional<ClientWatch> watch;
    bool stopped = false;    ///< by ourselves: the rest is of no use
    bool abandoned = false;  ///< the call is over; the guard is no more
};

/// Owned by the call.
class UploadInProgress {
public:
    explicit UploadInProgress(std::shared_ptr<Upload> upload) : upload_(std::move(upload)) {}
    UploadInProgress& operator=(UploadInProgress&&) = delete;
    ~UploadInProgress() {
        upload_->abandoned = true;
        upload_->watch.reset();
    }
    Upload* operator->() const { return upload_.get(); }
    Upload& operator*() const { return *upload_; }

private:
    std::shared_ptr<Upload> upload_;
};

/// A call as its handler sees it.
class ClientCall final : public ProxyCall {
public:
    ClientCall(Shared& shared, CallGuard& guard) : shared_(shared), guard_(guard) {}
    ClientCall& operator=(ClientCall&&) = delete;
    ~ClientCall() override { guard_.forget(); }

    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override;
    ResultTask<std::unique_ptr<UpstreamAnswer>> ask_other(std::string url, HttpRequest request,
                                                          std::function<bool()> lost) override;
    bool client_gone() const override { return guard_.gone(); }
    void on_client_gone(std::function<void()> told) override { guard_.on_gone(std::move(told)); }

private:
    Result<std::string> head_of(const HttpRequest& request, const std::string& target) const;
    Result<std::shared_ptr<Upstream>> other_at(const std::string& url);

    Shared& shared_;
    CallGuard& guard_;
};

using std::chrono::steady_clock;

/// Of another proxy; what is larger still streams to the client.
constexpr std::size_t largest_answer = 64U << 20U;

class ClientConnection::GivesWay {
public:
    /// `list`: of those like it.
    GivesWay(ClientConnection& connection, std::list<ClientConnection*>& list)
        : list_(&list), at_(list.insert(list.end(), &connection)) {
        connection.shared_->room.cancel();
    }
    GivesWay& operator=(GivesWay&&) = delete;
    ~GivesWay() { list_->erase(at_); }
    void move_to(std::list<ClientConnection*>& other) {
        other.splice(other.end(), *list_, at_);
        list_ = &other;
    }

private:
    std::list<ClientConnection*>* list_;
    std::list<ClientConnection*>::iterator at_;
};

ClientConnection::ClientConnection(std::shared_ptr<Shared> shared,
                                   boost::asio::ip::tcp::socket socket)
    : shared_(std::move(shared)),
      stream_(std::move(socket), shared_->tls ? shared_->tls->context() : nullptr),
      open_at_(shared_->open.insert(shared_->open.end(), this)) {}

ClientConnection::~ClientConnection() {
    shared_->open.erase(open_at_);
    shared_->room.cancel();
}

void ClientConnection::close() {
    if (under_way_ != nullptr) under_way_->give_up();
    stream_.close();
}

Task<void> ClientConnection::serve() {
    boost::system::error_code ignored;
    stream_.tcp().socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    stream_.expires_after(shared_->settings.limits.head);
    {
        const GivesWay mark{*this, shared_->heads};
        const auto refused = co_await stream_.shake_hands(boost::asio::ssl::stream_base::server);
        if (refused) co_return;
    }
    bool more = true;
    while (more) {
        HeadRead read = co_await read_head();
        if (std::holds_alternative<Closed>(read)) co_return;
        if (auto* bad = std::get_if<BadMessage>(&read))
            more = co_await refuse(*bad);
        else
            more = co_await serve_one(std::get<Request>(std::move(read)));
        more = more && !shared_->draining;
    }
    co_await stream_.leave();
}

Task<ClientConnection::HeadRead> ClientConnection::read_head() {
    const HttpProxyLimits& limits = shared_->settings.limits;
    auto request = std::make_shared<RequestReader>();
    GivesWay mark{*this, shared_->idle};
    bool begun = false;
    auto limit = steady_clock::now() + limits.idle;
    while (true) {
        if (!input_.empty() && !std::exchange(begun, true)) {
            mark.move_to(shared_->heads);
            limit = steady_clock::now() + limits.head;
        }
        // RFC 9112, 2.2: empty lines before a request.
        while (input_.text().starts_with("\r\n")) input_.consume(2);
        if (request->read_head(input_)) co_return request;
        if (request->bad()) co_return *request->bad();
        input_.release();
        stream_.expires_at(limit);
        const auto moved = co_await stream_.read_some(input_.room());
        input_.commit(moved.bytes);
        if (moved.error && moved.bytes == 0) co_return Closed{};
    }
}

Task<bool> ClientConnection::serve_one(Request request) {
    const RequestHead& head = request->head();
    auto target = upstream_target(shared_->prefixes, head.target);
    const auto& handler = shared_->handler;
    if (!target && handler != nullptr && handler->owns(head.target)) target = head.target;
    const bool keep = keeps_connection(head.minor, head.headers) && !shared_->draining;
    Call call{std::move(request), target.value_or(""), keep};
    HttpProxyState& state = shared_->state;
    ++state.calls;
    under_way_ = &call.guard;
    const auto began = steady_clock::now();
    bool more = false;
    std::exception_ptr failed;
    try {
        if (target) {
            more = co_await serve_call(call);
        } else {
            call.keep = call.keep && call.reader->done();
            const OwnAnswer nothing_here =
                error_answer(404, "there is nothing under this path, only under " +
                                      shared_->prefixes.ours + "/");
            more = co_await give(call, nothing_here);
        }
    } catch (...) {
        failed = std::current_exception();
    }
    under_way_ = nullptr;
    --state.calls;
    ++state.served;
    if (failed) std::rethrow_exception(failed);
    if (spdlog::should_log(spdlog::level::debug)) {
        const auto took = std::chrono::duration_cast<Duration>(steady_clock::now() - began);
        spdlog::debug("{}: {} {} {} in {} ms", shared_->settings.name, call.head().method,
                      shown(call.head().target), call.status, took.count());
    }
    co_return more;
}

Task<bool> ClientConnection::serve_call(Call& call) {
    const auto& handler = shared_->handler;
    if (handler != nullptr && handler->wants(call.head().method, call.head().target))
        co_return co_await decide(call);
    co_return co_await pass_on(call);
}

// What goes to the upstream.

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

// What goes to the client.

namespace {

using boost::asio::const_buffer;

const_buffer bytes_of(std::string_view text) {
    return {text.data(), text.size()};
}

std::string status_line(int status, std::string_view reason) {
    std::string line = "HTTP/1.1 ";
    line.append(std::to_string(status)).append(" ").append(reason).append("\r\n");
    return line;
}

void append_connection(std::string& text, int minor, bool keep) {
    if (!keep) append_header(text, "Connection", "close");
    if (keep && minor == 0) append_header(text, "Connection", "keep-alive");
}

/// Answers of these have no body, and no length.
bool is_bodiless(int status) {
    return status < 200 || status == 204 || status == 304;
}

}  // namespace

Task<bool> ClientConnection::write(http::SocketStream::Pieces pieces) {
    const auto moved = co_await stream_.write(pieces, shared_->settings.limits.write);
    co_return !moved.error;
}

Task<bool> ClientConnection::give(Call& call, AnswerStream& answer) {
    const Framing::Kind kind = answer.framing().kind;
    const bool no_length = kind == Framing::Kind::chunked || kind == Framing::Kind::until_close;
    const bool chunked = no_length && call.head().minor == 1;
    const bool until_close = no_length && !chunked;
    const bool keep = call.keep && !until_close && !shared_->draining;
    call.status = answer.status();

    std::string text = status_line(answer.status(), answer.reason());
    append_end_to_end(text, answer.headers());
    if (chunked) append_header(text, "Transfer-Encoding", "chunked");
    append_connection(text, call.head().minor, keep);
    text += "\r\n";

    AnswerStream::Piece piece = answer.ready();
    while (true) {
        if (chunked && !piece.bytes.empty()) text += chunk_head(piece.bytes.size());
        std::string_view tail;
        if (chunked && !piece.broken) {
            tail = piece.last ? tail_and_last_chunk : chunk_tail;
            if (piece.bytes.empty()) tail = piece.last ? last_chunk : std::string_view{};
        }
        const http::SocketStream::Pieces pieces{bytes_of(text), bytes_of(piece.bytes),
                                                bytes_of(tail)};
        const bool written = co_await write(pieces);
        if (!written) co_return false;
        if (piece.last) co_return keep;
        if (!piece.broken) piece = co_await answer.next();
        if (piece.broken) break;
        text.clear();
    }
    // What ends with the connection would look whole if that ended in good order.
    if (until_close)
        stream_.reset();
    else
        stream_.close();
    co_return false;
}

Task<bool> ClientConnection::give(Call& call, const OwnAnswer& answer) {
    const bool keep = call.keep && !shared_->draining;
    call.status = answer.status;
    const std::string_view reason =
        answer.reason.empty() ? usual_reason(answer.status) : std::string_view(answer.reason);
    std::string text = status_line(answer.status, reason);
    HttpHeaders headers = answer.headers;
    std::erase_if(headers,
                  [](const auto& header) { return is_same_name(header.first, "Content-Length"); });
    append_end_to_end(text, headers);
    if (!is_bodiless(answer.status))
        append_header(text, "Content-Length", std::to_string(answer.body.size()));
    append_connection(text, call.head().minor, keep);
    text += "\r\n";
    const bool with_body = call.head().method != "HEAD" && !is_bodiless(answer.status);
    const std::string_view body = with_body ? std::string_view(answer.body) : std::string_view();
    const http::SocketStream::Pieces pieces{bytes_of(text), bytes_of(body)};
    const bool written = co_await write(pieces);
    co_return written&& keep;
}

Task<bool> ClientConnection::give_failure(Call& call, const http::Failure& failure) {
    if (call.guard.gone() || failure.code == Errc::cancelled) co_return false;
    const OwnAnswer answer =
        error_answer(status_of(failure), shared_->settings.name + ": " + failure.cause);
    co_return co_await give(call, answer);
}

Task<bool> ClientConnection::refuse(const BadMessage& bad) {
    Call call{};
    call.reader = std::make_shared<RequestReader>();
    const OwnAnswer answer = error_answer(bad.status, bad.why);
    co_return co_await give(call, answer);
}

Task<bool> ClientConnection::say_interim(const AnswerHead& head) {
    std::string text = status_line(head.status, head.reason);
    append_end_to_end(text, head.headers);
    text += "\r\n";
    const http::SocketStream::Pieces pieces{bytes_of(text)};
    co_return co_await write(pieces);
}

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

/// Ends a call that is under way, or closes its connection, when what it waits for is lost.
class LossWatch : public std::enable_shared_from_this<LossWatch> {
public:
    LossWatch(const asio::any_io_executor& executor, CallGuard& guard, std::function<bool()> lost)
        : timer_(executor), guard_(&guard), lost_(std::move(lost)) {}

    void look() {
        if (guard_ == nullptr) return;
        if (lost_()) return guard_->give_up();
        timer_.expires_after(between_looks);
        auto handler = [self = shared_from_this()](error_code error) {
            if (!error) self->look();
        };
        timer_.async_wait(std::move(handler));
    }
    void end() {
        guard_ = nullptr;
        timer_.cancel();
    }

private:
    static constexpr std::chrono::milliseconds between_looks{200};

    asio::steady_timer timer_;
    CallGuard* guard_;
    std::function<bool()> lost_;
};

/// A call to another proxy, which is given up with its client or when its goal is lost.
class OtherCall {
public:
    OtherCall(const asio::any_io_executor& executor, CallGuard& client, std::function<bool()> lost)
        : client_(client), watch_(std::make_shared<LossWatch>(executor, guard, std::move(lost))) {
        client_.on_gone([this] { guard.give_up(); });
    }
    OtherCall& operator=(OtherCall&&) = delete;
    ~OtherCall() {
        watch_->end();
        client_.forget();
    }
    void look() { watch_->look(); }

    CallGuard guard;

private:
    CallGuard& client_;
    std::shared_ptr<LossWatch> watch_;
};

Result<std::string> ClientCall::head_of(const HttpRequest& request,
                                        const std::string& target) const {
    std::string text = request.method + " " + target + " HTTP/1.1";
    bool bad = breaks_the_line(text);
    text += "\r\n";
    for (const auto& [name, value] : end_to_end(request.headers)) {
        bad = bad || breaks_the_line(name) || breaks_the_line(value);
        // The body is there: the client need not be asked for it.
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
    const auto target = upstream_target(shared_.prefixes, request.target);
    if (!target)
        co_return Error{Errc::bad_input,
                        shown(request.target) + " is not under " + shared_.prefixes.ours + "/"};
    auto head = head_of(request, *target);
    if (!head) co_return head.error();
    const Outgoing out{request.method, std::move(*head), request.body};
    const Interim no_interim;
    auto answered = co_await shared_.upstream->ask(out, guard_, no_interim);
    if (const auto* failure = std::get_if<http::Failure>(&answered))
        co_return Error{code_of(*failure), shared_.settings.name + ": " + failure->cause};
    std::unique_ptr<UpstreamAnswer> answer =
        std::get<std::unique_ptr<AnswerStream>>(std::move(answered));
    co_return answer;
}

Result<std::shared_ptr<Upstream>> ClientCall::other_at(const std::string& url) {
    if (shared_.other != nullptr && shared_.other_at == url) return shared_.other;
    const auto parsed = http::parse_url(url);
    if (!parsed) return parsed.error();
    std::shared_ptr<http::TlsContext> tls;
    if (parsed->endpoint.tls) {
        auto made = http::make_tls_context(shared_.settings.upstream_tls);
        if (!made) return made.error();
        tls = std::move(*made);
    }
    shared_.other =
        std::make_shared<Upstream>(shared_.executor, shared_.settings.name, parsed->endpoint,
                                   std::move(tls), shared_.settings.limits);
    shared_.other_at = url;
    return shared_.other;
}

ResultTask<std::unique_ptr<UpstreamAnswer>> ClientCall::ask_other(std::string url,
                                                                  HttpRequest request,
                                                                  std::function<bool()> lost) {
    const auto other = other_at(url);
    if (!other) co_return Error{Errc::unreachable, other.error().what};
    auto head = head_of(request, request.target);
    if (!head) co_return Error{Errc::unreachable, head.error().what};
    const Outgoing out{request.method, std::move(*head), request.body};
    OtherCall call{shared_.executor, guard_, std::move(lost)};
    call.look();
    const Interim no_interim;
    auto answered = co_await (*other)->ask(out, call.guard, no_interim);
    if (const auto* failure = std::get_if<http::Failure>(&answered))
        co_return Error{failure->sent ? code_of(*failure) : Errc::unreachable, failure->cause};
    auto answer = std::get<std::unique_ptr<AnswerStream>>(std::move(answered));
    answer->count_in(shared_.held);
    const auto read = co_await answer->read_all(largest_answer);
    if (!read) co_return Error{Errc::bad_answer, read.error().what};
    answer->work_for(guard_);
    std::unique_ptr<UpstreamAnswer> given = std::move(answer);
    co_return given;
}

// What the proxy asks of it.

namespace {

Task<void> serve_client(std::shared_ptr<ClientConnection> connection, std::string name) {
    try {
        co_await connection->serve();
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", name, wrong.what());
    }
}

}  // namespace

void take_client(const std::shared_ptr<Shared>& shared, asio::ip::tcp::socket socket) {
    auto connection = std::make_shared<ClientConnection>(shared, std::move(socket));
    auto served = serve_client(std::move(connection), shared->settings.name);
    asio::co_spawn(shared->executor, std::move(served), asio::detached);
}

void close_client(ClientConnection& connection) {
    connection.close();
}

}  // namespace reaper::proxy

#include "clients/http_proxy/upstream.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>

#include "clients/http/dial.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::proxy {

namespace {

using http::Failure;

constexpr std::size_t max_kept = 64;
constexpr int max_interim_answers = 16;

/// RFC 9110, 9.2.1: it changes nothing, so that it may be sent again.
bool is_safe(std::string_view method) {
    constexpr std::array<std::string_view, 4> safe{"GET", "HEAD", "OPTIONS", "TRACE"};
    return std::ranges::find(safe, method) != safe.end();
}

Failure cancelled() {
    return {Errc::cancelled, "the client no longer waits for the answer", false};
}

Failure cancelled_before_sending() {
    Failure failure = cancelled();
    failure.sent = false;
    return failure;
}

Failure bad_answer(std::string cause) {
    return {Errc::bad_answer, std::move(cause), false, true};
}

}  // namespace

Upstream::Upstream(boost::asio::any_io_executor executor, std::string name, http::Endpoint endpoint,
                   std::shared_ptr<http::TlsContext> tls, const HttpProxyLimits& limits)
    : executor_(std::move(executor)),
      name_(std::move(name)),
      endpoint_(std::move(endpoint)),
      tls_(std::move(tls)),
      limits_(limits),
      idle_(max_kept, limits.upstream_idle),
      sweep_(executor_) {}

Task<Upstream::Answered> Upstream::ask(const Outgoing& out, CallGuard& guard,
                                       const Interim& interim) {
    bool new_connection = false;
    while (true) {
        auto sent = co_await send(out, guard, new_connection);
        if (auto* failure = std::get_if<Failure>(&sent)) co_return std::move(*failure);
        auto connection = std::get<std::shared_ptr<UpstreamConnection>>(std::move(sent));
        const bool was_kept = connection->calls > 1;
        auto answered = co_await receive(std::move(connection), out.method, guard, interim);
        const auto* failure = std::get_if<Failure>(&answered);
        // Closed by the upstream just then: that says nothing about the upstream.
        const bool stale = failure != nullptr && was_kept && !failure->answer_began &&
                           failure->code == Errc::unreachable && is_safe(out.method);
        new_connection = true;
        if (stale && !guard.gone()) continue;
        if (failure != nullptr) note(*failure);
        co_return answered;
    }
}

Task<Upstream::Connected> Upstream::send(const Outgoing& out, CallGuard& guard,
                                         bool new_connection) {
    const Duration freshness =
        is_safe(out.method) && out.whole ? limits_.upstream_idle : limits_.surely_alive;
    while (true) {
        if (guard.gone()) co_return cancelled_before_sending();
        auto connection = new_connection ? nullptr : idle_.take(freshness);
        const bool was_kept = connection != nullptr;
        if (!was_kept) {
            auto made = co_await connect(guard);
            if (auto* failure = std::get_if<Failure>(&made)) {
                note(*failure);
                co_return std::move(*failure);
            }
            connection = std::get<std::shared_ptr<UpstreamConnection>>(std::move(made));
        }
        ++connection->calls;
        guard.works_on(connection);
        const auto moved = co_await write(*connection, out);
        connection->request_sent = out.whole && !moved.error;
        if (!moved.error) co_return connection;
        if (guard.gone()) co_return cancelled();
        const bool late = moved.error == boost::beast::error::timeout;
        if (was_kept && moved.bytes == 0 && !late) continue;
        // The upstream may have answered before it had all of the request.
        if (!late) co_return connection;
        const Failure failure = http::explain(moved.error, http::Stage::sending, 0);
        note(failure);
        co_return failure;
    }
}

Task<Upstream::Connected> Upstream::connect(CallGuard& guard) {
    auto tls = endpoint_.tls ? http::ssl_of(tls_) : nullptr;
    auto connection = std::make_shared<UpstreamConnection>(executor_, std::move(tls));
    guard.works_on(connection);
    const auto limit = std::chrono::steady_clock::now() + limits_.connect;
    static const http::TlsOptions none;
    const http::TlsOptions& options = tls_ ? tls_->options : none;
    auto failure = co_await http::dial(connection->stream, endpoint_, options, limit);
    if (guard.gone()) co_return cancelled_before_sending();
    if (!failure) co_return connection;
    failure->sent = false;
    co_return std::move(*failure);
}

Task<http::Moved> Upstream::write(UpstreamConnection& connection, const Outgoing& out) {
    const http::SocketStream::Pieces pieces{
        boost::asio::buffer(out.head), boost::asio::const_buffer(out.body.data(), out.body.size())};
    co_return co_await connection.stream.write(pieces, limits_.upstream);
}

Task<Upstream::Answered> Upstream::receive(std::shared_ptr<UpstreamConnection> connection,
                                           std::string_view method, CallGuard& guard,
                                           const Interim& interim) {
    for (int count = 0; count < max_interim_answers; ++count) {
        auto reader = std::make_unique<AnswerReader>(method == "HEAD");
        auto failure = co_await read_head(*connection, *reader);
        if (guard.gone()) co_return cancelled();
        if (failure) co_return std::move(*failure);
        const AnswerHead& head = reader->head();
        if (head.status >= 200) {
            note_answer();
            co_return std::make_unique<AnswerStream>(shared_from_this(), std::move(connection),
                                                     std::move(reader));
        }
        // Upgrade is not passed on, so no client asked for another protocol.
        if (head.status == 101) co_return bad_answer("the answer changes the protocol");
        if (!interim) continue;
        const bool told = co_await interim(head);
        if (!told) co_return cancelled();
    }
    co_return bad_answer("only interim answers (1xx)");
}

Task<std::optional<Failure>> Upstream::read_head(UpstreamConnection& connection,
                                                 AnswerReader& reader) {
    Input& input = connection.input;
    while (!reader.read_head(input)) {
        if (const auto& bad = reader.bad()) co_return bad_answer(bad->why);
        connection.stream.expires_after(limits_.upstream);
        const auto moved = co_await connection.stream.read_some(input.room());
        input.commit(moved.bytes);
        if (!moved.error) continue;
        Failure failure = http::explain(moved.error, http::Stage::reading, 0);
        failure.answer_began = !input.empty();
        co_return failure;
    }
    co_return std::nullopt;
}

void Upstream::keep(std::shared_ptr<UpstreamConnection> connection) {
    if (!connection->request_sent) return;
    connection->input.release();
    connection->stream.tcp().expires_never();
    idle_.put_back(std::move(connection));
    if (!sweeping_) sweep();
}

/// Closes connections that are no longer used, also when no request comes.
void Upstream::sweep() {
    sweeping_ = idle_.size() > 0;
    if (!sweeping_) return;
    sweep_.expires_after(limits_.upstream_idle + Duration{1});
    auto on_time = [weak = weak_from_this()](boost::system::error_code error) {
        const auto self = weak.lock();
        if (error || self == nullptr) return;
        self->idle_.drop_old();
        self->sweep();
    };
    sweep_.async_wait(std::move(on_time));
}

void Upstream::forget_idle() {
    idle_.clear();
    sweep_.cancel();
    sweeping_ = false;
}

void Upstream::note(const Failure& failure) {
    if (failure.code == Errc::cancelled || !std::exchange(answers_, false)) return;
    spdlog::error("{}: {} does not answer as it should: {}", name_, to_string(endpoint_),
                  failure.cause);
}

void Upstream::note_answer() {
    if (std::exchange(answers_, true)) return;
    spdlog::info("{}: {} answers again", name_, to_string(endpoint_));
}

namespace {

http::Failure broke_off() {
    return {Errc::unreachable, "the answer broke off in the middle"};
}

}  // namespace

AnswerStream::AnswerStream(std::shared_ptr<Upstream> upstream,
                           std::shared_ptr<UpstreamConnection> connection,
                           std::unique_ptr<AnswerReader> reader)
    : upstream_(std::move(upstream)),
      connection_(std::move(connection)),
      reader_(std::move(reader)),
      reusable_(keeps_connection(reader_->head().minor, reader_->head().headers) &&
                framing().kind != Framing::Kind::until_close) {
    reader_->head().headers = end_to_end(reader_->head().headers);
}

AnswerStream::~AnswerStream() {
    // What comes beyond the answer belongs to no request.
    if (reusable_ && reader_->done() && connection_->input.empty())
        upstream_->keep(std::move(connection_));
}

AnswerStream::Piece AnswerStream::decode() {
    const std::string_view bytes = reader_->read_body(connection_->input);
    broken_ = broken_ || reader_->bad();
    return {bytes, reader_->done(), broken_};
}

AnswerStream::Piece AnswerStream::ready() {
    if (read_.empty() || std::exchange(read_given_, true)) return decode();
    return {read_, reader_->done(), broken_};
}

Task<AnswerStream::Piece> AnswerStream::next() {
    Piece piece = ready();
    while (piece.bytes.empty() && !piece.last && !piece.broken) {
        const auto failure = co_await read_more();
        if (failure) {
            upstream_->note(*failure);
            broken_ = true;
        }
        piece = decode();
    }
    co_return piece;
}

/// The end of the connection is the end of an answer that says so.
Task<std::optional<http::Failure>> AnswerStream::read_more() {
    connection_->stream.expires_after(upstream_->limits().upstream);
    const http::Moved moved = co_await connection_->stream.read_some(connection_->input.room());
    connection_->input.commit(moved.bytes);
    if (!moved.error || moved.bytes > 0) co_return std::nullopt;
    if (moved.error == boost::asio::error::eof && reader_->end_with_connection())
        co_return std::nullopt;
    auto failure = http::explain(moved.error, http::Stage::reading, 0);
    if (failure.code == Errc::unreachable) failure = broke_off();
    co_return failure;
}

ResultTask<BodyRead> AnswerStream::read_all(std::size_t most) {
    const auto failed = [](const http::Failure& failure) {
        return Error{code_of(failure), failure.cause};
    };
    if (broken_) co_return failed(broke_off());
    bool too_many = false;
    while (!reader_->done()) {
        if (read_.size() > most || too_many) co_return BodyRead::too_large;
        if (connection_->input.empty()) {
            const auto failure = co_await read_more();
            if (failure) {
                upstream_->note(*failure);
                broken_ = true;
                co_return failed(*failure);
            }
        }
        const Piece piece = decode();
        read_ += piece.bytes;
        too_many = held_ && !held_->hold(read_.capacity());
        if (piece.broken) {
            broken_ = true;
            co_return Error{Errc::bad_answer, "the chunks of the answer are broken"};
        }
    }
    if (read_.size() > most) co_return BodyRead::too_large;
    co_return BodyRead::whole;
}

}  // namespace reaper::proxy

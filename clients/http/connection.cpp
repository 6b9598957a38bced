#include "clients/http/connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <sys/socket.h>
#include <utility>

#include "clients/http/resolve.hpp"

namespace reaper::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using Parser = wire::response_parser<wire::string_body>;

constexpr std::uint32_t max_header_bytes = 64 * 1024;
constexpr int max_interim_answers = 8;  // 1xx before the real one

Failure failed_reading(const boost::system::error_code& error, const Parser& parser,
                       std::uint64_t max_body_bytes) {
    Failure failure = explain(error, Stage::reading, max_body_bytes);
    failure.answer_began = parser.got_some();
    if (failure.answer_began && failure.code == Errc::unreachable)
        failure.cause = "the answer broke off in the middle";
    return failure;
}

Exchange finish(Parser& parser, bool clean) {
    auto message = parser.release();
    Exchange exchange;
    exchange.reusable = clean && message.keep_alive() && !message.need_eof();
    exchange.response.status = static_cast<int>(message.result_int());
    for (const auto& field : message)
        exchange.response.headers.push_back(
            {std::string(field.name_string()), std::string(field.value())});
    exchange.response.body = std::move(message.body());
    return exchange;
}

template <class Stream>
Task<std::variant<Exchange, Failure>> exchange_on(Stream& stream, beast::flat_buffer& buffer,
                                                  const WireRequest& request,
                                                  std::uint64_t max_body_bytes) {
    boost::system::error_code error;
    co_await wire::async_write(stream, request, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return explain(error, Stage::sending, max_body_bytes);

    for (int interim = 0; interim <= max_interim_answers; ++interim) {
        Parser parser;
        parser.header_limit(max_header_bytes);
        parser.body_limit(max_body_bytes);
        parser.skip(request.method() == wire::verb::head);
        co_await wire::async_read_header(stream, buffer, parser,
                                         asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return failed_reading(error, parser, max_body_bytes);
        if (parser.get().result_int() < 200) continue;
        co_await wire::async_read(stream, buffer, parser,
                                  asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return failed_reading(error, parser, max_body_bytes);
        co_return finish(parser, buffer.size() == 0);
    }
    co_return Failure{Errc::bad_answer, "only interim answers (1xx)", false, true};
}

}  // namespace

Connection::Connection(const asio::any_io_executor& executor, Endpoint endpoint,
                       std::shared_ptr<TlsContext> tls)
    : endpoint_(std::move(endpoint)), context_(std::move(tls)) {
    if (endpoint_.tls)
        tls_.emplace(executor, context_->ssl);
    else
        plain_.emplace(executor);
}

Connection::Plain& Connection::tcp() {
    return tls_ ? tls_->next_layer() : *plain_;
}

Task<std::optional<Failure>> Connection::open(TimeLimit limit) {
    auto found = co_await resolve(tcp().get_executor(), endpoint_, limit);
    if (auto* failure = std::get_if<Failure>(&found)) co_return std::move(*failure);
    const Addresses& addresses = std::get<Addresses>(found);

    boost::system::error_code error;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        // An address that swallows packets must leave time for the next one.
        const auto now = std::chrono::steady_clock::now();
        const auto share = (limit - now) / static_cast<int>(addresses.size() - i);
        tcp().expires_at(now + share);
        co_await tcp().async_connect(addresses[i],
                                     asio::redirect_error(asio::use_awaitable, error));
        if (!error || error == asio::error::operation_aborted) break;
        boost::system::error_code ignored;
        tcp().socket().close(ignored);
    }
    if (error == beast::error::timeout) co_return Failure{Errc::timeout, "no connection in time"};
    if (error) co_return explain(error, Stage::connecting, 0);
    tcp().socket().set_option(asio::ip::tcp::no_delay(true), error);
    if (tls_) co_return co_await shake_hands(limit);
    co_return std::nullopt;
}

Task<std::optional<Failure>> Connection::shake_hands(TimeLimit limit) {
    SSL* const ssl = tls_->native_handle();
    if (!prepare_tls(ssl, endpoint_, context_->options.verify))
        co_return Failure{Errc::tls, "the host's name can't be checked against a certificate",
                          false};
    boost::system::error_code error;
    tcp().expires_at(limit);
    co_await tls_->async_handshake(asio::ssl::stream_base::client,
                                   asio::redirect_error(asio::use_awaitable, error));
    if (error == beast::error::timeout)
        co_return Failure{Errc::timeout, "no TLS handshake in time"};
    if (error) co_return explain_handshake(error, ssl, context_->options, endpoint_);
    co_return std::nullopt;
}

Task<std::variant<Exchange, Failure>> Connection::exchange(const WireRequest& request,
                                                           std::uint64_t max_body_bytes,
                                                           TimeLimit limit) {
    tcp().expires_at(limit);
    if (tls_) co_return co_await exchange_on(*tls_, buffer_, request, max_body_bytes);
    co_return co_await exchange_on(*plain_, buffer_, request, max_body_bytes);
}

bool Connection::looks_alive() {
    if (!tcp().socket().is_open()) return false;
    char byte = 0;
    const auto got = ::recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // Nothing to read is the only good news: 0 is the end, data is an alert or an orphan answer.
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace reaper::http

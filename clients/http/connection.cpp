#include "clients/http/connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "clients/http/dial.hpp"

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
    : endpoint_(std::move(endpoint)),
      context_(std::move(tls)),
      stream_(executor, endpoint_.tls ? ssl_of(context_) : nullptr) {}

Task<std::optional<Failure>> Connection::open(TimeLimit limit) {
    static const TlsOptions none;
    const TlsOptions& options = context_ ? context_->options : none;
    co_return co_await dial(stream_, endpoint_, options, limit);
}

Task<std::variant<Exchange, Failure>> Connection::exchange(const WireRequest& request,
                                                           std::uint64_t max_body_bytes,
                                                           TimeLimit limit) {
    stream_.expires_at(limit);
    if (auto* const tls = stream_.tls())
        co_return co_await exchange_on(*tls, buffer_, request, max_body_bytes);
    co_return co_await exchange_on(stream_.tcp(), buffer_, request, max_body_bytes);
}

}  // namespace reaper::http

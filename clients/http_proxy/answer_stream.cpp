#include "clients/http_proxy/answer_stream.hpp"

#include <boost/asio/error.hpp>
#include <utility>

#include "clients/http_proxy/upstream.hpp"

namespace reaper::proxy {

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
    // More than was asked for belongs to nobody.
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
        return Error{failure.code, failure.cause};
    };
    if (broken_) co_return failed(broke_off());
    while (!reader_->done()) {
        if (read_.size() > most) co_return BodyRead::too_large;
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
        if (piece.broken) {
            broken_ = true;
            co_return Error{Errc::bad_answer, "the chunks of the answer are broken"};
        }
    }
    if (read_.size() > most) co_return BodyRead::too_large;
    co_return BodyRead::whole;
}

}  // namespace reaper::proxy

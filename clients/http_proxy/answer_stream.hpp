// An answer of the upstream whose body comes piece by piece.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "clients/http/failure.hpp"
#include "clients/http_proxy/call_guard.hpp"
#include "clients/http_proxy/message.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper::proxy {

class Upstream;

class AnswerStream final : public UpstreamAnswer {
public:
    /// A run of bytes of the body.
    struct Piece {
        std::string_view bytes;  ///< until the next call
        bool last = false;       ///< nothing follows
        bool broken = false;     ///< it is not whole, and never will be
    };

    AnswerStream(std::shared_ptr<Upstream> upstream, std::shared_ptr<UpstreamConnection> connection,
                 std::unique_ptr<AnswerReader> reader);
    /// A connection whose answer was read to its end goes back.
    ~AnswerStream() override;
    AnswerStream(const AnswerStream&) = delete;
    AnswerStream& operator=(const AnswerStream&) = delete;

    int status() const override { return reader_->head().status; }
    const std::string& reason() const override { return reader_->head().reason; }
    const HttpHeaders& headers() const override { return reader_->head().headers; }
    ResultTask<BodyRead> read_all(std::size_t most) override;
    const std::string& body() const override { return read_; }

    const Framing& framing() const { return reader_->framing(); }
    /// What is here already; may be empty without being the last. First of all comes what was read.
    Piece ready();
    /// The next one, when it comes.
    Task<Piece> next();

private:
    Piece decode();
    Task<std::optional<http::Failure>> read_more();

    std::shared_ptr<Upstream> upstream_;
    std::shared_ptr<UpstreamConnection> connection_;
    std::unique_ptr<AnswerReader> reader_;  ///< its head has only what goes through
    std::string read_;
    bool read_given_ = false;
    bool broken_ = false;
    bool reusable_;
};

}  // namespace reaper::proxy

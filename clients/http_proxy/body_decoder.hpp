// Takes the bytes of a connection apart into those of a body and those of its framing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "clients/http_proxy/framing.hpp"

namespace reaper::proxy {

class BodyDecoder {
public:
    /// Of one call.
    struct Decoded {
        std::size_t body = 0;      ///< so many bytes of the body stand at the front now
        std::size_t consumed = 0;  ///< so many were taken; what is behind is not the body's
        bool bad = false;          ///< the framing is broken; nothing more can be read
    };

    explicit BodyDecoder(Framing framing);

    /// Decodes in place: body bytes move to the front. Takes all of `bytes` unless the body ends in
    /// them.
    Decoded decode(std::span<char> bytes);
    /// The whole body has been seen. One that goes until the connection ends never is.
    bool done() const { return state_ == State::done; }

private:
    /// Of chunks (RFC 9112, 7.1); extensions and trailers are skipped.
    enum class State {
        data,
        size,        ///< digits of a chunk's size
        extension,   ///< behind them
        size_feed,   ///< LF that ends the line of the size
        data_end,    ///< CR behind a chunk
        data_feed,   ///< LF behind a chunk
        trailer,     ///< first byte of a line
        in_trailer,  ///< further bytes
        trailer_feed,
        last_feed,
        done,
        bad,
    };

    void take(char c);
    void take_size(char c);
    void take_trailer(char c);
    void end_size_line();

    Framing::Kind kind_;
    State state_ = State::data;
    std::uint64_t left_ = 0;  ///< of the body, or of the chunk
    int digits_ = 0;
    std::size_t overhead_ = 0;  ///< bytes of an extension or of trailers, which are bounded
};

/// The line before a chunk of so many bytes.
std::string chunk_head(std::size_t size);
constexpr std::string_view chunk_tail = "\r\n";
constexpr std::string_view last_chunk = "0\r\n\r\n";
constexpr std::string_view tail_and_last_chunk = "\r\n0\r\n\r\n";

}  // namespace reaper::proxy

#include "clients/http_proxy/body_decoder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace reaper::proxy {

namespace {

constexpr int max_size_digits = 15;
constexpr std::size_t max_extension = 4096;
constexpr std::size_t max_trailers = 16 * 1024;

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_line_byte(char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

BodyDecoder::BodyDecoder(Framing framing) : kind_(framing.kind), left_(framing.length) {
    if (kind_ == Framing::Kind::chunked) state_ = State::size;
    if (kind_ == Framing::Kind::none || (kind_ == Framing::Kind::length && left_ == 0))
        state_ = State::done;
}

BodyDecoder::Decoded BodyDecoder::decode(std::span<char> bytes) {
    Decoded decoded;
    if (kind_ == Framing::Kind::until_close) {
        decoded.body = decoded.consumed = bytes.size();
        return decoded;
    }
    while (decoded.consumed < bytes.size() && state_ != State::done && state_ != State::bad) {
        if (state_ != State::data) {
            take(bytes[decoded.consumed++]);
            continue;
        }
        const std::size_t here = static_cast<std::size_t>(
            std::min<std::uint64_t>(left_, bytes.size() - decoded.consumed));
        if (decoded.body != decoded.consumed)
            std::memmove(bytes.data() + decoded.body, bytes.data() + decoded.consumed, here);
        decoded.body += here;
        decoded.consumed += here;
        left_ -= here;
        if (left_ == 0) state_ = kind_ == Framing::Kind::chunked ? State::data_end : State::done;
    }
    decoded.bad = state_ == State::bad;
    return decoded;
}

void BodyDecoder::take(char c) {
    const auto expect = [&](char wanted, State next) { state_ = c == wanted ? next : State::bad; };
    switch (state_) {
        case State::size: return take_size(c);
        case State::extension:
            if (c == '\r')
                state_ = State::size_feed;
            else if (!is_line_byte(c) || ++overhead_ > max_extension)
                state_ = State::bad;
            return;
        case State::size_feed:
            expect('\n', State::data);
            if (state_ == State::data) end_size_line();
            return;
        case State::data_end: return expect('\r', State::data_feed);
        case State::data_feed: digits_ = 0; return expect('\n', State::size);
        case State::trailer:
        case State::in_trailer: return take_trailer(c);
        case State::trailer_feed: return expect('\n', State::trailer);
        case State::last_feed: return expect('\n', State::done);
        case State::data:
        case State::done:
        case State::bad: return;
    }
}

void BodyDecoder::take_size(char c) {
    const int digit = hex_digit(c);
    if (digit >= 0) {
        if (digits_ == 0) left_ = 0;
        if (++digits_ > max_size_digits)
            state_ = State::bad;
        else
            left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
        return;
    }
    if (digits_ == 0)
        state_ = State::bad;
    else if (c == '\r')
        state_ = State::size_feed;
    else
        state_ = c == ';' || c == ' ' || c == '\t' ? State::extension : State::bad;
}

void BodyDecoder::end_size_line() {
    if (left_ > 0) return;
    state_ = State::trailer;
    overhead_ = 0;
}

void BodyDecoder::take_trailer(char c) {
    if (c == '\r')
        state_ = state_ == State::trailer ? State::last_feed : State::trailer_feed;
    else if (!is_line_byte(c) || ++overhead_ > max_trailers)
        state_ = State::bad;
    else
        state_ = State::in_trailer;
}

std::string chunk_head(std::size_t size) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16);
    return std::string(digits.data(), end) + "\r\n";
}

}  // namespace reaper::proxy

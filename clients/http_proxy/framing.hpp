// Where the body of a message ends (RFC 9112, 6). A message whose end two readers could see in
// different places is refused: that is how requests are smuggled.
#pragma once

#include <cstdint>
#include <variant>

#include "clients/http_proxy/head.hpp"

namespace reaper::proxy {

struct Framing {
    enum class Kind {
        none,         ///< no body
        length,       ///< Content-Length says how much
        chunked,      ///< in chunks
        until_close,  ///< until the connection ends; answers only
    };
    Kind kind = Kind::none;
    std::uint64_t length = 0;
};

/// A length of 0 is `none`.
std::variant<Framing, BadMessage> framing_of(const RequestHead& head);
/// `to_head`: of an answer to a HEAD.
std::variant<Framing, BadMessage> framing_of(const AnswerHead& head, bool to_head);

}  // namespace reaper::proxy

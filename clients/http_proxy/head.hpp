// The head of an HTTP/1 message: start line and headers, read strictly (RFC 9112) and written as
// they came. What two readers could understand in two ways is refused, never repaired.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "reaper/ports/http_handler.hpp"

namespace reaper::proxy {

struct RequestHead {
    std::string method;
    std::string target;  ///< byte for byte as it came
    int minor = 1;       ///< HTTP/1.minor
    HttpHeaders headers{};
};

struct AnswerHead {
    int minor = 1;
    int status = 0;
    std::string reason{};
    HttpHeaders headers{};
};

/// What is wrong with a message. `status` is what a client is answered.
struct BadMessage {
    int status = 400;
    std::string why;
};

/// Looks for the end of a head in bytes that grow.
class HeadSearch {
public:
    enum class State { more, whole, bad };

    /// `bytes` is all that came so far; what was looked at before is not looked at again. `bad`: a
    /// line does not end with CR LF.
    State look(std::string_view bytes);
    std::size_t end() const { return end_; }  ///< behind the empty line, once it is whole

private:
    std::size_t line_ = 0;  ///< where the line begins that is not complete yet
    std::size_t seen_ = 0;
    std::size_t end_ = 0;
};

/// `text` is a whole head, with its empty line.
std::variant<RequestHead, BadMessage> parse_request_head(std::string_view text);
std::variant<AnswerHead, BadMessage> parse_answer_head(std::string_view text);

/// At most so many headers in one head.
constexpr std::size_t max_headers = 256;

/// The values of all headers of that name, in any case of its letters.
std::vector<std::string_view> values_of(const HttpHeaders& headers, std::string_view name);
bool is_same_name(std::string_view one, std::string_view other);

}  // namespace reaper::proxy

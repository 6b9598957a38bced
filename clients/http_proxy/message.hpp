// An HTTP/1 message on its way through the proxy. Beast's parser reads it; what two readers could
// understand in two ways is refused, never repaired (RFC 9112): that is how requests are smuggled.
// It is written again with the headers that go through a proxy (RFC 9110, 7.6.1).
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "clients/http/failure.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/http_handler.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper {

// What a proxy allows its clients and its upstream.

struct HttpProxyLimits {
    std::size_t connections = 512;         ///< of clients, open at once
    std::size_t body_bytes = 1024 * 1024;  ///< of a request that the handler decides
    std::size_t held_bytes = 32 << 20;     ///< of another proxy's answers, to hold them whole
    Duration head{30'000};                 ///< from a request's first byte to the end of its head
    Duration body{60'000};                 ///< between two pieces of a request's body
    Duration write{60'000};                ///< for each step of sending an answer to the client
    Duration idle{75'000};                 ///< between two requests
    Duration connect{5'000};               ///< to the upstream: name, TCP and TLS
    Duration upstream{300'000};            ///< until the upstream answers; between two pieces of it
    Duration upstream_idle{4'000};         ///< how long a connection to the upstream is kept
    /// A request that must not be sent twice goes out on a kept connection only if that was used
    /// within this time: its server won't close it just then.
    Duration surely_alive{1'000};
};

}  // namespace reaper

namespace reaper::proxy {

// From the target of a client's request to that of the upstream's.

/// Both without a slash at the end; empty: the root.
struct PathPrefixes {
    std::string ours;      ///< under which clients ask
    std::string upstream;  ///< under which the upstream answers
};

/// `/placement` of `/placement/` and of `placement`; empty for `/`.
std::string path_prefix(std::string_view path);

/// Only the prefix is exchanged; everything else stays. None: the target is
/// not under our prefix, or may lead out of it (`..`).
std::optional<std::string> upstream_target(const PathPrefixes& prefixes, std::string_view target);

/// For logs: path and query, without the values of keys such as `token`.
std::string shown(std::string_view target);

struct RequestHead {
    std::string method;
    std::string target;  ///< as it came
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

/// Where the body of a message ends (RFC 9112, 6).
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

constexpr std::size_t max_head = 64 * 1024;  ///< bytes
constexpr std::size_t max_headers = 256;     ///< in one head

/// What was read of a connection and not used yet; nothing while a connection is idle.
class Input : public boost::beast::flat_buffer {
public:
    Input() : boost::beast::flat_buffer(max_head) {}
    std::string_view text() const {
        return {static_cast<const char*>(cdata().data()), cdata().size()};
    }
    bool empty() const { return size() == 0; }
    bool full() const { return size() == max_size(); }
    /// Where the next bytes go; not empty unless it is full. `commit` takes them.
    boost::asio::mutable_buffer room();
    /// Gives the memory back, if nothing is left in it.
    void release() {
        if (empty()) shrink_to_fit();
    }
};

/// Boost tells of trailers in this way since some release after 1.83, and does not know it before.
template <bool is_request>
class SkipsTrailers : public boost::beast::http::basic_parser<is_request> {
    using Text = boost::beast::string_view;
    virtual void on_trailer_field_impl(boost::beast::http::field, Text, Text,
                                       boost::beast::error_code&) {}
};

/// Reads one message: its head, then its body piece by piece. Extensions of chunks and trailers
/// are skipped.
template <bool is_request>
class MessageReader final : private SkipsTrailers<is_request> {
public:
    using Head = std::conditional_t<is_request, RequestHead, AnswerHead>;

    /// `to_head`: the answer to a HEAD, which has no body whatever its head says.
    explicit MessageReader(bool to_head = false);

    /// Takes the head out of `input`. False: it is not whole yet, or bad.
    bool read_head(Input& input);
    /// Takes what `input` has of the body. The bytes live until the next call.
    std::string_view read_body(Input& input);
    /// The connection has ended. True: so has the body.
    bool end_with_connection();

    const std::optional<BadMessage>& bad() const { return bad_; }
    Head& head() { return head_; }
    const Head& head() const { return head_; }
    const Framing& framing() const { return framing_; }
    bool done() const { return this->is_done(); }  ///< all of the message was seen

private:
    using Base = boost::beast::http::basic_parser<is_request>;
    using Code = boost::beast::error_code;
    using Text = boost::beast::string_view;

    bool ends_in(std::string_view text);
    void judge_head();
    void judge_framing();
    void explain(const Code& code, std::string_view text);

    void on_request_impl(boost::beast::http::verb, Text method, Text target, int version,
                         Code&) override;
    void on_response_impl(int status, Text reason, int version, Code&) override;
    void on_field_impl(boost::beast::http::field, Text name, Text value, Code&) override;
    void on_header_impl(Code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
    std::size_t on_body_impl(Text bytes, Code&) override;
    void on_chunk_header_impl(std::uint64_t size, Text, Code&) override;
    std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Code&) override;
    void on_finish_impl(Code&) override {}

    Head head_;
    Framing framing_;
    std::optional<BadMessage> bad_;
    std::string body_;
    std::size_t checked_ = 0;  ///< where the last line ends that was checked
    std::uint64_t left_ = 0;   ///< of the chunk that is under way
    bool has_head_ = false;
    bool after_chunk_ = false;  ///< a chunk was read before
};

using RequestReader = MessageReader<true>;
using AnswerReader = MessageReader<false>;
extern template class MessageReader<true>;
extern template class MessageReader<false>;

/// Those that go through, in their order: not those of the connection (Connection, Keep-Alive, TE,
/// Trailer, Transfer-Encoding, Upgrade, Proxy-*), nor those that Connection names. What says where
/// a message ends, or for which host it is, goes through whatever Connection says.
HttpHeaders end_to_end(const HttpHeaders& headers);
/// Writes the same, each as a line.
void append_end_to_end(std::string& text, const HttpHeaders& headers);
void append_header(std::string& text, std::string_view name, std::string_view value);

/// The values of all headers of that name; upper and lower case are the same.
std::vector<std::string_view> values_of(const HttpHeaders& headers, std::string_view name);
bool is_same_name(std::string_view one, std::string_view other);

/// May another message follow on the connection?
bool keeps_connection(int minor, const HttpHeaders& headers);
/// Does the client wait for a `100 Continue` before it sends the body?
bool expects_continue(const RequestHead& head);

/// The line before a chunk of so many bytes.
std::string chunk_head(std::size_t size);
constexpr std::string_view chunk_tail = "\r\n";
constexpr std::string_view last_chunk = "0\r\n\r\n";
constexpr std::string_view tail_and_last_chunk = "\r\n0\r\n\r\n";

// What the proxy answers by itself, in the style of OpenStack's APIs.

/// `Service Unavailable` of 503; empty for one that has no usual words.
std::string_view usual_reason(int status);

/// `{"errors": [{"status": 503, "title": "Service Unavailable", "detail": ..., "code": ...}]}`; the
/// code is there where surely nothing was done.
OwnAnswer error_answer(int status, std::string_view detail);

/// 504 for what took too long, 503 for what could not be reached, 502 for an invalid answer.
int status_of(const http::Failure& failure);
int status_of(Errc code);
/// `bad_answer` where the connection broke after the request was sent: it may have been done.
Errc code_of(const http::Failure& failure);

}  // namespace reaper::proxy

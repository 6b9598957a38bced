// Expected failures as values.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reaper {

/// What kind of thing went wrong, as far as the caller acts on it.
enum class Errc {
    unreachable,   ///< no connection, or it broke
    timeout,       ///< the deadline of the call passed
    unauthorized,  ///< credentials refused (401)
    bad_token,     ///< a service refuses tokens that Keystone gives (401)
    forbidden,     ///< a right is missing (403)
    not_found,     ///< the thing is not there (404)
    conflict,      ///< wrong state, or changed under us (409)
    rejected,      ///< the request itself was refused (other 4xx)
    server_error,  ///< the service failed (5xx)
    bad_answer,    ///< an answer that can't be understood
    bad_input,     ///< the caller's or the operator's input is wrong
    tls,           ///< certificate or handshake refused
    storage,       ///< the journal could not be read or written
    cancelled,     ///< the reaper is stopping
};

std::string_view to_string(Errc code);
/// Of a write: after such an answer it is certain that it was not done.
bool surely_not_done(Errc code);

/// A failure: its kind, and one line for people with what, where and what to do. Never a secret.
struct Error {
    Errc code{};
    std::string what;

    friend bool operator==(const Error&, const Error&) = default;
};

/// A value or an error. A class of its own because boost's may be dropped unseen: ignoring one is a
/// compile error (a `co_await`ed one too, which only clang sees).
template <class T>
class [[nodiscard]] Result : public boost::system::result<T, Error> {
public:
    using boost::system::result<T, Error>::result;
};

/// Makes `result.value()` on a failure a broken invariant (used by boost::system::result).
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
    throw std::runtime_error(error.what);
}

}  // namespace reaper

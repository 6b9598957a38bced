#include "clients/http_server/listening.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace reaper {

namespace asio = boost::asio;
using asio::local::stream_protocol;
using boost::system::error_code;

namespace {

/// A socket's file stays when its process dies; nobody answers on it then.
void remove_left_over(const UnixEndpoint& endpoint, const asio::any_io_executor& executor) {
    stream_protocol::socket probe{executor};
    error_code error;
    probe.connect(endpoint, error);
    struct stat found {};
    if (error == asio::error::connection_refused && ::lstat(endpoint.path().c_str(), &found) == 0 &&
        S_ISSOCK(found.st_mode))
        ::unlink(endpoint.path().c_str());
}

template <class Acceptor>
void start_listening(Acceptor& acceptor, error_code& error) {
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

}  // namespace

error_code open_acceptor(asio::ip::tcp::acceptor& acceptor, const TcpEndpoint& endpoint) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    start_listening(acceptor, error);
    return error;
}

error_code open_acceptor(stream_protocol::acceptor& acceptor, const UnixEndpoint& endpoint,
                         bool group_too) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
        remove_left_over(endpoint, acceptor.get_executor());
        const ::mode_t before = ::umask(group_too ? 0117 : 0177);
        acceptor.bind(endpoint, error);
        ::umask(before);
    }
    start_listening(acceptor, error);
    return error;
}

Task<void> wait_after_failed_accept(asio::any_io_executor executor, std::string name,
                                    error_code why) {
    spdlog::warn("{}: {}; trying again", name, why.message());
    asio::steady_timer pause{executor, std::chrono::seconds{1}};
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace reaper

#include "tests/rabbitmq/support/loopback_proxy.hpp"

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <thread>
#include <vector>

namespace reaper::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

const auto loopback = asio::ip::make_address("127.0.0.1");

struct Pair : std::enable_shared_from_this<Pair> {
    Pair(tcp::socket from, asio::io_context& context) : client(std::move(from)), broker(context) {}

    void pump(tcp::socket& from, tcp::socket& to, std::array<char, 65536>& buffer,
              std::atomic<int>& reads) {
        from.async_read_some(asio::buffer(buffer), [self = shared_from_this(), &from, &to, &buffer,
                                                    &reads](error_code error, std::size_t size) {
            if (error) return self->close();
            ++reads;
            if (*self->frozen) return;  // what was read is lost, as on a dead link
            asio::async_write(to, asio::buffer(buffer.data(), size),
                              [self, &from, &to, &buffer, &reads](error_code failed, std::size_t) {
                                  if (failed) return self->close();
                                  self->pump(from, to, buffer, reads);
                              });
        });
    }
    void close() {
        error_code ignored;
        client.close(ignored);
        broker.close(ignored);
    }

    tcp::socket client, broker;
    std::array<char, 65536> upward{}, downward{};
    bool* frozen = nullptr;
};

}  // namespace

struct LoopbackProxy::State {
    asio::io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint(loopback, 0)};
    std::uint16_t target = 0;
    std::vector<std::shared_ptr<Pair>> pairs;  // a frozen one must stay open
    bool frozen = false;
    std::atomic<int> accepted{0}, client_reads{0}, broker_reads{0};
    std::thread thread;

    void accept() {
        acceptor.async_accept([this](error_code error, tcp::socket socket) {
            if (error) return;
            ++accepted;
            if (target != 0) connect(std::move(socket));
            accept();
        });
    }
    void connect(tcp::socket socket) {
        auto pair = std::make_shared<Pair>(std::move(socket), context);
        pair->frozen = &frozen;
        pairs.push_back(pair);
        pair->broker.async_connect(tcp::endpoint(loopback, target), [this, pair](error_code error) {
            if (error) return pair->close();
            pair->pump(pair->client, pair->broker, pair->upward, client_reads);
            pair->pump(pair->broker, pair->client, pair->downward, broker_reads);
        });
    }
    void close_all() {
        for (const auto& pair : pairs) pair->close();
        pairs.clear();
    }
};

LoopbackProxy::LoopbackProxy(std::uint16_t target) : state_(std::make_shared<State>()) {
    state_->target = target;
    state_->accept();
    state_->thread = std::thread([state = state_] { state->context.run(); });
}

LoopbackProxy::~LoopbackProxy() {
    asio::post(state_->context, [state = state_] {
        state->close_all();
        state->acceptor.close();
    });
    state_->thread.join();
}

std::uint16_t LoopbackProxy::port() const {
    return state_->acceptor.local_endpoint().port();
}
int LoopbackProxy::accepted() const {
    return state_->accepted;
}
int LoopbackProxy::client_reads() const {
    return state_->client_reads;
}
int LoopbackProxy::broker_reads() const {
    return state_->broker_reads;
}
void LoopbackProxy::cut() {
    asio::post(state_->context, [state = state_] { state->close_all(); });
}
void LoopbackProxy::freeze() {
    asio::post(state_->context, [state = state_] { state->frozen = true; });
}
void LoopbackProxy::thaw() {
    asio::post(state_->context, [state = state_] {
        state->close_all();
        state->frozen = false;
    });
}

}  // namespace reaper::test

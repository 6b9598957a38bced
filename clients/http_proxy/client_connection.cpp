#include "clients/http_proxy/client_connection.hpp"

#include <chrono>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/http_proxy/error_answer.hpp"
#include "clients/http_server/lingering_close.hpp"

namespace reaper::proxy {

using std::chrono::steady_clock;

class ClientConnection::GivesWay {
public:
    /// `list`: of those like it.
    GivesWay(ClientConnection& connection, std::list<ClientConnection*>& list)
        : list_(&list), at_(list.insert(list.end(), &connection)) {
        connection.shared_->room.cancel();
    }
    GivesWay(const GivesWay&) = delete;
    GivesWay& operator=(const GivesWay&) = delete;
    ~GivesWay() { list_->erase(at_); }
    void move_to(std::list<ClientConnection*>& other) {
        other.splice(other.end(), *list_, at_);
        list_ = &other;
    }

private:
    std::list<ClientConnection*>* list_;
    std::list<ClientConnection*>::iterator at_;
};

ClientConnection::ClientConnection(std::shared_ptr<Shared> shared,
                                   boost::asio::ip::tcp::socket socket)
    : shared_(std::move(shared)),
      stream_(std::move(socket), shared_->tls ? shared_->tls->context() : nullptr),
      open_at_(shared_->open.insert(shared_->open.end(), this)) {}

ClientConnection::~ClientConnection() {
    shared_->open.erase(open_at_);
    shared_->room.cancel();
}

void ClientConnection::close() {
    if (under_way_ != nullptr) under_way_->give_up();
    stream_.close();
}

Task<void> ClientConnection::serve() {
    boost::system::error_code ignored;
    stream_.tcp().socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    stream_.expires_after(shared_->settings.limits.head);
    {
        const GivesWay mark{*this, shared_->heads};
        const auto refused = co_await stream_.shake_hands(boost::asio::ssl::stream_base::server);
        if (refused) co_return;
    }
    bool more = true;
    while (more) {
        HeadRead read = co_await read_head();
        if (std::holds_alternative<Closed>(read)) co_return;
        if (auto* bad = std::get_if<BadMessage>(&read))
            more = co_await refuse(*bad);
        else
            more = co_await serve_one(std::get<Request>(std::move(read)));
        more = more && !shared_->draining;
    }
    co_await leave();
}

Task<void> ClientConnection::leave() {
    if (!stream_.tcp().socket().is_open()) co_return;
    if (auto* const tls = stream_.tls())
        co_await lingering_close(*tls);
    else
        co_await lingering_close(stream_.tcp());
}

Task<ClientConnection::HeadRead> ClientConnection::read_head() {
    const HttpProxyLimits& limits = shared_->settings.limits;
    auto request = std::make_shared<RequestReader>();
    GivesWay mark{*this, shared_->idle};
    bool begun = false;
    auto limit = steady_clock::now() + limits.idle;
    while (true) {
        if (!input_.empty() && !std::exchange(begun, true)) {
            mark.move_to(shared_->heads);
            limit = steady_clock::now() + limits.head;
        }
        // RFC 9112, 2.2: empty lines before a request.
        while (input_.text().starts_with("\r\n")) input_.consume(2);
        if (request->read_head(input_)) co_return request;
        if (request->bad()) co_return *request->bad();
        input_.release();
        stream_.expires_at(limit);
        const auto moved = co_await stream_.read_some(input_.room());
        input_.commit(moved.bytes);
        if (moved.error && moved.bytes == 0) co_return Closed{};
    }
}

Task<bool> ClientConnection::serve_one(Request request) {
    const RequestHead& head = request->head();
    auto target = upstream_target(shared_->prefixes, head.target);
    const auto& handler = shared_->handler;
    if (!target && handler != nullptr && handler->owns(head.target)) target = head.target;
    const bool keep = keeps_connection(head.minor, head.headers) && !shared_->draining;
    Call call{std::move(request), target.value_or(""), keep};
    HttpProxyState& state = shared_->state;
    ++state.calls;
    under_way_ = &call.guard;
    const auto began = steady_clock::now();
    bool more = false;
    std::exception_ptr failed;
    try {
        if (target) {
            more = co_await serve_call(call);
        } else {
            call.keep = call.keep && call.reader->done();
            const OwnAnswer nothing_here =
                error_answer(404, "there is nothing under this path, only under " +
                                      shared_->prefixes.ours + "/");
            more = co_await give(call, nothing_here);
        }
    } catch (...) {
        failed = std::current_exception();
    }
    under_way_ = nullptr;
    --state.calls;
    ++state.served;
    if (failed) std::rethrow_exception(failed);
    if (spdlog::should_log(spdlog::level::debug)) {
        const auto took = std::chrono::duration_cast<Duration>(steady_clock::now() - began);
        spdlog::debug("{}: {} {} {} in {} ms", shared_->settings.name, call.head().method,
                      shown(call.head().target), call.status, took.count());
    }
    co_return more;
}

Task<bool> ClientConnection::serve_call(Call& call) {
    const auto& handler = shared_->handler;
    if (handler != nullptr && handler->wants(call.head().method, call.head().target))
        co_return co_await decide(call);
    co_return co_await pass_on(call);
}

}  // namespace reaper::proxy

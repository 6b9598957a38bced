// One client's connection: request after request.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>
#include <variant>

#include "clients/http/socket_stream.hpp"
#include "clients/http_proxy/message.hpp"
#include "clients/http_proxy/proxy.hpp"
#include "clients/http_proxy/upstream.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper::proxy {

class ClientConnection;
struct Upload;

/// What all connections of a proxy share. Lives as long as one of its coroutines.
struct Shared {
    Shared(boost::asio::any_io_executor on, HttpProxySettings given,
           std::shared_ptr<ProxyHandler> decides)
        : executor(std::move(on)),
          settings(std::move(given)),
          handler(std::move(decides)),
          room(executor) {}

    boost::asio::any_io_executor executor;
    HttpProxySettings settings;
    std::shared_ptr<ProxyHandler> handler;  ///< or null
    PathPrefixes prefixes;
    std::string authority;           ///< the upstream's Host, for clients that know none
    std::shared_ptr<ServerTls> tls;  ///< or null
    std::shared_ptr<Upstream> upstream;
    std::shared_ptr<Upstream> other;  ///< the one that was asked last instead, or null
    std::string other_at;             ///< where that is
    HeldBytes held{settings.limits.held_bytes};

    std::list<ClientConnection*> open;
    std::list<ClientConnection*> idle;   ///< between two requests; the longest first
    std::list<ClientConnection*> heads;  ///< in a handshake or in a head; the longest first
    boost::asio::steady_timer room;      ///< ended when a connection is, or may give way
    HttpProxyState state;
    bool draining = false;  ///< no further request on any connection
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
public:
    ClientConnection(std::shared_ptr<Shared> shared, boost::asio::ip::tcp::socket socket);
    ~ClientConnection();
    ClientConnection& operator=(ClientConnection&&) = delete;

    /// Until the client leaves, says nothing in time, or is closed.
    Task<void> serve();
    /// At once; a call under way is given up.
    void close();

private:
    struct Closed {};
    using Request = std::shared_ptr<RequestReader>;
    using HeadRead = std::variant<Request, BadMessage, Closed>;
    /// A request under way.
    struct Call {
        Request reader;
        std::string target;  ///< the upstream's
        bool keep = false;   ///< another one may follow
        CallGuard guard{};
        int status = 0;  ///< of its answer; 0: none was given

        const RequestHead& head() const { return reader->head(); }
        bool chunked() const { return reader->framing().kind == Framing::Kind::chunked; }
    };
    /// Marks the connection as one that may be closed for another.
    class GivesWay;

    Task<HeadRead> read_head();
    Task<bool> serve_one(Request request);
    Task<bool> serve_call(Call& call);

    // What goes to the upstream; each says whether another request may follow
    Task<bool> pass_on(Call& call);
    Task<bool> pass_whole(Call& call, std::string_view body);
    Task<bool> pass_piece_by_piece(Call& call, std::string_view first);
    Task<bool> decide(Call& call);
    Task<std::variant<std::string, BadMessage, Closed>> read_body(const Call& call);
    std::string upstream_head(const Call& call) const;
    std::shared_ptr<Upload> start_upload(Call& call,
                                         const std::shared_ptr<UpstreamConnection>& connection);
    static Task<void> carry(std::shared_ptr<ClientConnection> client,
                            std::shared_ptr<UpstreamConnection> connection, Request request,
                            std::shared_ptr<Upload> upload);
    Task<void> stop(Upload& upload, UpstreamConnection& connection);
    Task<ProxyAnswer> ask_handler(Call& call, HttpRequest request);
    Interim interim_of(const Call& call);
    Task<bool> say_interim(const AnswerHead& head);

    // What goes to the client; each says whether another request may follow
    Task<bool> give(Call& call, AnswerStream& answer);
    Task<bool> give(Call& call, const OwnAnswer& answer);
    Task<bool> give_failure(Call& call, const http::Failure& failure);
    Task<bool> refuse(const BadMessage& bad);
    Task<bool> write(http::SocketStream::Pieces pieces);

    std::shared_ptr<Shared> shared_;
    http::SocketStream stream_;
    Input input_;
    std::list<ClientConnection*>::iterator open_at_;
    CallGuard* under_way_ = nullptr;
};

}  // namespace reaper::proxy

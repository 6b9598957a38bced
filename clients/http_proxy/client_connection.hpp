// One client's connection: request after request. Internal to clients/http_proxy.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <variant>

#include "clients/http/socket_stream.hpp"
#include "clients/http_proxy/answer_stream.hpp"
#include "clients/http_proxy/call_guard.hpp"
#include "clients/http_proxy/message.hpp"
#include "clients/http_proxy/shared.hpp"

namespace reaper::proxy {

struct Upload;

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
public:
    ClientConnection(std::shared_ptr<Shared> shared, boost::asio::ip::tcp::socket socket);
    ~ClientConnection();
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

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

    // client_connection.cpp: the life of a connection
    Task<HeadRead> read_head();
    Task<void> leave();
    Task<bool> serve_one(Request request);
    Task<bool> serve_call(Call& call);

    // client_requests.cpp: what goes to the upstream; each tells whether another may follow
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

    // client_answers.cpp: what goes to the client; likewise
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

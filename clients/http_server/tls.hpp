// What a server with TLS shows, and what it demands of its clients.
#pragma once

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <sys/stat.h>

#include "clients/http_server/server.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// The TLS of one port. Files that changed are read again, so that a renewed certificate needs no
/// restart. Connections keep what they began with.
class ServerTls {
public:
    using Context = std::shared_ptr<boost::asio::ssl::context>;

    /// TLS 1.2 or later. `bad_input` names the file that can't be read or does not fit, after
    /// `name`.
    static Result<std::shared_ptr<ServerTls>> read(HttpServerTls files, std::string name);

    /// For the next connection. Where the changed files can't be used, as while they are being
    /// replaced, those read before stay in force; each change is logged in one line.
    Context context();
    /// When the certificate expires that the next connection is shown.
    TimePoint expires();

private:
    /// What distinguishes one state of a file from another.
    struct Seen {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = 0;
        timespec changed{};

        bool operator==(const Seen& other) const;
    };
    using AllSeen = std::array<Seen, 3>;

    ServerTls(HttpServerTls files, std::string name, AllSeen seen, Context context)
        : files_(std::move(files)),
          name_(std::move(name)),
          seen_(seen),
          context_(std::move(context)) {}

    static AllSeen look_at(const HttpServerTls& files);
    void renew();

    HttpServerTls files_;
    std::string name_;
    AllSeen seen_;
    Context context_;
};

/// The common name in the subject of the certificate that the other side showed; empty: it has
/// none, several, or one with bytes that are no text.
std::string name_of_peer(SSL& connection);

}  // namespace reaper

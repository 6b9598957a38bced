// Where a broker is and as whom to log in: amqp[s]://user:password@host:port/vhost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/secret.hpp"
#include "reaper/model/error.hpp"

namespace reaper {

struct BrokerUrl {
    bool tls = false;
    std::string host;  ///< name or address; an IPv6 address without brackets
    std::uint16_t port = 0;
    std::string user = "guest";
    config::Secret password{"guest"};
    std::string vhost = "/";

    /// `amqps://host:5671/vhost`: for logs, without user and password.
    std::string name() const;
};

/// One or several brokers, as oslo.messaging writes them in one URL:
/// `amqp://user:password@host1:port,user:password@host2:port/vhost`. Each host has its own user, or
/// none has one. What the brokers of `broker.urls` are, for those who check and those who connect.
/// Percent-decodes user, password and virtual host. As in RabbitMQ's URI rules: no path means the
/// virtual host `/`; a path of `/` alone is also taken as `/` (strictly it is the empty name, which
/// is never used); `/%2F` is `/`. Ports default to 5672 and 5671. `bad_input` says what is wrong
/// without quoting the URL. Source: rabbitmq.com/uri-spec.html.
Result<std::vector<BrokerUrl>> parse_broker_urls(const config::Secret& url);

}  // namespace reaper

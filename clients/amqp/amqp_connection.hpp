// One connection to one broker, with RAII and errors as values. Blocks; one thread.
// Internal to clients/amqp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clients/amqp/rabbitmq_c.hpp"
#include "config/broker_url.hpp"
#include "config/settings.hpp"
#include "reaper/model/error.hpp"

namespace reaper::amqp {

// TLS towards the broker: what is trusted, who we are, and why a handshake failed.
// Internal to clients/amqp.

/// What OpenSSL reported during a handshake. Must stay where it is while the socket lives.
struct TlsDiagnosis {
    std::string certificate;  ///< what is wrong with the broker's
    std::string alert;        ///< what the broker said about us

    /// One clause, with what to do.
    std::string describe() const;
    bool empty() const { return certificate.empty() && alert.empty(); }
};

/// A TLS socket for the connection (which owns it), not yet opened. TLS 1.2 or later; certificate
/// and host name (or address) are verified during the handshake, before the password is sent.
/// Errors: `bad_input` for files that can't be used.
Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t connection, const BrokerUrl& url,
                                       const config::Broker& broker, TlsDiagnosis& diagnosis);

}  // namespace reaper::amqp

namespace reaper {

// What no operator needs to set of a connection to the broker.

struct ConnectionTuning {
    /// How often exchange, queue and binding are checked while all is well.
    std::chrono::milliseconds recheck{10'000};
    /// Longest pause between two looks for an exchange that is not there.
    std::chrono::milliseconds recheck_missing_max{2'000};
    /// One question to the broker, and its confirmation of a dead-letter copy.
    std::chrono::milliseconds answer_timeout{10'000};
    /// How long `stop` waits for the broker before it cuts the connection.
    std::chrono::milliseconds stop_timeout{5'000};
    /// A larger body is cut, and then can't be understood.
    std::size_t max_body_bytes = std::size_t{config::Broker::largest_message_mib} << 20;
};

}  // namespace reaper

namespace reaper::amqp {

/// Lets another thread end whatever the connection is waiting for.
class ConnectionAborter {
public:
    ConnectionAborter() = default;
    ~ConnectionAborter() { release(); }
    ConnectionAborter& operator=(ConnectionAborter&&) = delete;

    void hold(int socket);
    void release();
    /// Ends the held socket, and any that is held later.
    void cut();

private:
    std::mutex mutex_;
    int socket_ = -1;  // a duplicate: the library may close its own at any time
    bool cut_ = false;
};

/// Why the broker did not do what was asked.
struct Failure {
    Error error;
    int code = 0;       ///< AMQP's reply code (404, 406, ...); 0 if the broker did not say
    bool fatal = true;  ///< the connection is lost; otherwise only the channel was
};

/// Empty when it worked.
using Outcome = std::optional<Failure>;

struct QueueCounts {
    std::uint64_t messages = 0;
    std::uint64_t consumers = 0;
};

class Connection {
public:
    using milliseconds = std::chrono::milliseconds;

    /// Connects and logs in, within about twice `broker.connect_timeout`. `cutter` must outlive it.
    static Result<std::unique_ptr<Connection>> open(const BrokerUrl& url,
                                                    const config::Broker& broker,
                                                    milliseconds answer_timeout,
                                                    ConnectionAborter& aborter);
    ~Connection();
    Connection& operator=(Connection&&) = delete;

    amqp_connection_state_t raw() const { return state_; }
    const std::string& name() const { return name_; }
    /// `RabbitMQ 3.10.8`, as the broker says.
    std::string product() const;

    /// Opens the channel unless it is open.
    Outcome open_channel(amqp_channel_t channel);
    /// Closes the channel if it is open: the broker takes back what is unacknowledged on it.
    Outcome close_channel(amqp_channel_t channel);
    /// As agreed with the broker; zero: none.
    std::chrono::seconds heartbeat() const;
    /// After a call of librabbitmq's: nothing, or what went wrong. `doing` is for people. A refused
    /// channel is answered and forgotten, so that open_channel opens it again.
    Outcome check(amqp_channel_t channel, amqp_rpc_reply_t reply, const std::string& doing);
    Outcome check(amqp_channel_t channel, const std::string& doing) {
        return check(channel, amqp_get_rpc_reply(state_), doing);
    }
    /// A send that failed; nothing for a status of 0.
    Outcome check_status(int status, const std::string& doing);

    /// Answers the broker's close of the channel, or (channel 0) of the connection. A failure if
    /// the connection is gone; otherwise only `why`.
    Outcome closed_by_broker(amqp_channel_t channel, const amqp_method_t& method, std::string& why);

    /// Hands out frames that have arrived, at most `most`, until one fails; `more` if there may be
    /// more. Serves heartbeats. What a frame points to is gone after its turn.
    Outcome read_frames(int most, bool& more,
                        const std::function<Outcome(const amqp_frame_t&)>& serve);
    /// Waits until frames have arrived, `wake_fd` is readable, or it is `due`. Not forever, as the
    /// library serves heartbeats only while it is called.
    void wait(int wake_fd, std::chrono::steady_clock::time_point due) const;

    /// Says goodbye, for at most `limit`.
    void close(milliseconds limit);

private:
    Connection(const BrokerUrl& url, ConnectionAborter& aborter);
    Result<void> connect(const BrokerUrl& url, const config::Broker& broker);
    Result<void> log_in(const BrokerUrl& url, const config::Broker& broker);
    Error library_error(int status, const std::string& doing) const;
    Error login_refused(int code, const std::string& text, const BrokerUrl& url) const;

    amqp_connection_state_t state_;
    ConnectionAborter& aborter_;
    std::string name_;
    TlsDiagnosis tls_;
    std::set<amqp_channel_t> channels_;
    bool connected_ = false;  // TCP, and the TLS handshake
    bool alive_ = false;
    bool logged_in_ = false;
};

/// To the first broker of the list that answers, for a short look; why the ones before did not
/// goes to `remarks`.
Result<std::unique_ptr<Connection>> connect_any(const config::Broker& broker,
                                                ConnectionAborter& aborter,
                                                std::vector<std::string>& remarks);

}  // namespace reaper::amqp

#include "clients/amqp/amqp_connection.hpp"

#include <algorithm>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::amqp {
namespace {

std::string openssl_reason() {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    return reason ? reason : "unknown reason";
}

Error unusable(const std::string& key, const std::string& file) {
    return {Errc::bad_input, "broker." + key + ": " + file + " can't be used: " + openssl_reason()};
}

TlsDiagnosis* diagnosis_of(const SSL* ssl) {
    return static_cast<TlsDiagnosis*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

/// OpenSSL's verdict stands; it is only noted.
int note_certificate(int good, X509_STORE_CTX* store) {
    if (good == 1) return 1;
    const auto* ssl = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    diagnosis_of(ssl)->certificate = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    return 0;
}

void note_alert(const SSL* ssl, int where, int value) {
    constexpr int close_notify = 0;
    if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || (value & 0xff) == close_notify) return;
    diagnosis_of(ssl)->alert = SSL_alert_desc_string_long(value);
}

/// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) {
    return 0;
}

Result<void> trust(SSL_CTX* context, const config::Broker& broker) {
    if (broker.ca_file.empty()) {
        if (SSL_CTX_set_default_verify_paths(context) != 1) {
            return Error{Errc::bad_input, "the system's certificates can't be read: " +
                                              openssl_reason() + "; set broker.ca_file"};
        }
    } else if (SSL_CTX_load_verify_locations(context, broker.ca_file.c_str(), nullptr) != 1) {
        return unusable("ca_file", broker.ca_file);
    }
    return {};
}

Result<void> identify(SSL_CTX* context, const config::Broker& broker) {
    if (broker.cert_file.empty()) return {};
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(context, broker.cert_file.c_str()) != 1) {
        return unusable("cert_file", broker.cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(context, broker.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return unusable("key_file", broker.key_file);
    }
    return {};
}

/// The library's own check of names knows no addresses; OpenSSL's does.
Result<void> expect_name(SSL_CTX* context, const std::string& host) {
    X509_VERIFY_PARAM* expected = SSL_CTX_get0_param(context);
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return {};
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1) return {};
    return Error{Errc::bad_input, "broker URL: the host name can't be used for TLS"};
}

}  // namespace

std::string TlsDiagnosis::describe() const {
    if (!certificate.empty()) {
        return "the broker's certificate is not accepted: " + certificate +
               " (see broker.ca_file, and the host name in the URL)";
    }
    if (!alert.empty()) {
        return "the broker refused TLS: " + alert +
               " (see broker.cert_file and key_file: it may ask for a client certificate that "
               "its CA has signed)";
    }
    return "TLS failed: " + openssl_reason() +
           " (does this port speak TLS? if not, write amqp:// with its plain port)";
}

Result<amqp_socket_t*> make_tls_socket(amqp_connection_state_t connection, const BrokerUrl& url,
                                       const config::Broker& broker, TlsDiagnosis& diagnosis) {
    ERR_clear_error();
    amqp_socket_t* socket = amqp_ssl_socket_new(connection);
    if (!socket) return Error{Errc::tls, "OpenSSL can't be set up: " + openssl_reason()};
    auto* context = static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket));
    SSL_CTX_set_app_data(context, &diagnosis);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_info_callback(context, note_alert);
    if (const auto done = identify(context, broker); !done) return done.error();
    amqp_ssl_socket_set_verify_hostname(socket, 0);  // expect_name does it
    amqp_ssl_socket_set_verify_peer(socket, broker.verify_tls ? 1 : 0);
    if (!broker.verify_tls) return socket;
    if (const auto done = trust(context, broker); !done) return done.error();
    if (const auto done = expect_name(context, url.host); !done) return done.error();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_certificate);
    return socket;
}

namespace {

timeval as_timeval(std::chrono::milliseconds time) {
    return {time.count() / 1000, static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

/// How RabbitMQ's management shows us.
std::string connection_name() {
    return "reaper on " + machine_name() + ", process " + std::to_string(getpid());
}

/// Statuses of an open connection that ended. Which one it is, is chance.
bool closed(int status) {
    return status == AMQP_STATUS_CONNECTION_CLOSED || status == AMQP_STATUS_SOCKET_CLOSED ||
           status == AMQP_STATUS_SOCKET_ERROR || status == AMQP_STATUS_TCP_ERROR ||
           status == AMQP_STATUS_SSL_ERROR;
}

Errc kind_of_status(int status) {
    switch (status) {
        case AMQP_STATUS_TIMEOUT: return Errc::timeout;
        case AMQP_STATUS_SSL_ERROR:
        case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED:
        case AMQP_STATUS_SSL_PEER_VERIFY_FAILED:
        case AMQP_STATUS_SSL_CONNECTION_FAILED: return Errc::tls;
        case AMQP_STATUS_BAD_AMQP_DATA:
        case AMQP_STATUS_UNKNOWN_CLASS:
        case AMQP_STATUS_UNKNOWN_METHOD:
        case AMQP_STATUS_INCOMPATIBLE_AMQP_VERSION: return Errc::bad_answer;
        default: return Errc::unreachable;
    }
}

std::string words_for_status(int status) {
    switch (status) {
        case AMQP_STATUS_TIMEOUT: return "no answer in time";
        case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED: return "the host name does not resolve";
        case AMQP_STATUS_SOCKET_ERROR:
        case AMQP_STATUS_TCP_ERROR: return "no connection (refused, reset or no route)";
        case AMQP_STATUS_HEARTBEAT_TIMEOUT: return "no heartbeat from the broker";
        case AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD:
            return "the broker does not accept user and password (PLAIN)";
        case AMQP_STATUS_BAD_AMQP_DATA:
        case AMQP_STATUS_INCOMPATIBLE_AMQP_VERSION: return "the peer does not speak AMQP 0-9-1";
        default: return amqp_error_string2(status);
    }
}

struct ReplyText {
    int code = 0;
    std::string text;
};

ReplyText reply_text(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_channel_close_t*>(method.decoded);
        return {close->reply_code, printable(view(close->reply_text))};
    }
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_connection_close_t*>(method.decoded);
        return {close->reply_code, printable(view(close->reply_text))};
    }
    return {0, "an unexpected answer"};
}

Errc kind_of_code(int code) {
    switch (code) {
        case 403: return Errc::forbidden;
        case 404: return Errc::not_found;
        case 405: return Errc::conflict;
        case 406: return Errc::rejected;
        case 320: return Errc::unreachable;  // closed by an operator, or the broker stops
        default: return Errc::server_error;
    }
}

}  // namespace

void ConnectionAborter::hold(int socket) {
    release();
    const std::lock_guard lock(mutex_);
    socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (cut_ && socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

void ConnectionAborter::release() {
    const std::lock_guard lock(mutex_);
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
}

void ConnectionAborter::cut() {
    const std::lock_guard lock(mutex_);
    cut_ = true;
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

Connection::Connection(const BrokerUrl& url, ConnectionAborter& aborter)
    : state_(amqp_new_connection()), aborter_(aborter), name_(url.name()) {
    if (!state_) throw std::bad_alloc();
}

Connection::~Connection() {
    aborter_.release();
    amqp_destroy_connection(state_);
}

Result<std::unique_ptr<Connection>> Connection::open(const BrokerUrl& url,
                                                     const config::Broker& broker,
                                                     milliseconds answer_timeout,
                                                     ConnectionAborter& aborter) {
    std::unique_ptr<Connection> made(new Connection(url, aborter));
    if (const auto done = made->connect(url, broker); !done) return done.error();
    if (const auto done = made->log_in(url, broker); !done) return done.error();
    const timeval limit = as_timeval(answer_timeout);
    amqp_set_rpc_timeout(made->state_, &limit);
    made->alive_ = true;
    made->logged_in_ = true;
    return made;
}

Result<void> Connection::connect(const BrokerUrl& url, const config::Broker& broker) {
    amqp_socket_t* socket = nullptr;
    if (url.tls) {
        auto made = make_tls_socket(state_, url, broker, tls_);
        if (!made) return Error{made.error().code, name_ + ": " + made.error().what};
        socket = *made;
    } else {
        socket = amqp_tcp_socket_new(state_);
        if (!socket) throw std::bad_alloc();
    }
    const timeval limit = as_timeval(broker.connect_timeout);
    const int status = amqp_socket_open_noblock(socket, url.host.c_str(), url.port, &limit);
    if (status != AMQP_STATUS_OK) return library_error(status, "connecting");
    connected_ = true;
    aborter_.hold(amqp_get_sockfd(state_));
    return {};
}

Result<void> Connection::log_in(const BrokerUrl& url, const config::Broker& broker) {
    Table capabilities;
    capabilities.add("consumer_cancel_notify", true);
    capabilities.add("connection.blocked", true);
    Table properties;
    properties.add("product", std::string("reaper"));
    properties.add("connection_name", connection_name());
    properties.add("capabilities", capabilities);
    const amqp_table_t table = properties.raw();

    const timeval limit = as_timeval(broker.connect_timeout);
    amqp_set_handshake_timeout(state_, &limit);
    const auto heartbeat = std::clamp<std::int64_t>(broker.heartbeat.count(), 0, 65'535);
    const amqp_rpc_reply_t reply = amqp_login_with_properties(
        state_, url.vhost.c_str(), 0, AMQP_DEFAULT_FRAME_SIZE, static_cast<int>(heartbeat), &table,
        AMQP_SASL_METHOD_PLAIN, url.user.c_str(), url.password.reveal().c_str());
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
        const ReplyText said = reply_text(reply.reply);
        return login_refused(said.code, said.text, url);
    }
    Error error = library_error(reply.library_error, "logging in");
    if (!closed(reply.library_error)) return error;
    if (!url.tls) error.what += " (if this port speaks TLS, write amqps://)";
    if (url.tls && tls_.empty()) {  // its alert is lost when the reset of the socket overtakes it
        error = {Errc::tls, name_ +
                                ": the broker ended TLS after the handshake (see "
                                "broker.cert_file and key_file: it may ask for a client "
                                "certificate that its CA has signed)"};
    }
    return error;
}

Error Connection::login_refused(int code, const std::string& text, const BrokerUrl& url) const {
    const std::string user = "user '" + printable(url.user) + "'";
    const std::string vhost = "virtual host '" + printable(url.vhost) + "'";
    if (code == 403) {
        return {Errc::unauthorized, name_ + ": the broker refused " + user +
                                        ": wrong name or password, or a guest from another host (" +
                                        text + ")"};
    }
    if (code == 530 && text.find("not found") != std::string::npos) {
        return {Errc::not_found, name_ + ": the broker has no " + vhost +
                                     ": correct the URL, or create it (rabbitmqctl add_vhost)"};
    }
    if (code == 530) {
        return {Errc::forbidden, name_ + ": " + user + " may not use " + vhost +
                                     ": rabbitmqctl set_permissions (" + text + ")"};
    }
    return {kind_of_code(code), name_ + ": login refused: " + std::to_string(code) + " " + text};
}

std::string Connection::product() const {
    std::string product = "unknown broker";
    std::string version;
    const amqp_table_t* table = amqp_get_server_properties(state_);
    for (int i = 0; table && i < table->num_entries; ++i) {
        const amqp_table_entry_t& entry = table->entries[i];
        if (entry.value.kind != AMQP_FIELD_KIND_UTF8) continue;
        if (view(entry.key) == "product") product = printable(view(entry.value.value.bytes));
        if (view(entry.key) == "version") version = printable(view(entry.value.value.bytes));
    }
    return version.empty() ? product : product + " " + version;
}

Error Connection::library_error(int status, const std::string& doing) const {
    const bool refused = kind_of_status(status) == Errc::tls || !tls_.empty();
    if (refused && !logged_in_ && !(connected_ && tls_.empty())) {
        return {Errc::tls, name_ + ": " + tls_.describe()};
    }
    if (connected_ && closed(status)) {
        return {Errc::unreachable, name_ + ": " + doing + ": the broker closed the connection"};
    }
    return {kind_of_status(status), name_ + ": " + doing + ": " + words_for_status(status)};
}

Outcome Connection::open_channel(amqp_channel_t channel) {
    if (channels_.contains(channel)) return {};
    amqp_channel_open(state_, channel);
    if (auto failed = check(channel, "opening a channel")) return failed;
    channels_.insert(channel);
    return {};
}

Outcome Connection::close_channel(amqp_channel_t channel) {
    if (channels_.erase(channel) == 0) return {};
    return check(channel, amqp_channel_close(state_, channel, AMQP_REPLY_SUCCESS),
                 "closing a channel");
}

std::chrono::seconds Connection::heartbeat() const {
    return std::chrono::seconds(amqp_get_heartbeat(state_));
}

Outcome Connection::check(amqp_channel_t channel, amqp_rpc_reply_t reply,
                          const std::string& doing) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) {
        alive_ = false;
        return Failure{library_error(reply.library_error, doing)};
    }
    const ReplyText said = reply_text(reply.reply);
    Failure failure{{kind_of_code(said.code), name_ + ": " + doing + ": " + said.text}, said.code};
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        amqp_channel_close_ok_t ok{};
        const int sent = amqp_send_method(state_, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
        channels_.erase(channel);
        failure.fatal = sent != AMQP_STATUS_OK;
    } else if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        amqp_connection_close_ok_t ok{};
        amqp_send_method(state_, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
    }
    alive_ = !failure.fatal;
    return failure;
}

Outcome Connection::check_status(int status, const std::string& doing) {
    if (status == AMQP_STATUS_OK) return {};
    alive_ = false;
    return Failure{library_error(status, doing)};
}

Outcome Connection::closed_by_broker(amqp_channel_t channel, const amqp_method_t& method,
                                     std::string& why) {
    const amqp_rpc_reply_t reply{AMQP_RESPONSE_SERVER_EXCEPTION, method, 0};
    auto failed = check(channel, reply, "the broker closed");
    why = failed->error.what;
    if (!failed->fatal) failed.reset();
    return failed;
}

Outcome Connection::read_frames(int most, bool& more,
                                const std::function<Outcome(const amqp_frame_t&)>& serve) {
    for (int i = 0; i < most; ++i) {
        amqp_frame_t frame;
        constexpr timeval at_once{0, 0};
        const int status = amqp_simple_wait_frame_noblock(state_, &frame, &at_once);
        if (status == AMQP_STATUS_TIMEOUT) {
            more = false;
            return {};
        }
        if (auto failed = check_status(status, "reading")) return failed;
        auto failed = serve(frame);
        // While frames wait in the library's list (they came with the answer to a question),
        // nothing could be released, but it would look through the list for each frame.
        if (!amqp_frames_enqueued(state_)) amqp_maybe_release_buffers(state_);
        if (failed) return failed;
    }
    more = true;
    return {};
}

void Connection::wait(int wake_fd, std::chrono::steady_clock::time_point due) const {
    if (amqp_frames_enqueued(state_) || amqp_data_in_buffer(state_)) return;
    milliseconds most(1'000);
    if (const auto heartbeat = amqp_get_heartbeat(state_); heartbeat > 0) {
        most = std::min(most, milliseconds(heartbeat * 250));
    }
    pollfd waits[2] = {{amqp_get_sockfd(state_), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    ::poll(waits, 2, poll_timeout(due, most));
}

void Connection::close(milliseconds limit) {
    if (!alive_) return;
    alive_ = false;
    const timeval time = as_timeval(std::max(limit, milliseconds(1)));
    amqp_set_rpc_timeout(state_, &time);
    amqp_connection_close(state_, AMQP_REPLY_SUCCESS);
}

Result<std::unique_ptr<Connection>> connect_any(const config::Broker& broker,
                                                ConnectionAborter& aborter,
                                                std::vector<std::string>& remarks) {
    std::optional<Error> first;
    for (const auto& secret : broker.urls) {
        const auto urls = parse_broker_urls(secret);
        const auto fails = [&](const Error& error) {
            remarks.push_back(error.what);
            if (!first) first = error;
        };
        if (!urls) {
            fails(urls.error());
            continue;
        }
        for (const BrokerUrl& url : *urls) {
            auto connection = Connection::open(url, broker, broker.connect_timeout, aborter);
            if (connection) return connection;
            fails(connection.error());
        }
    }
    return first.value_or(Error{Errc::bad_input, "broker.urls is empty"});
}

}  // namespace reaper::amqp

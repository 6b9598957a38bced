#include "clients/http_server/tls.hpp"

#include <algorithm>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <ctime>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <utility>

#include "reaper/runtime/log.hpp"

namespace reaper {

namespace ssl = boost::asio::ssl;

namespace {

Result<ServerTls::Context> read_context(const HttpServerTls& files, const std::string& name) {
    boost::system::error_code error;
    std::string file = files.cert_file;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    context->set_options(
        ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
        error);
    // A key that asks for a passphrase must fail, not ask on the terminal.
    SSL_CTX_set_default_passwd_cb(context->native_handle(),
                                  [](char*, int, int, void*) { return 0; });
    if (!error) context->use_certificate_chain_file(file, error);
    if (!error) {
        file = files.key_file;
        context->use_private_key_file(file, ssl::context::pem, error);
    }
    if (!error && !files.client_ca_file.empty()) {
        file = files.client_ca_file;
        context->load_verify_file(file, error);
        context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
        // Without one, a client that resumes its session is refused.
        constexpr std::string_view whose = "openstack-reaper";
        SSL_CTX_set_session_id_context(context->native_handle(),
                                       reinterpret_cast<const unsigned char*>(whose.data()),
                                       static_cast<unsigned>(whose.size()));
    }
    if (error) ERR_clear_error();
    if (error)
        return Error{Errc::bad_input,
                     name + ": can't use " + file + " for TLS: " + error.message()};
    return context;
}

/// Of the certificate that it shows.
TimePoint expires_of(ssl::context& context) {
    std::tm parts{};
    const X509* const certificate = SSL_CTX_get0_certificate(context.native_handle());
    if (certificate != nullptr) ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts);
    return TimePoint{std::chrono::seconds{timegm(&parts)}};
}

}  // namespace

bool ServerTls::Seen::operator==(const Seen& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
}

ServerTls::AllSeen ServerTls::look_at(const HttpServerTls& files) {
    AllSeen all;
    Seen* seen = all.data();
    for (const std::string* const file :
         {&files.cert_file, &files.key_file, &files.client_ca_file}) {
        struct stat status {};
        if (!file->empty() && ::stat(file->c_str(), &status) == 0)
            *seen = {status.st_dev, status.st_ino, status.st_size, status.st_ctim};
        ++seen;
    }
    return all;
}

Result<std::shared_ptr<ServerTls>> ServerTls::read(HttpServerTls files, std::string name) {
    const AllSeen seen = look_at(files);  // before: what changes meanwhile is read once more
    auto context = read_context(files, name);
    if (!context) return context.error();
    return std::shared_ptr<ServerTls>(
        new ServerTls(std::move(files), std::move(name), seen, std::move(*context)));
}

void ServerTls::renew() {
    const AllSeen seen = look_at(files_);
    if (seen == seen_) return;
    seen_ = seen;
    auto context = read_context(files_, name_);
    if (!context) {
        spdlog::error("{}; what was read before stays in force", context.error().what);
        return;
    }
    context_ = std::move(*context);
    spdlog::info("{}: the files for TLS are read again; the certificate expires at {}", name_,
                 iso_time(expires_of(*context_)));
}

ServerTls::Context ServerTls::context() {
    renew();
    return context_;
}

TimePoint ServerTls::expires() {
    renew();
    return expires_of(*context_);
}

std::string name_of_peer(SSL& connection) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate{
        SSL_get1_peer_certificate(&connection), X509_free};
    if (!certificate || SSL_get_verify_result(&connection) != X509_V_OK) return {};
    const X509_NAME* const subject = X509_get_subject_name(certificate.get());
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return {};
    unsigned char* text = nullptr;
    const int length =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (length < 0) return {};
    std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
    OPENSSL_free(text);
    const bool invisible = std::ranges::any_of(
        name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
    return invisible ? std::string{} : name;
}

}  // namespace reaper

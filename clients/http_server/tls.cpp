#include "clients/http_server/tls.hpp"

#include <algorithm>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <ctime>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace reaper {

namespace ssl = boost::asio::ssl;

Result<std::shared_ptr<ssl::context>> make_server_tls(const HttpServerTls& files,
                                                      const std::string& name) {
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
    if (error)
        return Error{Errc::bad_input,
                     name + ": can't use " + file + " for TLS: " + error.message()};
    return context;
}

Result<TimePoint> certificate_expires(const std::string& file) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> in{BIO_new_file(file.c_str(), "r"), BIO_free};
    std::unique_ptr<X509, decltype(&X509_free)> certificate{nullptr, X509_free};
    if (in) certificate.reset(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
    std::tm parts{};
    const bool known =
        certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &parts) == 1;
    ERR_clear_error();
    if (!known) return Error{Errc::bad_input, file + ": no certificate can be read there"};
    return TimePoint{std::chrono::seconds{timegm(&parts)}};
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
    const bool invisible = std::any_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == 127;
    });
    return invisible ? std::string{} : name;
}

}  // namespace reaper

#include "clients/http_server/tls.hpp"

#include <boost/system/error_code.hpp>

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
    }
    if (error)
        return Error{Errc::bad_input,
                     name + ": can't use " + file + " for TLS: " + error.message()};
    return context;
}

}  // namespace reaper

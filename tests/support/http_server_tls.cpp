#include "tests/support/http_server_tls.hpp"

#include <cstdio>
#include <cstdlib>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace reaper::test {

namespace {

struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
    void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void require(bool done, const char* what) {
    if (!done) throw std::runtime_error(std::string("test certificates: ") + what);
}

Owned<EVP_PKEY> new_key() {
    Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
    require(key != nullptr, "no key");
    return key;
}

void extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Owned<X509_EXTENSION> extension(
        X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    require(extension != nullptr, "bad extension");
    require(X509_add_ext(certificate, extension.get(), -1) == 1, "extension not added");
}

Owned<X509> new_certificate(EVP_PKEY* key, const std::string& name, int serial, bool expired) {
    Owned<X509> certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86400L * 10);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400L * (expired ? -1 : 1));
    X509_set_pubkey(certificate.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    return certificate;
}

Owned<std::FILE> writable(const std::filesystem::path& path) {
    Owned<std::FILE> file(std::fopen(path.c_str(), "w"));
    require(file != nullptr, "file not written");
    return file;
}

void write(const std::filesystem::path& path, X509* certificate) {
    const auto file = writable(path);
    require(PEM_write_X509(file.get(), certificate) == 1, "certificate not written");
}

void write(const std::filesystem::path& path, EVP_PKEY* key) {
    const auto file = writable(path);
    require(PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
            "key not written");
}

}  // namespace

struct TestAuthority::Keys {
    Owned<EVP_PKEY> key;
    Owned<X509> certificate;
};

TestAuthority::TestAuthority() : keys_(std::make_unique<Keys>()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "reaper-ca-XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "no folder");
    folder_ = pattern;
    keys_->key = new_key();
    keys_->certificate = new_certificate(keys_->key.get(), "Test Authority", 1, false);
    X509* const own = keys_->certificate.get();
    X509_set_issuer_name(own, X509_get_subject_name(own));
    extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
    extend(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
    require(X509_sign(own, keys_->key.get(), EVP_sha256()) > 0, "authority not signed");
    write(folder_ / "ca.pem", own);
}

TestAuthority::~TestAuthority() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string TestAuthority::ca_file() const {
    return (folder_ / "ca.pem").string();
}

KeyPair TestAuthority::issue(const std::string& common_name, const std::string& alt_names,
                             bool expired) {
    const int serial = ++issued_ + 1;
    const auto key = new_key();
    const auto certificate = new_certificate(key.get(), common_name, serial, expired);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(keys_->certificate.get()));
    if (!alt_names.empty())
        extend(certificate.get(), keys_->certificate.get(), NID_subject_alt_name, alt_names);
    require(X509_sign(certificate.get(), keys_->key.get(), EVP_sha256()) > 0, "not signed");
    const std::string base = (folder_ / std::to_string(serial)).string();
    const KeyPair pair{base + ".pem", base + ".key"};
    write(pair.cert_file, certificate.get());
    write(pair.key_file, key.get());
    return pair;
}

std::shared_ptr<boost::asio::ssl::context> TestAuthority::server(
    const KeyPair& pair, bool want_client_certificate) const {
    namespace ssl = boost::asio::ssl;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    context->use_certificate_chain_file(pair.cert_file);
    context->use_private_key_file(pair.key_file, ssl::context::pem);
    if (want_client_certificate) {
        context->load_verify_file(ca_file());
        context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    return context;
}

}  // namespace reaper::test

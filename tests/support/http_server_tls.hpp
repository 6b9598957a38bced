// A throw-away certificate authority for tests: keys and certificates made on the spot, in files
// that are removed with it.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <memory>
#include <string>

namespace reaper::test {

/// PEM files.
struct KeyPair {
    std::string cert_file;
    std::string key_file;
};

class TestAuthority {
public:
    TestAuthority();
    ~TestAuthority();
    TestAuthority(const TestAuthority&) = delete;
    TestAuthority& operator=(const TestAuthority&) = delete;

    std::string ca_file() const;
    /// `alt_names` as OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`; empty for none.
    KeyPair issue(const std::string& common_name, const std::string& alt_names,
                  bool expired = false);
    /// For a server: its certificate, and, if asked, a demand for one of ours from the client.
    std::shared_ptr<boost::asio::ssl::context> server(const KeyPair& pair,
                                                      bool want_client_certificate = false) const;

private:
    struct Keys;
    std::filesystem::path folder_;
    std::unique_ptr<Keys> keys_;
    int issued_ = 0;
};

}  // namespace reaper::test

#include <openssl/evp.h>
#include <string>

#include "reaper/api/handlers.hpp"

namespace reaper::api {
namespace {

/// As a content security policy names it.
std::string hash_of(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha256(), nullptr);
    unsigned char encoded[2 * EVP_MAX_MD_SIZE];
    const int size = EVP_EncodeBlock(encoded, digest, static_cast<int>(length));
    return "'sha256-" + std::string(encoded, encoded + size) + "'";
}

std::string with(std::string_view text, std::string_view mark, std::string_view what) {
    std::string all{text};
    const std::size_t at = all.find(mark);
    if (at != std::string::npos) all.replace(at, mark.size(), what);
    return all;
}

struct Page {
    std::string html = with(with(embedded::page_html, "@style@", embedded::page_style), "@script@",
                            embedded::page_script);
    std::string policy = "default-src 'none'; script-src " + hash_of(embedded::page_script) +
                         "; style-src " + hash_of(embedded::page_style) +
                         "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
                         "; frame-ancestors 'none'; require-trusted-types-for 'script'"
                         "; trusted-types 'none'";
};

}  // namespace

Task<HttpResponse> get_page(const Backend&, ApiRequest) {
    static const Page page;
    HttpResponse response;
    response.content_type = "text/html; charset=utf-8";
    response.body = page.html;
    response.headers = {{"Content-Security-Policy", page.policy},
                        {"Referrer-Policy", "no-referrer"},
                        {"X-Frame-Options", "DENY"},
                        {"Cross-Origin-Opener-Policy", "same-origin"},
                        {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"}};
    co_return response;
}

Task<HttpResponse> get_openapi(const Backend&, ApiRequest) {
    HttpResponse response;
    response.body = embedded::openapi;
    co_return response;
}

}  // namespace reaper::api

#include "clients/prometheus/request.hpp"

#include <cstdlib>
#include <openssl/evp.h>

#include "clients/http/url.hpp"

namespace reaper::prometheus {

namespace {

std::string setting(std::string_view name) {
    return std::string(settings_name) + '.' + std::string(name);
}

Error wrong_setting(std::string_view name, std::string_view why) {
    return {Errc::bad_input, setting(name) + ": " + std::string(why)};
}

std::string base64(const std::string& text) {
    std::string encoded(4 * ((text.size() + 2) / 3) + 1, '\0');  // and a null byte
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    encoded.resize(static_cast<std::size_t>(size));
    return encoded;
}

}  // namespace

Result<void> check_options(const PrometheusOptions& options) {
    const auto url = http::parse_url(options.url);
    if (!url) return wrong_setting("url", url.error().what);
    if (options.url.find('?') != std::string::npos)
        return wrong_setting("url", "must not have a ?query");
    if (options.username.find(':') != std::string::npos)
        return wrong_setting("username", "must not have a colon in it");
    if (options.username.empty() && !options.password.empty())
        return wrong_setting("username", "is missing, beside the password");
    if (!options.username.empty() && !options.token.empty())
        return wrong_setting("token", "and username can't be both set");
    if (options.timeout <= Duration(0)) return wrong_setting("timeout", "must be positive");
    return {};
}

std::string api_root(const PrometheusOptions& options) {
    std::string root = options.url;
    while (root.ends_with('/')) root.pop_back();
    return root + "/api/v1";
}

std::string authorization(const PrometheusOptions& options) {
    if (!options.token.empty()) return "Bearer " + options.token.reveal();
    if (options.username.empty()) return {};
    return "Basic " + base64(options.username + ':' + options.password.reveal());
}

std::string form(const std::vector<std::pair<std::string_view, std::string>>& fields) {
    std::string text;
    for (const auto& [name, value] : fields) {
        if (!text.empty()) text += '&';
        text.append(name).append("=").append(http::escape(value));
    }
    return text;
}

std::string seconds_text(Duration duration) {
    const auto [whole, thousandths] = std::lldiv(duration.count(), 1000);
    const std::string decimals = std::to_string(1000 + std::llabs(thousandths)).substr(1);
    const bool minus = whole == 0 && thousandths < 0;
    return (minus ? "-" : "") + std::to_string(whole) + '.' + decimals;
}

}  // namespace reaper::prometheus

// The broker's URL, which holds a password.
#include "config/broker_url.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto text = fuzz::text_of(data, size);
    const auto urls = parse_broker_urls(config::Secret(std::string(text)));
    if (!urls) {
        fuzz::require_one_line(urls.error().what);
        return 0;
    }
    for (const BrokerUrl& url : *urls) {
        fuzz::require(!url.host.empty() && url.port != 0, "a broker has an address");
        fuzz::require_one_line(url.name());
    }
    return 0;
}

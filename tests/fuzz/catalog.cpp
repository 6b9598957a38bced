// A service catalog, and the choice of an endpoint from it.
#include "clients/openstack/keystone_format.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::openstack;
    const auto token = read_token(fuzz::text_of(data, size), "POST keystone /auth/tokens");
    if (!token) return 0;
    for (const auto service : {CloudService::compute, CloudService::placement}) {
        for (const std::string region : {"", "RegionOne", "elsewhere"}) {
            const auto chosen = choose_endpoint(token->catalog, service, region, "public");
            if (chosen)
                fuzz::require(!chosen->empty(), "an endpoint has an address");
            else
                fuzz::require_one_line(chosen.error().what);
        }
    }
    return 0;
}

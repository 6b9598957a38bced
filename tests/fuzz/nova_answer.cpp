// Nova's answers. Each is read as the answer to every question.
#include "clients/openstack/nova_format.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

template <class T>
void check(const reaper::Result<T>& result) {
    if (result) return;
    reaper::fuzz::require_one_line(result.error().what);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::openstack;
    const auto text = fuzz::text_of(data, size);
    const std::string where = "GET nova /x";
    check(read_servers(text, where));
    check(read_server(text, where));
    check(read_action(text, where));
    check(read_hypervisors(text, where));
    check(read_services(text, where));
    check(read_aggregates(text, where));
    return 0;
}

// Placement's answers. Each is read as the answer to every question.
#include "clients/openstack/placement_format.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

template <class T>
void check(const reaper::Result<T>& result) {
    if (result) return;
    reaper::fuzz::require_one_line(result.error().what);
}

void check_room(std::string_view text, const std::string& where) {
    const auto inventories = reaper::openstack::read_inventories(text, where);
    check(inventories);
    if (!inventories) return;
    for (const auto& [resource_class, inventory] : *inventories)
        reaper::fuzz::require(inventory.capacity() >= 0, "no capacity is negative");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    using namespace reaper::openstack;
    const auto text = fuzz::text_of(data, size);
    const std::string where = "GET placement /x";
    check(read_providers(text, where));
    check(read_summaries(text, where));
    check_room(text, where);
    check(read_traits(text, where));
    check(read_provider_allocations(text, where));
    check(read_consumer_allocations(text, where));
    return 0;
}

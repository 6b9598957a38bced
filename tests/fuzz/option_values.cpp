// Values of options (`VCPU=4,...`), which scripts put together from what others typed, and
// suggestions for what was probably meant.
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto text = fuzz::text_of(data, size);
    if (const auto resources = parse_resources(text)) {
        for (const auto& [resource_class, amount] : *resources)
            fuzz::require(amount > 0, "amounts are above 0");
    } else {
        fuzz::require_one_line(resources.error().what);
    }
    (void)nearest(text, {"--resources", "--project", "run", "history"});
    return 0;
}

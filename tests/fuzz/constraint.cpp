// The constraint language of res-type, as users write it into metadata, flavors and images.
#include <string>

#include "reaper/request_spec/res_type_query.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const std::string text{fuzz::text_of(data, size)};
    const auto phases = phases_of(text);
    if (!phases) {
        fuzz::require(phases.error().code == Errc::bad_input, "what is wrong is the input", text);
        fuzz::require_one_line(phases.error().what);
        return 0;
    }
    const std::string shown = to_string(*phases);
    fuzz::require(phases_from(shown) == *phases, "its own word is one of the four", text);
    const auto again = phases_of(shown);
    fuzz::require(again && *again == *phases, "what it is shown as means the same", text);
    const auto spaced = phases_of(" " + text + " ");
    fuzz::require(spaced && *spaced == *phases, "blanks around it change nothing", text);
    return 0;
}

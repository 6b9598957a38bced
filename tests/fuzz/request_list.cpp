// A file of many requests.
#include "config/request_list.hpp"

#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reaper;
    const auto read = config::read_request_list("requests.yaml", fuzz::text_of(data, size));
    if (const auto* errors = std::get_if<1>(&read)) {
        fuzz::require(!errors->empty(), "what is refused has a reason");
        for (const auto& error : *errors) fuzz::require_one_line(config::to_string(error));
    } else {
        fuzz::require(!std::get<0>(read).empty(), "a list has a request");
    }
    return 0;
}

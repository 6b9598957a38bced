// The configuration file.
#include "tests/fuzz/config_world.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reaper::fuzz::text_of(data, size));
    reaper::fuzz::load(text, {}, {});
    return 0;
}

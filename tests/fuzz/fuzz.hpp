// What every fuzz target may rely on.
//
// A target is one file with LLVMFuzzerTestOneInput, called with any bytes; it stops the fuzzer by
// `require` when the parser broke its word (what it promises in its header), not only when it
// crashes. Seeds are in seeds/TARGET and, as `run` says, in tests/data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace reaper::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool met, const char* promise, std::string_view shown = {}) {
    if (met) return;
    std::fprintf(stderr, "broken promise: %s\n%.*s\n", promise, static_cast<int>(shown.size()),
                 shown.data());
    std::abort();
}

/// Goes into a log or on a terminal as it is: no control characters, which terminals obey.
inline void require_one_line(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        require(byte >= 0x20 && byte != 0x7f, "a message for people is one plain line", text);
    }
    require(text.size() < 8'192, "a message for people is short", text);
}

}  // namespace reaper::fuzz

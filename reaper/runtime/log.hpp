// What the program logs with: spdlog. The formatting that each source would instantiate once more
// is compiled once, in log.cpp.
#pragma once

#include <spdlog/spdlog.h>

#if FMT_VERSION < 100000
namespace fmt {
inline namespace v9 {
namespace detail {
extern template void vformat_to<char>(buffer<char>&, string_view,
                                      basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)>,
                                      locale_ref);
}  // namespace detail
}  // namespace v9
}  // namespace fmt
#endif

#include "reaper/runtime/log.hpp"

#if FMT_VERSION < 100000
namespace fmt {
inline namespace v9 {
namespace detail {
template void vformat_to<char>(buffer<char>&, string_view,
                               basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)>,
                               locale_ref);
}  // namespace detail
}  // namespace v9
}  // namespace fmt
#endif

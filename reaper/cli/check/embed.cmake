# Makes a source of the rights that deploy/least-rights lists (reaper/cli/check/rights.hpp):
#   cmake -DSCRIPT=deploy/least-rights -DOUT=rights.cpp -P embed.cmake
file(STRINGS ${SCRIPT} lines REGEX "^[a-z]+ +[a-z-]+ +[a-z_:-]+$")
set(rows)
foreach(line IN LISTS lines)
  string(REGEX REPLACE " +" "\", \"" row "${line}")
  string(APPEND rows "    {\"${row}\"},\n")
endforeach()
if(NOT rows)
  message(FATAL_ERROR "${SCRIPT}: no line with a service, a feature and a rule")
endif()
file(WRITE ${OUT}
"// Made by reaper/cli/check/embed.cmake.
#include \"reaper/cli/check/rights.hpp\"

namespace reaper::cli {
namespace {

constexpr Right table[] = {
${rows}};

}  // namespace

const std::span<const Right> needed_rights{table};

}  // namespace reaper::cli
")

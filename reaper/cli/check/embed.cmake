# Makes a source of the rights that deploy/least-rights lists (reaper/cli/check/rights.hpp):
#   cmake -DSCRIPT=deploy/least-rights -DOUT=rights.cpp -P embed.cmake
file(READ ${SCRIPT} script)
string(FIND "${script}" "\nRIGHTS:" begin)
string(FIND "${script}" "\n}\n" end)
if(begin LESS 0 OR end LESS begin)
  message(FATAL_ERROR "${SCRIPT}: RIGHTS is not where it was")
endif()
math(EXPR length "${end} - ${begin}")
string(SUBSTRING "${script}" ${begin} ${length} rights)
file(WRITE ${OUT}
"// Made by reaper/cli/check/embed.cmake.
#include \"reaper/cli/check/rights.hpp\"

namespace reaper::cli::embedded {
const std::string_view rights = R\"_embed_(${rights})_embed_\";
}  // namespace reaper::cli::embedded
")

# Makes a source of the files that the program carries with it (reaper/api/handlers.hpp):
#   cmake -DAPI=reaper/api -DOUT=embedded.cpp -P embed.cmake
# They are ASCII: pieces of text are cut anywhere, as compilers take literals of a certain length.
set(scripts dom client heat cloud requests record explain plan timeline panels status address start)

function(literal name text)
  string(LENGTH "${text}" length)
  set(code "const std::string_view ${name} =\n")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND code "    R\"_embed_(${piece})_embed_\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(code_of_${name} "${code};\n" PARENT_SCOPE)
endfunction()

file(READ ${API}/openapi.json openapi)
file(READ ${API}/page/index.html html)
file(READ ${API}/page/page.css style)
set(script "\"use strict\";\n(() => {\n")
foreach(part IN LISTS scripts)
  file(READ ${API}/page/${part}.js text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
literal(openapi "${openapi}")
literal(page_html "${html}")
literal(page_style "${style}")
literal(page_script "${script}")
file(WRITE ${OUT}
"// Made by reaper/api/embed.cmake.
#include \"reaper/api/handlers.hpp\"

namespace reaper::api::embedded {
${code_of_openapi}${code_of_page_html}${code_of_page_style}${code_of_page_script}
}  // namespace reaper::api::embedded
")

# The headers that modules are compiled with: those that module.hpp includes, however deep. Their
# digest tells whether a module and the program agree; comments and blanks are left out of it.
#
#   reaper_module_interface(ROOT DIRECTORY HEADERS)
#
# writes DIRECTORY/reaper/modules/interface.hpp, and sets HEADERS to the paths of the others from ROOT.
function(reaper_module_interface root directory result)
  set(open reaper/modules/module.hpp)
  set(headers)
  while(open)
    list(POP_FRONT open header)
    list(APPEND headers ${header})
    file(STRINGS ${root}/${header} includes REGEX "^#include \"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      if(NOT included STREQUAL "reaper/modules/interface.hpp"
         AND NOT included IN_LIST headers AND NOT included IN_LIST open)
        list(APPEND open ${included})
      endif()
    endforeach()
  endwhile()
  list(SORT headers)
  set(all)
  foreach(header IN LISTS headers)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${root}/${header})
    file(READ ${root}/${header} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
    string(APPEND all "${header}\n${text}\n")
  endforeach()
  string(SHA256 digest "${all}")
  string(SUBSTRING ${digest} 0 16 digest)
  file(CONFIGURE OUTPUT ${directory}/reaper/modules/interface.hpp CONTENT
"// Made by the build: which headers a module was compiled with, and what its compiler's library and
// Boost make of them.
#pragma once

#include <boost/version.hpp>
#include <string>

#define REAPER_TEXT_OF(value) #value
#define REAPER_TEXT(value) REAPER_TEXT_OF(value)
#define REAPER_INTERFACE_VERSION \"@PROJECT_VERSION@\"
#ifdef _GLIBCXX_DEBUG
#define REAPER_LIBRARY_MODE \"debug\"
#else
#define REAPER_LIBRARY_MODE REAPER_TEXT(_GLIBCXX_USE_CXX11_ABI)
#endif
#define REAPER_INTERFACE_DIGEST \\
    \"@digest@-\" REAPER_LIBRARY_MODE \"-\" REAPER_TEXT(BOOST_VERSION)
" @ONLY)
  set(${result} ${headers} PARENT_SCOPE)
endfunction()

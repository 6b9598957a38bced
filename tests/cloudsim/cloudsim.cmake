# A simulated OpenStack. The core and the API are pure of sockets; the program serves them.
function(cloudsim_sources variable)
  set(sources)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cloudsim/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY reaper_test_sources ${sources})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

cloudsim_sources(sources core)
add_library(cloudsim_core STATIC ${sources})
target_link_libraries(cloudsim_core PUBLIC reaper_every_header)

cloudsim_sources(sources api messages)
add_library(cloudsim_api STATIC ${sources})
target_link_libraries(cloudsim_api
  PUBLIC cloudsim_core nlohmann_json::nlohmann_json
  PRIVATE OpenSSL::Crypto)

cloudsim_sources(sources program)
list(FILTER sources EXCLUDE REGEX "/main[.]cpp$")
add_library(cloudsim_program STATIC ${sources})
target_link_libraries(cloudsim_program
  PUBLIC cloudsim_api reaper_report Boost::headers Threads::Threads
  PRIVATE yaml-cpp PkgConfig::rabbitmq)

add_executable(cloudsim ${CMAKE_CURRENT_SOURCE_DIR}/cloudsim/program/main.cpp)
target_link_libraries(cloudsim PRIVATE cloudsim_program CLI11::CLI11)

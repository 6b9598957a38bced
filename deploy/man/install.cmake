# Run by `cmake --install`: the program that is installed writes its man pages and completions.
# deploy/CMakeLists.txt sets `reaper`, `version`, `deploy`, `man_dir` and `data_dir`.
function(write_output to)
  cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE path)
  set(path "$ENV{DESTDIR}${path}")
  get_filename_component(folder "${path}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND ${ARGN} OUTPUT_FILE "${path}" COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  message(STATUS "Written: ${path}")
endfunction()

execute_process(COMMAND "${reaper}" man OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" pages "${pages}")
foreach(page IN LISTS pages)
  write_output(${man_dir}/man1/${page} "${reaper}" man ${page})
endforeach()
write_output(${man_dir}/man5/reaper.yaml.5
  awk -v version=${version} -f "${deploy}/man/reaper.yaml.awk" "${deploy}/reaper.yaml")
write_output(${data_dir}/bash-completion/completions/reaper "${reaper}" completion bash)
write_output(${data_dir}/zsh/vendor-completions/_reaper "${reaper}" completion zsh)

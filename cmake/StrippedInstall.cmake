# Rules that install programs and libraries without their debug symbols, and the symbols apart.
#
# Debuggers find NAME.debug through the link in the installed file: in the folder .debug next to it,
# which is a symbolic link into lib/debug. The library with its debug information is in lib/debug.
# Without objcopy, files are installed unchanged.

include(GNUInstallDirs)

set(BELAY_DEBUG_DIR ${CMAKE_INSTALL_LIBDIR}/debug)

# Sets `result` to the text of an install script for a folder of the installation: below the prefix
# of `cmake --install`, unless it is absolute.
function(belay_installed_folder folder result)
  if(IS_ABSOLUTE "${folder}")
    set(${result} "\$ENV{DESTDIR}${folder}" PARENT_SCOPE)
  else()
    set(${result} "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}" PARENT_SCOPE)
  endif()
endfunction()

# belay_install_program(TARGET): installs a program without its debug symbols.
function(belay_install_program target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_OBJCOPY)
    return()
  endif()
  belay_installed_folder("${CMAKE_INSTALL_BINDIR}" programs)
  belay_installed_folder("${BELAY_DEBUG_DIR}" debug)
  # The symbols are those of the file in the build tree: a repeated installation can find the
  # installed one stripped.
  install(CODE "
    set(programs \"${programs}\")
    set(debug \"${debug}\")
    set(name \"$<TARGET_FILE_NAME:${target}>\")
    file(MAKE_DIRECTORY \"\${debug}\" \"\${programs}/.debug\")
    message(STATUS \"Installing: \${debug}/\${name}.debug\")
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug --compress-debug-sections
                            \"$<TARGET_FILE:${target}>\" \"\${debug}/\${name}.debug\"
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-all
                            \"--add-gnu-debuglink=\${debug}/\${name}.debug\" \"\${programs}/\${name}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    get_filename_component(from \"\${programs}/.debug\" ABSOLUTE BASE_DIR /)
    get_filename_component(to \"\${debug}\" ABSOLUTE BASE_DIR /)
    file(RELATIVE_PATH back \"\${from}\" \"\${to}\")
    file(CREATE_LINK \"\${back}/\${name}.debug\" \"\${programs}/.debug/\${name}.debug\" SYMBOLIC)
  ")
endfunction()

# belay_install_archive(TARGET EXPORT): installs a static library without its debug information.
function(belay_install_archive target export)
  install(TARGETS ${target} EXPORT ${export} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(NOT CMAKE_OBJCOPY)
    return()
  endif()
  install(FILES $<TARGET_FILE:${target}> DESTINATION ${BELAY_DEBUG_DIR})
  belay_installed_folder("${CMAKE_INSTALL_LIBDIR}" libraries)
  install(CODE "
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-debug
                            \"${libraries}/$<TARGET_FILE_NAME:${target}>\"
                    COMMAND_ERROR_IS_FATAL ANY)
  ")
endfunction()

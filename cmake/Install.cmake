# The library for other projects: one static archive, belay::belay, for find_package(), pkg-config
# and add_subdirectory(). It does not export Belay's own compile options (warnings, sanitizers).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The libraries that a program needs: all except the agents and the belay program.
set(BELAY_PARTS base cron analytics net http models graph agent tools mcp engine rows store_memory store_postgres store_sqlite store_encrypted store redis load events driver
                replay telemetry worker runtime embedding
                check testing scheduler service usage client server conversation langgraph a2a ag_ui command_line)
get_property(libraries GLOBAL PROPERTY BELAY_SOURCE_LIBRARIES)
foreach(library IN LISTS libraries)
  string(REGEX REPLACE "^belay_" "" part ${library})
  if(NOT part IN_LIST BELAY_PARTS)
    message(FATAL_ERROR "${library} is not in BELAY_PARTS: programs could not link it")
  endif()
endforeach()
set(objects "")
foreach(part IN LISTS BELAY_PARTS)
  list(APPEND objects $<TARGET_OBJECTS:belay_${part}>)
endforeach()

# Not named "belay": that is the program's file in the build tree.
add_library(belay_archive STATIC ${objects})
add_library(belay::belay ALIAS belay_archive)
set_target_properties(belay_archive PROPERTIES OUTPUT_NAME belay EXPORT_NAME belay)
target_compile_features(belay_archive INTERFACE cxx_std_20)
target_compile_options(belay_archive INTERFACE ${BELAY_NO_SLP})
target_include_directories(belay_archive INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(belay_archive PRIVATE
  Boost::json CURL::libcurl ICU::i18n ICU::uc LibXml2::LibXml2 OpenSSL::Crypto OpenSSL::SSL PkgConfig::LIBPQ PkgConfig::ZSTD SQLite::SQLite3
  Threads::Threads yaml-cpp ZLIB::ZLIB)

# Debuggers find NAME.debug through the link in the installed file: in the folder .debug next to it,
# which is a symbolic link into lib/debug. The library with its debug information is in lib/debug.
# Without objcopy, files are installed unchanged.
set(BELAY_DEBUG_DIR ${CMAKE_INSTALL_LIBDIR}/debug)

# belay_install_program(TARGET): installs a program without its debug symbols.
function(belay_install_program target)
  install(TARGETS ${target} RUNTIME)
  if(NOT CMAKE_OBJCOPY)
    return()
  endif()
  file(RELATIVE_PATH back /${CMAKE_INSTALL_BINDIR}/.debug /${BELAY_DEBUG_DIR})
  # The symbols are those of the file in the build tree: a repeated installation can find the
  # installed one stripped.
  install(CODE "
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    set(name \"$<TARGET_FILE_NAME:${target}>\")
    set(symbols \"\${prefix}/${BELAY_DEBUG_DIR}/\${name}.debug\")
    file(MAKE_DIRECTORY \"\${prefix}/${BELAY_DEBUG_DIR}\" \"\${prefix}/${CMAKE_INSTALL_BINDIR}/.debug\")
    message(STATUS \"Installing: \${symbols}\")
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug --compress-debug-sections
                            \"$<TARGET_FILE:${target}>\" \"\${symbols}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-all \"--add-gnu-debuglink=\${symbols}\"
                            \"\${prefix}/${CMAKE_INSTALL_BINDIR}/\${name}\"
                    COMMAND_ERROR_IS_FATAL ANY)
    file(CREATE_LINK \"${back}/\${name}.debug\"
         \"\${prefix}/${CMAKE_INSTALL_BINDIR}/.debug/\${name}.debug\" SYMBOLIC)
  ")
endfunction()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(BELAY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/belay)
install(TARGETS belay_archive EXPORT belayTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(CMAKE_OBJCOPY)
  install(FILES $<TARGET_FILE:belay_archive> DESTINATION ${BELAY_DEBUG_DIR})
  install(CODE "
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-debug
                            \"\${prefix}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:belay_archive>\"
                    COMMAND_ERROR_IS_FATAL ANY)
  ")
endif()
install(EXPORT belayTargets NAMESPACE belay:: DESTINATION ${BELAY_CMAKE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/belay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/belayConfig.cmake.in ${PROJECT_BINARY_DIR}/belayConfig.cmake
  INSTALL_DESTINATION ${BELAY_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/belayConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/belayConfig.cmake ${PROJECT_BINARY_DIR}/belayConfigVersion.cmake
        DESTINATION ${BELAY_CMAKE_DIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/belay.pc.in ${PROJECT_BINARY_DIR}/belay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/belay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The data that the program finds in its installation. Its README.md states sources and licences.
if(BELAY_PROGRAM)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/agents/research/data/
          DESTINATION ${CMAKE_INSTALL_DATADIR}/belay/research)
endif()

# The documents that the help of commands names, such as docs/api.md, with the links between them.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/ARCHITECTURE.md
              ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
                  ${PROJECT_SOURCE_DIR}/deploy
        DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN evidence EXCLUDE)

# The library for other projects: one static archive, belay::belay, for find_package(), pkg-config
# and add_subdirectory(). It does not export Belay's own compile options (warnings, sanitizers).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include(${CMAKE_CURRENT_LIST_DIR}/StrippedInstall.cmake)

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

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(BELAY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/belay)
belay_install_archive(belay_archive belayTargets)
install(EXPORT belayTargets NAMESPACE belay:: DESTINATION ${BELAY_CMAKE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/belay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/belayConfig.cmake.in ${PROJECT_BINARY_DIR}/belayConfig.cmake
  INSTALL_DESTINATION ${BELAY_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/belayConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/belayConfig.cmake ${PROJECT_BINARY_DIR}/belayConfigVersion.cmake
        DESTINATION ${BELAY_CMAKE_DIR})
# A folder that is absolute cannot be moved with the prefix.
foreach(kind LIBDIR INCLUDEDIR)
  set(BELAY_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(BELAY_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
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
belay_installed_folder("${CMAKE_INSTALL_DOCDIR}" documents)
install(CODE "
  execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE=${PROJECT_SOURCE_DIR}\"
                          \"-DINSTALLED=${documents}\"
                          -P \"${PROJECT_SOURCE_DIR}/cmake/InstalledLinks.cmake\"
                  COMMAND_ERROR_IS_FATAL ANY)
")

# How every library and test of Belay is built.

add_library(belay_options INTERFACE)
target_compile_features(belay_options INTERFACE cxx_std_20)
target_include_directories(belay_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(belay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  -Werror -fvisibility=hidden -g1)
# Every build for tests: libstdc++ ends a process that reads an empty optional or beyond a vector's
# end. Neither ASan nor UBSan looks for that. The release build is what is shipped, without it.
target_compile_definitions(belay_options INTERFACE
  $<BUILD_INTERFACE:$<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports it for moves of a std::variant that was initialised, more so under sanitizers
  # (GCC bug 105562). Clang's own analysis and the sanitizers look for the real ones.
  target_compile_options(belay_options INTERFACE -Wno-maybe-uninitialized)
endif()
if(BELAY_SMALL_LIMITS)
  target_compile_definitions(belay_options INTERFACE BELAY_SMALL_LIMITS)
endif()
if(BELAY_SANITIZE)
  target_compile_options(belay_options INTERFACE
    -fsanitize=${BELAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(belay_options INTERFACE -fsanitize=${BELAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BELAY_SANITIZE MATCHES undefined)
    # Every use of every pointer is looked at for these two, which is 40 % of the time that a file
    # takes. A null pointer ends the process under ASan as well, and clang's build keeps both.
    target_compile_options(belay_options INTERFACE -fno-sanitize=null,alignment)
  endif()
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What is in a nameless namespace of a source is, to GCC, in one of an included file.
  target_compile_options(belay_options INTERFACE -Wno-subobject-linkage)
  # Without collecting its garbage before it has half a gigabyte of it, it takes a tenth less.
  target_compile_options(belay_options INTERFACE
    --param=ggc-min-expand=100 --param=ggc-min-heapsize=524288)
endif()

# scripts/coverage: clang counts what of src/ and agents/ runs, in the process of whatever test.
if(BELAY_COVERAGE)
  target_link_options(belay_options INTERFACE -fprofile-instr-generate)
endif()
# Counts what of a target's own sources runs.
function(belay_count_coverage name)
  if(BELAY_COVERAGE)
    target_compile_options(${name} PRIVATE
      -fprofile-instr-generate=${PROJECT_BINARY_DIR}/profiles/%8m.profraw -fcoverage-mapping)
  endif()
endfunction()

find_program(BELAY_CCACHE ccache)
if(BELAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BELAY_CCACHE})
endif()
find_program(BELAY_MOLD mold)
if(BELAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# belay_library(NAME SOURCES... LINKS...): a static library of one folder.
function(belay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC belay_options ${ARG_LINKS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Empty but in scripts/random-faults, where tests take longer than their compilation.
  target_compile_options(${name} PRIVATE ${BELAY_LIBRARY_OPTIONS})
  belay_count_coverage(${name})
endfunction()

# belay_test(NAME SOURCES... LINKS... [LABELS...] [TIMEOUT seconds] [ENVIRONMENT A=B...] [ONE_ENTRY]
#            [CAMPAIGN] [RELEASE_ONLY] [UNOPTIMISED]): one test program.
# src/ is on its include path. Labels: `slow` (not in `make check`), `crash` (not under TSan), `soak`
# (only in `make soak`).
#
# Each of its cases is a ctest case, in a process of its own. With ONE_ENTRY all of them run in one
# process, as the ctest case NAME/all: each process takes up to 0.1 s to start under ASan, and each
# process of some programs would start a server. The results of its cases are in cases/NAME.xml, and
# scripts/test counts them one by one. Not for tests that kill processes or change their own.
#
# CAMPAIGN: without BELAY_CAMPAIGNS, as in the presets dev and tsan, it is no ctest case and is built
# by its name alone; the release build plays all of it, and the build with small bounds a part under
# ASan. RELEASE_ONLY: the same in every build with sanitizers, since it depends on the clock, or takes
# too long there. UNOPTIMISED: it drives programs from outside, so its own code is compiled with -O0
# in the release build, too.
# The test that may take longest starts first (COST), so that no core waits for it at the end.
function(belay_test name)
  if(NOT BELAY_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "ONE_ENTRY;CAMPAIGN;RELEASE_ONLY;UNOPTIMISED" "TIMEOUT"
                        "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
    if(ARG_ONE_ENTRY)
      set(ARG_TIMEOUT 600)
    endif()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE belay_options ${ARG_LINKS} GTest::gmock GTest::gtest_main
                        rapidcheck)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  if(BELAY_SANITIZE)
    # What is tested keeps -O1 and every sanitizer; of the tests' own code, which takes three times
    # as long to compile so, neither is asked.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined)
  elseif(ARG_UNOPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  # Only where it is read: it holds a path, which the compiler's cache would not share.
  foreach(source ${ARG_SOURCES})
    file(STRINGS ${source} reads REGEX BELAY_SOURCE_DIR LIMIT_COUNT 1)
    if(reads)
      set_source_files_properties(${source} PROPERTIES
        COMPILE_DEFINITIONS BELAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
  if((BELAY_SANITIZE AND ARG_RELEASE_ONLY) OR (ARG_CAMPAIGN AND NOT BELAY_CAMPAIGNS))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(labels "")
  if(ARG_LABELS)
    set(labels LABELS "${ARG_LABELS}")
  endif()
  if(ARG_ENVIRONMENT)
    # A list in a list of words: its semicolons stay where this one is taken apart.
    string(REPLACE ";" "\\;" environment "${ARG_ENVIRONMENT}")
    list(APPEND labels ENVIRONMENT "${environment}")
  endif()
  if(ARG_ONE_ENTRY)
    add_test(NAME ${name}/all
      COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${name}.xml)
    set_tests_properties(${name}/all PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT})
    set_property(TEST ${name}/all PROPERTY LABELS ${ARG_LABELS})
    set_property(TEST ${name}/all PROPERTY ENVIRONMENT ${ARG_ENVIRONMENT})
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} ${labels})
endfunction()

# belay_test_parts(TARGET...): libraries and programs that only tests use, or only people: no target
# builds them but those that need them.
function(belay_test_parts)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

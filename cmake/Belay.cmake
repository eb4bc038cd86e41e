# Defines the functions that add libraries and tests, and the compiler options of all of them.

add_library(belay_options INTERFACE)
target_compile_features(belay_options INTERFACE cxx_std_20)
target_include_directories(belay_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(belay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  -Werror -fvisibility=hidden $<$<BOOL:${BELAY_LINE_NUMBERS}>:-g1>)
# In all builds for tests, libstdc++ ends a process that reads an empty optional or beyond the end
# of a vector, which neither ASan nor UBSan detects. The release build does not have these
# assertions.
target_compile_definitions(belay_options INTERFACE
  $<BUILD_INTERFACE:$<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 also reports moves of an initialised std::variant, more often under sanitizers (GCC bug
  # 105562). Clang's analysis and the sanitizers detect the real faults.
  target_compile_options(belay_options INTERFACE -Wno-maybe-uninitialized)
endif()
# At -O2, the SLP vectorizer of GCC 12.2 can place the construction of a vector before the loads of
# its two elements, as the dump of a coroutine's actor function shows (-fdump-tree-optimized:
# RunSegment::next()). A vector that was moved out of the frame then had undefined bounds. Code that
# uses the library can be affected, too: coroutines are compiled where they are written.
set(BELAY_NO_SLP "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-fno-tree-slp-vectorize>")
target_compile_options(belay_options INTERFACE ${BELAY_NO_SLP})
# The linker leaves out functions that a program does not use: a twelfth of the released one.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(belay_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(belay_options INTERFACE $<BUILD_INTERFACE:-Wl,--gc-sections>)
endif()
if(BELAY_SMALL_LIMITS)
  target_compile_definitions(belay_options INTERFACE BELAY_SMALL_LIMITS)
endif()
if(BELAY_SANITIZE)
  target_compile_options(belay_options INTERFACE
    -fsanitize=${BELAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # A program that is not relocated starts faster: the sanitizers refer to every global.
  target_link_options(belay_options INTERFACE -fsanitize=${BELAY_SANITIZE} -no-pie)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BELAY_SANITIZE MATCHES undefined)
    # These two check every use of every pointer, which takes 40 % of a file's compile time. A null
    # pointer ends the process under ASan, too, and clang's build has both checks.
    target_compile_options(belay_options INTERFACE -fno-sanitize=null,alignment)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BELAY_SANITIZE MATCHES address)
    # ASan registers every global, string literals included, each time a program starts: a third of
    # the duration of a command. Clang's build does that, for it starts few processes.
    target_compile_options(belay_options INTERFACE --param=asan-globals=0)
  endif()
  if(BELAY_SANITIZE MATCHES thread)
    # TSan does not see memory fences: GCC rejects them, and Asio's only repeat what its locks do.
    target_compile_definitions(belay_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # In a unity build, GCC regards the unnamed namespace of a source as that of an included file.
  target_compile_options(belay_options INTERFACE -Wno-subobject-linkage)
  # Garbage collection only from a heap of 512 MB on makes the compilation a tenth faster.
  target_compile_options(belay_options INTERFACE
    --param=ggc-min-expand=100 --param=ggc-min-heapsize=524288)
endif()

# For scripts/coverage: clang counts the executed code of src/ and agents/ in each test's process.
if(BELAY_COVERAGE)
  target_link_options(belay_options INTERFACE -fprofile-instr-generate)
endif()
# Counts the executed code of a target's sources.
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

# belay_library(NAME SOURCES... LINKS...): adds the static library of one folder.
function(belay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC belay_options ${ARG_LINKS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # Set only by scripts/random-faults, in which tests take longer than their compilation.
  target_compile_options(${name} PRIVATE ${BELAY_LIBRARY_OPTIONS})
  belay_count_coverage(${name})
  # For the check that the archive of Install.cmake is complete.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/src/")
    set_property(GLOBAL APPEND PROPERTY BELAY_SOURCE_LIBRARIES ${name})
  endif()
endfunction()

# belay_test(NAME SOURCES... LINKS... [LABELS...] [TIMEOUT seconds] [ENVIRONMENT A=B...] [ONE_ENTRY]
#            [CAMPAIGN] [OF_PROGRAM] [RELEASE_ONLY] [UNOPTIMISED]): adds a test program.
# src/ is on its include path. Labels: `slow` (not in `make check`), `crash` (not under TSan),
# `soak` (only in `make soak`).
#
# Each of its cases is a ctest case, in a separate process. With ONE_ENTRY all of them run in one
# process, as the ctest case NAME/all: a process takes up to 0.1 s to start under ASan, and each
# process of some programs would start a server. The results of the cases are in cases/NAME.xml, and
# scripts/test counts them separately. Not for tests that kill processes or modify their own.
#
# CAMPAIGN: without BELAY_CAMPAIGNS, as in the presets dev and tsan, the program is not a ctest case
# and is built only by name. The release build runs all of it, and the build with small bounds a
# part of it under ASan. OF_PROGRAM: the same without BELAY_PROGRAM_TESTS, for tests that start many
# processes, or take long under ASan: `scripts/test all` runs them with -O2, and under ASan only at
# its end. RELEASE_ONLY: the same in every build with sanitizers, because the program
# depends on the clock, or takes too long there. UNOPTIMISED: the program only controls others, and
# is compiled with -O0 in the release build, too.
# TIMEOUT is the time within which the test ends on an idle machine; default 120, with ONE_ENTRY 600.
# ctest ends it after four times as long: a machine with other work may take that long, and only a
# test that hangs must be ended. The test with the longest timeout starts first (COST), so
# that no core waits for it at the end.
function(belay_test name)
  if(NOT BELAY_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "ONE_ENTRY;CAMPAIGN;OF_PROGRAM;RELEASE_ONLY;UNOPTIMISED" "TIMEOUT"
                        "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
    if(ARG_ONE_ENTRY)
      set(ARG_TIMEOUT 600)
    endif()
  endif()
  math(EXPR timeout "4 * ${ARG_TIMEOUT}")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE belay_options ${ARG_LINKS} GTest::gmock GTest::gtest_main
                        rapidcheck)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  if(BELAY_SANITIZE)
    # The code under test keeps -Og and every sanitizer. The tests' own code, whose compilation
    # would take three times as long, has neither -Og nor UBSan.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined)
  elseif(ARG_UNOPTIMISED)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  # BELAY_SOURCE_DIR contains a path, which prevents hits in the compiler's cache, and a source with
  # other definitions than its program is not part of a unity build: the sources that use it have
  # it, or all sources of a program if half of them use it.
  set(readers "")
  foreach(source ${ARG_SOURCES})
    file(STRINGS ${source} reads REGEX BELAY_SOURCE_DIR LIMIT_COUNT 1)
    if(reads)
      list(APPEND readers ${source})
    endif()
  endforeach()
  list(LENGTH ARG_SOURCES source_count)
  list(LENGTH readers reader_count)
  math(EXPR doubled "2 * ${reader_count}")
  if(reader_count GREATER 0 AND NOT doubled LESS source_count)
    target_compile_definitions(${name} PRIVATE BELAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  elseif(reader_count GREATER 0)
    set_source_files_properties(${readers} PROPERTIES
      COMPILE_DEFINITIONS BELAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  endif()
  if((BELAY_SANITIZE AND ARG_RELEASE_ONLY) OR (ARG_CAMPAIGN AND NOT BELAY_CAMPAIGNS)
     OR (ARG_OF_PROGRAM AND NOT BELAY_PROGRAM_TESTS))
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(labels "")
  if(ARG_LABELS)
    set(labels LABELS "${ARG_LABELS}")
  endif()
  if(ARG_ENVIRONMENT)
    # Escaped semicolons keep the list one element of `labels` when that list is expanded.
    string(REPLACE ";" "\\;" environment "${ARG_ENVIRONMENT}")
    list(APPEND labels ENVIRONMENT "${environment}")
  endif()
  if(ARG_ONE_ENTRY)
    add_test(NAME ${name}/all
      COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${name}.xml)
    set_tests_properties(${name}/all PROPERTIES TIMEOUT ${timeout} COST ${ARG_TIMEOUT})
    set_property(TEST ${name}/all PROPERTY LABELS ${ARG_LABELS})
    set_property(TEST ${name}/all PROPERTY ENVIRONMENT ${ARG_ENVIRONMENT})
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT ${timeout} COST ${ARG_TIMEOUT} ${labels})
endfunction()

# belay_test_parts(TARGET...): excludes libraries and programs that only tests, or only people, use
# from the target `all`. They are built by name, or as a dependency.
function(belay_test_parts)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

# Turns the links of installed documents to files of the source that are not installed into text.
#
#   cmake -DSOURCE=FOLDER -DINSTALLED=FOLDER -P cmake/InstalledLinks.cmake
#
# Both folders have the documents at the same relative paths.

cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE documents RELATIVE "${INSTALLED}" "${INSTALLED}/*.md")
foreach(document IN LISTS documents)
  file(READ "${INSTALLED}/${document}" text)
  set(changed "${text}")
  get_filename_component(folder "${document}" DIRECTORY)
  # A target without spaces; code such as [](auto value) has others, and names no file.
  string(REGEX MATCHALL "\\[[^][]+\\]\\([^() \n]+\\)" links "${text}")
  list(REMOVE_DUPLICATES links)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\[([^][]+)\\]\\(([^()#]*)(#[^()]*)?\\)$" "\\1" label "${link}")
    string(REGEX REPLACE "^\\[([^][]+)\\]\\(([^()#]*)(#[^()]*)?\\)$" "\\2" target "${link}")
    if(target STREQUAL "" OR target MATCHES "^[a-z]+:")
      continue()
    endif()
    if(EXISTS "${SOURCE}/${folder}/${target}" AND NOT EXISTS "${INSTALLED}/${folder}/${target}")
      string(REPLACE "${link}" "${label}" changed "${changed}")
    endif()
  endforeach()
  if(NOT changed STREQUAL text)
    file(WRITE "${INSTALLED}/${document}" "${changed}")
  endif()
endforeach()

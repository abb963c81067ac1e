# Writes a header with a hash of folders' sources, so that what a code generator left in the cache is found only by
# the same generator. As a script: cmake -DSOURCES=... -DOUTPUT=... -P SourceStamp.cmake
if(SOURCES)
  set(all "")
  string(REPLACE "," ";" SOURCES "${SOURCES}")
  foreach(source ${SOURCES})
    file(SHA256 ${source} one)
    string(APPEND all ${one})
  endforeach()
  string(SHA256 stamp "${all}")
  string(SUBSTRING ${stamp} 0 16 stamp)
  file(WRITE ${OUTPUT} "#pragma once\nnamespace adit { static constexpr const char* source_stamp = \"${stamp}\"; }\n")
  return()
endif()

# The target gets a header <folder>/source_stamp.hpp made anew whenever one of its sources, or of the folders named
# after it, changes.
function(adit_source_stamp target folder)
  set(sources "")
  foreach(each ${folder} ${ARGN})
    file(GLOB_RECURSE some CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${each}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/src/${each}/*.hpp)
    list(APPEND sources ${some})
  endforeach()
  list(SORT sources)
  string(REPLACE ";" "," joined "${sources}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/stamps/${folder}/source_stamp.hpp)
  add_custom_command(OUTPUT ${output} DEPENDS ${sources} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DSOURCES=${joined} -DOUTPUT=${output} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/SourceStamp.cmake)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/stamps/${folder})
endfunction()

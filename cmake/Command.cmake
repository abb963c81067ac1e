# The command, with the models that it has built in.
file(GLOB model_sources CONFIGURE_DEPENDS src/cli/models/*.cpp)
# Those that are Stan programs are kept as text, with their data: the command finds them wherever it is called.
file(GLOB program_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/cli/programs/*.stan
     ${CMAKE_CURRENT_SOURCE_DIR}/src/cli/programs/*.json)
foreach(data radon eight_schools)
  list(APPEND program_files ${CMAKE_CURRENT_SOURCE_DIR}/examples/stan/${data}.json)
endforeach()
string(REPLACE ";" "," program_list "${program_files}")
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded/programs.cpp)
add_custom_command(OUTPUT ${embedded} DEPENDS ${program_files} cmake/EmbedFiles.cmake VERBATIM
                   COMMAND ${CMAKE_COMMAND} -DFILES=${program_list} -DOUTPUT=${embedded}
                           -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedFiles.cmake)
add_library(adit_cli_models STATIC ${model_sources} ${embedded})
target_link_libraries(adit_cli_models PUBLIC adit_sample adit_stan)
set_target_properties(adit_cli_models PROPERTIES UNITY_BUILD ${ADIT_UNITY})
add_executable(adit_command src/cli/program/main.cpp)
set_target_properties(adit_command PROPERTIES OUTPUT_NAME adit)
target_link_libraries(adit_command PRIVATE adit_cli_models adit_cli)
foreach(name adit_cli_models adit_command)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endforeach()
target_precompile_headers(adit_cli_models REUSE_FROM adit_support)

# The command, with the models that it has built in.
file(GLOB model_sources CONFIGURE_DEPENDS src/cli/models/*.cpp)
add_library(adit_cli_models STATIC ${model_sources})
target_link_libraries(adit_cli_models PUBLIC adit_sample)
set_target_properties(adit_cli_models PROPERTIES UNITY_BUILD ${ADIT_UNITY})
add_executable(adit_command src/cli/program/main.cpp)
set_target_properties(adit_command PROPERTIES OUTPUT_NAME adit)
target_link_libraries(adit_command PRIVATE adit_cli_models adit_cli)

# The command, with the models that it has built in.
find_package(CLI11 REQUIRED)
adit_library(cli/models LINK adit_sample)
set_target_properties(adit_cli_models PROPERTIES UNITY_BUILD OFF)  # each has data of its own, and says Data
file(GLOB cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
add_executable(adit_command ${cli_sources})
set_target_properties(adit_command PROPERTIES OUTPUT_NAME adit UNITY_BUILD ${ADIT_UNITY} UNITY_BUILD_BATCH_SIZE 8)
target_link_libraries(adit_command PRIVATE adit_cli_models CLI11::CLI11 nlohmann_json::nlohmann_json)
target_compile_definitions(adit_command PRIVATE ADIT_VERSION="${PROJECT_VERSION}" ADIT_BUILD_TYPE="$<CONFIG>")
if(NetCDF_FOUND)
  target_compile_definitions(adit_command PRIVATE ADIT_NETCDF=1)
endif()

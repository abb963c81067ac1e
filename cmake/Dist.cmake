# ADIT_DIST: the command with everything in it but libc, for machines where nothing is installed. Included before the
# libraries are looked for. What Debian 12 has:
#
#   fmt          no archive; fmt 9 is compiled here from its headers
#   xxhash       libxxhash.a
#   OpenBLAS     libopenblas.a: the matrix products alone, for every kind of CPU
#   LLVM         the archives of llvm-N-dev: the JIT, the passes and this machine's target
#   libzip       no archive; the command uses none of it, and the linker leaves it out
#   netCDF       no archive, and forty libraries below it: opened at run time, by cmake/dist/netcdf.cpp
#   libstdc++    libstdc++.a, libgcc.a
#   Vulkan       its loader is always opened at run time
#
# The command is then 71 MB on x86-64: LLVM 31, OpenBLAS 22, tables and the rest. The tarball is 50 MB, or 26 without
# netCDF. It wants the glibc of the system that built it, or a later one: 2.36 on Debian 12.
#
# Which files stand beside the command, and why, is told in tools/dist.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(ADIT_UNITY OFF)  # a source an object: the linker leaves out what the command does not use, and libzip with it
set(CMAKE_SKIP_RPATH ON)  # folders of the machine that builds are no place to look on another
set(dist ${CMAKE_CURRENT_LIST_DIR}/dist)
link_libraries(-static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--as-needed)

find_package(fmt REQUIRED)
get_target_property(fmt_type fmt::fmt TYPE)
if(fmt_type STREQUAL "SHARED_LIBRARY" AND fmt_VERSION MATCHES "^9\\.")
  add_library(adit_dist_fmt STATIC ${dist}/fmt.cpp)
  target_compile_definitions(adit_dist_fmt PRIVATE FMT_SHARED FMT_EXPORT)
  set_target_properties(adit_dist_fmt PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  get_target_property(configurations fmt::fmt IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_${configuration} ${CMAKE_BINARY_DIR}/libadit_dist_fmt.a)
  endforeach()
  add_dependencies(fmt::fmt adit_dist_fmt)
elseif(fmt_type STREQUAL "SHARED_LIBRARY")
  message(FATAL_ERROR "ADIT_DIST: expected libfmt.a or fmt 9, got fmt ${fmt_VERSION} as a shared library")
endif()

if(ADIT_NATIVE)
  find_package(LLVMC REQUIRED)
  find_program(LLVM_CONFIG NAMES llvm-config-${LLVMC_VERSION} llvm-config
               HINTS /usr/lib/llvm-${LLVMC_VERSION}/bin /usr/local/llvm${LLVMC_VERSION}/bin REQUIRED)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libdir OUTPUT_VARIABLE llvm_folder
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libs orcjit native passes OUTPUT_VARIABLE llvm_libraries
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(llvm_libraries)
  find_library(ZLIB_ARCHIVE libz.a REQUIRED)
  find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)
  set_target_properties(LLVMC::LLVMC PROPERTIES IMPORTED_LOCATION "${ZLIB_ARCHIVE}")
  target_link_directories(LLVMC::LLVMC INTERFACE ${llvm_folder})
  target_link_libraries(LLVMC::LLVMC INTERFACE ${llvm_libraries} ${ZSTD_ARCHIVE} ${ZLIB_ARCHIVE})
endif()

find_package(NetCDF)
if(NetCDF_FOUND)
  get_filename_component(netcdf_file ${NetCDF_LIBRARY} REALPATH)
  get_filename_component(netcdf_file ${netcdf_file} NAME)
  add_library(adit_dist_netcdf STATIC ${dist}/netcdf.cpp)
  target_include_directories(adit_dist_netcdf SYSTEM PRIVATE ${NetCDF_INCLUDE_DIR})
  target_compile_definitions(adit_dist_netcdf PRIVATE ADIT_NETCDF_FILE="${netcdf_file}")
  target_link_libraries(adit_dist_netcdf PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(adit_dist_netcdf PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  set_target_properties(NetCDF::NetCDF PROPERTIES IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/libadit_dist_netcdf.a)
  add_dependencies(NetCDF::NetCDF adit_dist_netcdf)
endif()

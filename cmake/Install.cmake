# What `make install` lays down: the command, the libraries, the headers, and how CMake and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(ADIT_COMMAND)
  install(TARGETS adit_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  include(InstallCommand)
endif()
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
install(DIRECTORY include/adit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "c.h")

# Two sets: who links the shared library needs none of the libraries that the static one needs.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/adit)
set_target_properties(adit_shared PROPERTIES EXPORT_NAME adit)
set_target_properties(adit_static PROPERTIES EXPORT_NAME static)
foreach(kind shared static)
  install(TARGETS adit_${kind} EXPORT adit_${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT adit_${kind} NAMESPACE adit:: DESTINATION ${package} FILE adit-${kind}.cmake COMPONENT development)
endforeach()
configure_package_config_file(cmake/adit-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/adit-config.cmake
                              INSTALL_DESTINATION ${package})
# Before version 1 any change of the second number may break who links it.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/adit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/adit-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/adit-config-version.cmake
              cmake/FindXXHash.cmake cmake/FindLibzip.cmake cmake/FindLLVMC.cmake cmake/FindCBLAS.cmake
              cmake/FindNetCDF.cmake
        DESTINATION ${package} COMPONENT development)

# pkg-config names what the static library needs by file, since not all of it has a .pc of its own.
set(private_libraries "")
foreach(need ${adit_needs})
  if(TARGET ${need})
    string(APPEND private_libraries " $<TARGET_LINKER_FILE:${need}>")
  endif()
endforeach()
string(REPLACE " $<TARGET_LINKER_FILE:Threads::Threads>" "" private_libraries "${private_libraries}")
if(CMAKE_SYSTEM_NAME STREQUAL "FreeBSD")
  set(pkgconfig libdata/pkgconfig)
else()
  set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
# `cmake --install --prefix` may name another prefix than was configured: the file tells it by where it lies.
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_PREFIX}/${pkgconfig} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(cmake/adit.pc.in ${CMAKE_CURRENT_BINARY_DIR}/adit.pc.in @ONLY)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/adit.pc INPUT ${CMAKE_CURRENT_BINARY_DIR}/adit.pc.in)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/adit.pc DESTINATION ${pkgconfig} COMPONENT development)

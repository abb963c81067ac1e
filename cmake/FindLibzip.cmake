find_path(Libzip_INCLUDE_DIR zip.h)
find_library(Libzip_LIBRARY zip)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libzip REQUIRED_VARS Libzip_LIBRARY Libzip_INCLUDE_DIR)
if(Libzip_FOUND AND NOT TARGET Libzip::Libzip)
  add_library(Libzip::Libzip UNKNOWN IMPORTED)
  set_target_properties(Libzip::Libzip PROPERTIES IMPORTED_LOCATION "${Libzip_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${Libzip_INCLUDE_DIR}")
endif()

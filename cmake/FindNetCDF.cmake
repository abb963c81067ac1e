# libnetcdf, the C library, with netCDF-4 files in memory.
find_path(NetCDF_INCLUDE_DIR netcdf_mem.h)
find_library(NetCDF_LIBRARY netcdf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDF REQUIRED_VARS NetCDF_LIBRARY NetCDF_INCLUDE_DIR)
if(NetCDF_FOUND AND NOT TARGET NetCDF::NetCDF)
  add_library(NetCDF::NetCDF UNKNOWN IMPORTED)
  set_target_properties(NetCDF::NetCDF PROPERTIES IMPORTED_LOCATION "${NetCDF_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${NetCDF_INCLUDE_DIR}")
endif()
mark_as_advanced(NetCDF_INCLUDE_DIR NetCDF_LIBRARY)

# LLVM's C API: the newest of the versions 15 and on that has both headers and a shared library.
foreach(version 22 21 20 19 18 17 16 15)
  find_path(LLVMC_INCLUDE_DIR llvm-c/LLJIT.h
            PATHS /usr/lib/llvm-${version}/include /usr/local/llvm${version}/include /opt/homebrew/opt/llvm@${version}/include
            PATH_SUFFIXES llvm-c-${version} NO_DEFAULT_PATH)
  find_path(LLVMC_INCLUDE_DIR llvm-c/LLJIT.h PATH_SUFFIXES llvm-c-${version})
  find_library(LLVMC_LIBRARY NAMES LLVM-${version} libLLVM-${version}.so.1 libLLVM.so.${version}.1
               PATHS /usr/lib/llvm-${version}/lib /usr/local/llvm${version}/lib)
  if(LLVMC_INCLUDE_DIR AND LLVMC_LIBRARY)
    # Found once, both are known to every later run, whose first version would be wrong.
    if(NOT LLVMC_VERSION)
      set(LLVMC_VERSION ${version} CACHE INTERNAL "")
    endif()
    break()
  endif()
  unset(LLVMC_INCLUDE_DIR CACHE)
  unset(LLVMC_LIBRARY CACHE)
  unset(LLVMC_VERSION CACHE)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LLVMC REQUIRED_VARS LLVMC_LIBRARY LLVMC_INCLUDE_DIR VERSION_VAR LLVMC_VERSION)
if(LLVMC_FOUND AND NOT TARGET LLVMC::LLVMC)
  add_library(LLVMC::LLVMC UNKNOWN IMPORTED)
  set_target_properties(LLVMC::LLVMC PROPERTIES IMPORTED_LOCATION "${LLVMC_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${LLVMC_INCLUDE_DIR}")
endif()

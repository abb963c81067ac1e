# How all of our own code is compiled; none of it reaches who links the library.
add_library(adit_options INTERFACE)
target_compile_features(adit_options INTERFACE cxx_std_20)
target_include_directories(adit_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/src)
# Contraction off: a*b+c means two roundings unless the source says fma.
target_compile_options(adit_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of its own std::string; and it takes sources that are compiled together for headers.
  target_compile_options(adit_options INTERFACE -Wno-restrict -Wno-subobject-linkage)
  # It tidies its memory less often: an eighth of the time for some hundred MB.
  target_compile_options(adit_options INTERFACE --param=ggc-min-expand=300 --param=ggc-min-heapsize=1000000)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(adit_options INTERFACE -Wno-overloaded-shift-op-parentheses)  # shifts of kernel values
endif()
if(ADIT_WERROR)
  target_compile_options(adit_options INTERFACE -Werror)
endif()
if(ADIT_SANITIZE)
  target_compile_options(adit_options INTERFACE -fsanitize=${ADIT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(adit_options INTERFACE -fsanitize=${ADIT_SANITIZE})
  if(ADIT_SANITIZE MATCHES "undefined")
    # Two of its checks are a fifth of the time to compile: where a pointer is null a program stops anyway, and C
    # programs that load our library have none of what C++ knows of types.
    target_compile_options(adit_options INTERFACE -fno-sanitize=null,vptr)
  endif()
  if(ADIT_SANITIZE MATCHES "address")
    target_compile_definitions(adit_options INTERFACE __SANITIZE_ADDRESS__=1)  # GCC says so, Clang 14 does not
  endif()
endif()
# Programs of many megabytes, a hundred of them for the tests: these linkers take a fifth of the time of GNU's own.
set(adit_fast_linker "")
include(CheckLinkerFlag)
foreach(linker mold lld gold)
  check_linker_flag(CXX -fuse-ld=${linker} ADIT_LINKS_WITH_${linker})
  if(ADIT_LINKS_WITH_${linker})
    set(adit_fast_linker -fuse-ld=${linker})
    break()
  endif()
endforeach()

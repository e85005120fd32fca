# LibTorch: Debian's, that of pytorch.org, or what pip installed (-DEGC_TORCH_DIR=<site-packages>/torch).
# Gives LibTorch::LibTorch. Its own CMake package is not asked: built with CUDA, that one wants a CUDA toolkit, which
# nobody needs to use it.
if(EGC_TORCH_DIR)
  set(LibTorch_where PATHS ${EGC_TORCH_DIR} NO_DEFAULT_PATH)
endif()
find_path(LibTorch_INCLUDE_DIR torch/csrc/autograd/custom_function.h PATH_SUFFIXES include ${LibTorch_where})
find_path(LibTorch_API_INCLUDE_DIR torch/nn/module.h
          PATH_SUFFIXES include/torch/csrc/api/include torch/csrc/api/include ${LibTorch_where})
find_library(LibTorch_CPU_LIBRARY torch_cpu PATH_SUFFIXES lib ${LibTorch_where})
find_library(LibTorch_C10_LIBRARY c10 PATH_SUFFIXES lib ${LibTorch_where})
unset(LibTorch_where)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_API_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

unset(LibTorch_VERSION)
foreach(header torch/csrc/api/include/torch/version.h torch/headeronly/version.h)
  if(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/${header} AND NOT LibTorch_VERSION)
    file(STRINGS ${LibTorch_INCLUDE_DIR}/${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
    list(JOIN lines "." LibTorch_VERSION)
  endif()
endforeach()
# Strings of the C++ library have two forms, and ours is the one of 2011. Wheels before 2.6 have the other.
if(LibTorch_C10_LIBRARY AND NOT DEFINED LibTorch_CXX11_ABI)
  file(STRINGS ${LibTorch_C10_LIBRARY} names REGEX "__cxx11" LIMIT_COUNT 1)
  if(names)
    set(LibTorch_CXX11_ABI TRUE CACHE INTERNAL "")
  else()
    set(LibTorch_REASON_FAILURE_MESSAGE "that LibTorch is built with _GLIBCXX_USE_CXX11_ABI=0; take one built with 1")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR LibTorch_API_INCLUDE_DIR LibTorch_CXX11_ABI
  VERSION_VAR LibTorch_VERSION REASON_FAILURE_MESSAGE "${LibTorch_REASON_FAILURE_MESSAGE}")
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set(headers ${LibTorch_INCLUDE_DIR})
  if(EGC_TORCH_DIR)  # brings headers of fmt and others along, of other versions than the libraries that are here
    set(headers ${CMAKE_BINARY_DIR}/LibTorch/include)
    file(MAKE_DIRECTORY ${headers})
    foreach(part ATen c10 caffe2 torch)
      file(CREATE_LINK ${LibTorch_INCLUDE_DIR}/${part} ${headers}/${part} SYMBOLIC)
    endforeach()
  endif()
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${headers} ${LibTorch_API_INCLUDE_DIR})
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
endif()

# Sets VDNN_HAS_CUDA: whether the CUDA backend is built.
#   VDNN_ENABLE_CUDA=AUTO   where a CUDA compiler, toolkit and cuDNN are found (the default)
#   VDNN_ENABLE_CUDA=ON     always: what is missing is an error
#   VDNN_ENABLE_CUDA=OFF    never: nothing is looked for

set(VDNN_ENABLE_CUDA AUTO CACHE STRING "build the CUDA backend: AUTO (where CUDA is found), ON or OFF")
set_property(CACHE VDNN_ENABLE_CUDA PROPERTY STRINGS AUTO ON OFF)

# vdnn_detect_cuda(RESULT): sets RESULT in the caller's scope, says on the console why, and enables the language CUDA
# where the result is true. Call it from the top-level CMakeLists.txt, since languages belong to the whole project.
macro(vdnn_detect_cuda result)
  set(${result} OFF)
  if(VDNN_ENABLE_CUDA STREQUAL "AUTO" OR VDNN_ENABLE_CUDA)
    include(CheckLanguage)
    check_language(CUDA)
    find_package(CUDAToolkit QUIET)
    find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
    if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND AND CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY)
      enable_language(CUDA)
      set(${result} ON)
      message(STATUS "CUDA: found ${CUDAToolkit_VERSION}, compiler ${CMAKE_CUDA_COMPILER}")
    elseif(NOT VDNN_ENABLE_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "VDNN_ENABLE_CUDA=${VDNN_ENABLE_CUDA}, but no CUDA compiler, toolkit and cuDNN are found: "
                          "set CMAKE_CUDA_COMPILER, CUDAToolkit_ROOT, CUDNN_INCLUDE_DIR and CUDNN_LIBRARY, or VDNN_ENABLE_CUDA=OFF")
    else()
      message(STATUS "CUDA: not found; the CUDA backend is not built")
    endif()
  else()
    message(STATUS "CUDA: off (VDNN_ENABLE_CUDA=${VDNN_ENABLE_CUDA})")
  endif()
endmacro()

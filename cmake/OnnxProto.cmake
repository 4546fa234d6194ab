# vdnn_onnx_proto: ONNX's own message definitions, compiled under the package name vdnn_onnx so that a process may
# also link another copy of ONNX.
#
# Where onnx-ml.proto comes from, in this order: VDNN_ONNX_PROTO; an `onnx` package (1.14 or later) of a Python
# environment at hand; the PyPI wheel, downloaded into the build folder.

set(VDNN_ONNX_PROTO "" CACHE FILEPATH "onnx-ml.proto of onnx 1.14 or later (empty: found or downloaded)")
set(VDNN_ONNX_WHEEL onnx==1.23.2)

function(vdnn_find_onnx_proto result)
  if(VDNN_ONNX_PROTO)
    set(${result} ${VDNN_ONNX_PROTO} PARENT_SCOPE)
    return()
  endif()
  set(wheel ${CMAKE_BINARY_DIR}/onnx-wheel)
  if(EXISTS ${wheel}/onnx/onnx-ml.proto)
    set(${result} ${wheel}/onnx/onnx-ml.proto PARENT_SCOPE)
    return()
  endif()
  # The package is found without importing it, so that one with missing dependencies will do.
  set(find [[
import importlib.metadata, os, sys
version = importlib.metadata.version('onnx')
if tuple(int(part) for part in version.split('.')[:2]) < (1, 14):
    sys.exit(1)
file = importlib.metadata.distribution('onnx').locate_file('onnx/onnx-ml.proto')
if not os.path.exists(file):
    sys.exit(1)
print(file)
]])
  foreach(python ${CMAKE_SOURCE_DIR}/.venv/bin/python python3 /usr/bin/python3)
    execute_process(COMMAND ${python} -c "${find}" OUTPUT_VARIABLE path RESULT_VARIABLE code ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(code EQUAL 0)
      set(${result} ${path} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(STATUS "Downloading ${VDNN_ONNX_WHEEL} for onnx-ml.proto")
  file(MAKE_DIRECTORY ${wheel})
  execute_process(COMMAND python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all:
                          --dest ${wheel} ${VDNN_ONNX_WHEEL}
                  RESULT_VARIABLE code)
  file(GLOB file ${wheel}/onnx-*.whl)
  if(NOT code EQUAL 0 OR NOT file)
    message(FATAL_ERROR "cannot download ${VDNN_ONNX_WHEEL} from PyPI: give the file with -DVDNN_ONNX_PROTO=.../onnx-ml.proto, "
                        "or install the package: python3 -m pip install 'onnx>=1.14'")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${file} DESTINATION ${wheel})
  set(${result} ${wheel}/onnx/onnx-ml.proto PARENT_SCOPE)
endfunction()

find_package(Protobuf 3.21 REQUIRED)
vdnn_find_onnx_proto(VDNN_ONNX_PROTO_FILE)
message(STATUS "ONNX messages: ${VDNN_ONNX_PROTO_FILE}")

set(vdnn_onnx_dir ${CMAKE_BINARY_DIR}/include/vdnn_onnx)
file(MAKE_DIRECTORY ${vdnn_onnx_dir})
file(READ ${VDNN_ONNX_PROTO_FILE} text)
string(REGEX REPLACE "package onnx;" "package vdnn_onnx;" text "${text}")
if(NOT text MATCHES "option optimize_for = LITE_RUNTIME;")
  string(REPLACE "package vdnn_onnx;" "package vdnn_onnx;\noption optimize_for = LITE_RUNTIME;" text "${text}")
endif()
file(CONFIGURE OUTPUT ${vdnn_onnx_dir}/onnx.proto CONTENT "${text}" @ONLY)
add_custom_command(
  OUTPUT ${vdnn_onnx_dir}/onnx.pb.cc ${vdnn_onnx_dir}/onnx.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${vdnn_onnx_dir} -I${vdnn_onnx_dir} onnx.proto
  DEPENDS ${vdnn_onnx_dir}/onnx.proto
  VERBATIM)
# Generated code: without the project's warnings.
add_library(vdnn_onnx_proto STATIC ${vdnn_onnx_dir}/onnx.pb.cc)
target_compile_options(vdnn_onnx_proto PRIVATE -w)
target_include_directories(vdnn_onnx_proto SYSTEM PUBLIC ${vdnn_onnx_dir} ${Protobuf_INCLUDE_DIRS})
target_link_libraries(vdnn_onnx_proto PUBLIC protobuf::libprotobuf-lite)

# Thin wrappers: one call per library, tool and unit test. Every target gets the project's warnings
# and the sanitizers of the build.

function(vdnn_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict) # false alarms on "text" + std::string: GCC bug 105651
  endif()
  if(VDNN_SANITIZE)
    list(JOIN VDNN_SANITIZE "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
  endif()
  if(VDNN_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# vdnn_library(NAME SOURCES a.cpp ... DEPENDS target ... LINK lib ...)
function(vdnn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  vdnn_compile_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# vdnn_tool(NAME SOURCES a.cpp ... LINK lib ...): an executable in build/bin.
function(vdnn_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  vdnn_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# vdnn_unittest(NAME SOURCES a.cpp ... LINK lib ...): a GoogleTest binary in build/test-bin, run by ctest.
function(vdnn_unittest name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  vdnn_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-bin)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

# SPDX-License-Identifier: MIT
# One layer = one folder under src/ = one static library dft_<name>, with its tests beside the code.
#
#   dft_layer(base SOURCES a.cc b.cc DEPS model TESTS a_test.cc [PRIVATE_LIBS dft::isal])
#
# DEPS are layer names without the prefix; scripts/check_layers.py holds the real include arrows against layers.toml.
# Tests of a layer become one GoogleTest program dft_<name>_test, its cases one CTest test each.

function(dft_compile_rules target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    $<$<BOOL:${DFTRACER_WERROR}>:-Werror> -fno-semantic-interposition -ftls-model=initial-exec)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/gen
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
endfunction()

# Makes a GoogleTest program of an executable: its cases are CTest's tests, named PREFIX.Suite.Case.
function(dft_unit_tests target prefix)
  dft_compile_rules(${target})
  if(DFTRACER_SANITIZE)
    # What is checked is optimised; the tests themselves take twice as long to compile when they are.
    target_compile_options(${target} PRIVATE -O0)
  endif()
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gtest_main Threads::Threads)
  gtest_discover_tests(${target} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

function(dft_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;DEPS;TESTS;PRIVATE_LIBS" ${ARGN})
  add_library(dft_${name} STATIC ${L_SOURCES})
  set_target_properties(dft_${name} PROPERTIES LINKER_LANGUAGE CXX)
  dft_compile_rules(dft_${name})
  foreach(dep IN LISTS L_DEPS)
    target_link_libraries(dft_${name} PUBLIC dft_${dep})
  endforeach()
  target_link_libraries(dft_${name} PRIVATE ${L_PRIVATE_LIBS})
  if(L_TESTS AND DFTRACER_ENABLE_TESTS)
    add_executable(dft_${name}_test ${L_TESTS})
    target_link_libraries(dft_${name}_test PRIVATE dft_${name} ${L_PRIVATE_LIBS})
    dft_unit_tests(dft_${name}_test ${name})
  endif()
endfunction()

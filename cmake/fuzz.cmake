# SPDX-License-Identifier: MIT
# dft_fuzz(config_fuzz SOURCES config_fuzz.cc LIBS dft_config [CORPUS dir])
# The source defines LLVMFuzzerTestOneInput. With DFTRACER_FUZZ (clang) it becomes a libFuzzer program for scripts/gates;
# else, with tests on, a plain program that replays CORPUS (default: corpus/<name> beside the source) as a test.

function(dft_fuzz name)
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  if(NOT DFTRACER_FUZZ AND NOT DFTRACER_ENABLE_TESTS)
    return()
  endif()
  if(NOT F_CORPUS)
    set(F_CORPUS ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
  add_executable(${name} ${F_SOURCES})
  dft_compile_rules(${name})
  target_link_libraries(${name} PRIVATE ${F_LIBS} Threads::Threads)
  if(DFTRACER_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY DFT_FUZZERS "$<TARGET_FILE:${name}> ${F_CORPUS}")
    add_dependencies(fuzzers ${name})
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/fuzz_replay.cc)
    add_test(NAME fuzz.${name} COMMAND ${name} ${F_CORPUS})
    set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 120)
  endif()
endfunction()

# To be called last: writes fuzzers.txt, one "program corpus" a line, for scripts/gates.
function(dft_list_fuzzers)
  get_property(lines GLOBAL PROPERTY DFT_FUZZERS)
  list(JOIN lines "\n" text)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/fuzzers.txt CONTENT "${text}\n")
endfunction()

if(DFTRACER_FUZZ)
  add_custom_target(fuzzers)
  # The libraries under test need the coverage instrumentation too.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# SPDX-License-Identifier: MIT
# Every build option. Names are those of DFTracer's earlier releases, so that existing build scripts keep working.
# An option of a part that this version does not have is refused when it is switched on: it is never ignored.

option(DFTRACER_ENABLE_TESTS "Build the tests (needs GoogleTest)" OFF)
option(DFTRACER_BUILD_EXAMPLES "Build the programs of examples/" ${DFTRACER_ENABLE_TESTS})
option(DFTRACER_BUILD_BENCHMARKS "Build bench/ (needs Google Benchmark)" OFF)
option(DFTRACER_WARNINGS_AS_ERRORS "The earlier name of DFTRACER_WERROR" OFF)
option(DFTRACER_WERROR "Warnings are errors" ${DFTRACER_WARNINGS_AS_ERRORS})
option(DFTRACER_LIBDIR_AS_LIB "Install libraries into lib, whatever the system's habit is" OFF)
option(DFTRACER_COVERAGE "Instrument for gcov" OFF)
option(DFTRACER_FUZZ "Build the fuzzers with libFuzzer (needs clang)" OFF)
set(DFTRACER_SANITIZE "" CACHE STRING "Sanitizers, a list of address, undefined, thread")
set(DFTRACER_BUILD_TYPE "" CACHE STRING "Release, Debug, RelWithDebInfo or PROFILE; the same as CMAKE_BUILD_TYPE")
set(DFTRACER_COMPRESSOR "" CACHE STRING "isal, libdeflate or zlib; empty takes the first that is found")
set(DFTRACER_ISAL_ROOT "" CACHE PATH "Where scripts/build_isal.sh put ISA-L; empty looks in _deps/isal")
option(DFTRACER_ENABLE_CUDA_TRACING "Trace CUDA (needs the headers cupti.h and cuda.h; nothing is linked)" OFF)
option(DFTRACER_ENABLE_HIP_TRACING "Trace HIP (needs no ROCm; its headers, where found, are compared)" OFF)
option(DFTRACER_ENABLE_DYNAMIC_DETECTION "Switch on what the machine has: CUDA and HIP tracing" OFF)
set(DFTRACER_CUDA_PATH "$ENV{DFTRACER_CUDA_PATH}" CACHE PATH "CUDA toolkit; empty looks in the usual places")
option(DFTRACER_BUILD_PYTHON_BINDINGS "Build the Python package (needs Python's headers, 3.9 or newer)" OFF)
set(DFTRACER_PYTHON_EXE "" CACHE STRING "Python for the generator, the package and the tests; empty takes python3")
set(DFTRACER_PYTHON_SITE "" CACHE STRING "Where the Python package is installed; empty: site-packages under the prefix")

# ---- what this version does not have: name, the value that means off, what it would have been
set(DFTRACER_ABSENT_SWITCHES
  "DFTRACER_ENABLE_MPI|tracing of MPI"
  "DFTRACER_ENABLE_HDF5|tracing of HDF5"
  "DFTRACER_ENABLE_FTRACING|tracing by -finstrument-functions"
  "DFTRACER_ENABLE_PAPI_TRACING|PAPI counters"
  "DFTRACER_ENABLE_VARIORUM|Variorum power counters"
  "DFTRACER_ENABLE_NATIVE_SCRIPT|the dftracer_* scripts (the dftracer command takes their place)"
  "DFTRACER_GENERATE_INTERFACES|generation of interfaces from system headers"
  "DFTRACER_INSTALL_DEPENDENCIES|building of dependencies (autobuild.sh installs them)"
  "DFTRACER_USE_CLANG_LIBCXX|building against libc++"
  "DFTRACER_ENABLE_DLIO_BENCHMARK_TESTS|the DLIO benchmark tests"
  "DFTRACER_ENABLE_PAPER_TESTS|the paper's tests")
set(DFTRACER_ABSENT_VALUES
  "DFTRACER_MPI_IMPL|tracing of MPI"
  "DFTRACER_TEST_LD_LIBRARY_PATH|a library path for its tests"
  "DFTRACER_MPI_TEST_LAUNCHER|tracing of MPI"
  "DFTRACER_MPI_TEST_LAUNCHER_FLAGS|tracing of MPI")

function(dft_refuse option part)
  message(FATAL_ERROR "${option}=${${option}}: this version of DFTracer does not have ${part} yet. "
    "Leave ${option} out, or set it to what switches it off.")
endfunction()

function(dft_refuse_absent)
  foreach(row IN LISTS DFTRACER_ABSENT_SWITCHES)
    string(REGEX MATCH "^([^|]+)\\|(.*)$" _ "${row}")
    set(name ${CMAKE_MATCH_1})
    set(part "${CMAKE_MATCH_2}")
    option(${name} "Not in this version" OFF)
    if(${name})
      dft_refuse(${name} "${part}")
    endif()
  endforeach()
  foreach(row IN LISTS DFTRACER_ABSENT_VALUES)
    string(REGEX MATCH "^([^|]+)\\|(.*)$" _ "${row}")
    set(name ${CMAKE_MATCH_1})
    set(part "${CMAKE_MATCH_2}")
    set(${name} "" CACHE STRING "Not in this version")
    if(NOT "${${name}}" STREQUAL "")
      dft_refuse(${name} "${part}")
    endif()
  endforeach()
  option(DFTRACER_DISABLE_HWLOC "hwloc is not used in this version" ON)
  if(NOT DFTRACER_DISABLE_HWLOC)
    dft_refuse(DFTRACER_DISABLE_HWLOC "hwloc")
  endif()
  set(DFTRACER_BUILD_VARIORUM "AUTO" CACHE STRING "AUTO, ALWAYS or NEVER; Variorum is not used in this version")
  if(NOT DFTRACER_BUILD_VARIORUM MATCHES "^(AUTO|NEVER)$")
    dft_refuse(DFTRACER_BUILD_VARIORUM "Variorum power counters")
  endif()
  option(BUILD_SHARED_LIBS "DFTracer's libraries are shared" ON)
  if(NOT BUILD_SHARED_LIBS)
    dft_refuse(BUILD_SHARED_LIBS "static libraries")
  endif()
endfunction()

# A mistyped -DDFTRACER_... stays without a type in the cache, since nothing declares it.
function(dft_refuse_unknown)
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name IN LISTS names)
    if(name MATCHES "^DFTRACER_")
      get_property(type CACHE ${name} PROPERTY TYPE)
      if(type STREQUAL "UNINITIALIZED")
        message(FATAL_ERROR "${name}: DFTracer has no such build option. cmake/options.cmake lists them all.")
      endif()
    endif()
  endforeach()
endfunction()

function(dft_choose_build_type)
  set(type "${DFTRACER_BUILD_TYPE}")
  if(type STREQUAL "PROFILE")
    set(type Debug)
    set(DFTRACER_COVERAGE ON PARENT_SCOPE)
  elseif(NOT type MATCHES "^(Release|Debug|RelWithDebInfo|MinSizeRel|)$")
    message(FATAL_ERROR "DFTRACER_BUILD_TYPE=${type}: accepted are Release, Debug, RelWithDebInfo, PROFILE")
  endif()
  if(type STREQUAL "" AND CMAKE_BUILD_TYPE STREQUAL "")
    set(type Release)
  endif()
  if(NOT type STREQUAL "")
    set(CMAKE_BUILD_TYPE ${type} CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
  endif()
endfunction()

function(dft_instrument)
  # No path of the build machine in the product.
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -ffunction-sections -fdata-sections)
  foreach(sanitizer IN LISTS DFTRACER_SANITIZE)
    if(NOT sanitizer MATCHES "^(address|undefined|thread)$")
      message(FATAL_ERROR "DFTRACER_SANITIZE=${DFTRACER_SANITIZE}: accepted are address, undefined, thread, as a list")
    endif()
  endforeach()
  if("address" IN_LIST DFTRACER_SANITIZE AND "thread" IN_LIST DFTRACER_SANITIZE)
    message(FATAL_ERROR "DFTRACER_SANITIZE=${DFTRACER_SANITIZE}: address and thread exclude each other")
  endif()
  if(DFTRACER_SANITIZE)
    list(JOIN DFTRACER_SANITIZE "," joined)
    # -O1 and line tables only: checks everywhere make -O2 several times as slow to compile.
    add_compile_options(-fsanitize=${joined} -fno-omit-frame-pointer -O1 -g1)
    add_link_options(-fsanitize=${joined})
    if("undefined" IN_LIST DFTRACER_SANITIZE)
      add_compile_options(-fno-sanitize-recover=undefined)
    endif()
  endif()
  if(DFTRACER_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic -O0 -g)
    add_link_options(--coverage)
  endif()
  if(DFTRACER_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "DFTRACER_FUZZ=ON needs clang++ (libFuzzer); CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER}")
  endif()
endfunction()

dft_refuse_absent()
cmake_language(DEFER CALL dft_refuse_unknown)
dft_choose_build_type()
dft_instrument()
if(DFTRACER_LIBDIR_AS_LIB)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()

# SPDX-License-Identifier: MIT
# HIP tracing needs nothing of ROCm: src/sources/gpu/rocprof has its own declarations of rocprofiler-sdk. Where the SDK's
# headers are found, layout_proofs.cc holds the declarations against them. dft_detect_hip() sets
#   DFT_HAS_HIP_TRACING   1 when HIP tracing is built, else 0; by DFTRACER_ENABLE_DYNAMIC_DETECTION only with an SDK
#   DFT_ROCPROF_INCLUDE   the include folder with rocprofiler-sdk/rocprofiler.h that is compared, empty for none
# Looked at: ROCM_PATH of CMake or the environment, and no other place when that is set; else CMAKE_PREFIX_PATH, /opt/rocm.

function(dft_find_rocprofiler_sdk out_include out_looked)
  set(rocm "${ROCM_PATH}")
  if(rocm STREQUAL "")
    set(rocm "$ENV{ROCM_PATH}")
  endif()
  set(roots "${rocm}")
  if(rocm STREQUAL "")
    set(roots ${CMAKE_PREFIX_PATH} ${DFT_ROCM_DEFAULT_ROOT})
  endif()
  set(${out_include} "" PARENT_SCOPE)
  set(${out_looked} "${roots}" PARENT_SCOPE)
  foreach(root IN LISTS roots)
    if(EXISTS "${root}/include/rocprofiler-sdk/rocprofiler.h")
      set(${out_include} "${root}/include" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(dft_read_rocprofiler_version out include)
  set(version "of unknown release")
  if(EXISTS "${include}/rocprofiler-sdk/version.h")
    file(STRINGS "${include}/rocprofiler-sdk/version.h" lines
      REGEX "^#define[ \t]+ROCPROFILER_VERSION_(MAJOR|MINOR|PATCH)[ \t]+[0-9]+")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." version)
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# The headers need those of HIP and HSA beside them; without these there is nothing to compare with. The text names the
# folder: a compiler cache that leaves folders out of its key would give the answer of another one.
function(dft_compiles_rocprofiler out include)
  file(WRITE ${PROJECT_BINARY_DIR}/gen/rocprofiler_headers.cc
    "// ${include}\n"
    "#include <rocprofiler-sdk/registration.h>\n#include <rocprofiler-sdk/rocprofiler.h>\nint main() { return 0; }\n")
  try_compile(good ${PROJECT_BINARY_DIR}/gen/rocprofiler_headers ${PROJECT_BINARY_DIR}/gen/rocprofiler_headers.cc
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${include}" COMPILE_DEFINITIONS -D__HIP_PLATFORM_AMD__=1
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  set(${out} ${good} PARENT_SCOPE)
endfunction()

macro(dft_detect_hip)
  set(DFT_HAS_HIP_TRACING 0)
  set(DFT_ROCPROF_INCLUDE "")
  if(DFTRACER_ENABLE_HIP_TRACING OR DFTRACER_ENABLE_DYNAMIC_DETECTION)
    set(DFT_HAS_HIP_TRACING 1)
    dft_find_rocprofiler_sdk(DFT_ROCPROF_INCLUDE DFT_ROCPROF_LOOKED)
    if(DFT_ROCPROF_INCLUDE STREQUAL "" AND NOT DFTRACER_ENABLE_HIP_TRACING)
      set(DFT_HAS_HIP_TRACING 0)
      message(STATUS "[DFTRACER] HIP tracing is left out: rocprofiler-sdk was not found")
    elseif(DFT_ROCPROF_INCLUDE STREQUAL "")
      message(STATUS "[DFTRACER] HIP tracing: built-in declarations of rocprofiler-sdk (no SDK in: ${DFT_ROCPROF_LOOKED})")
    else()
      dft_read_rocprofiler_version(DFT_ROCPROF_VERSION "${DFT_ROCPROF_INCLUDE}")
      dft_compiles_rocprofiler(DFT_ROCPROF_COMPILES "${DFT_ROCPROF_INCLUDE}")
      if(DFT_ROCPROF_COMPILES)
        message(STATUS "[DFTRACER] HIP tracing: built-in declarations, held against rocprofiler-sdk "
          "${DFT_ROCPROF_VERSION} in ${DFT_ROCPROF_INCLUDE}")
      else()
        message(STATUS "[DFTRACER] HIP tracing: built-in declarations; the headers of rocprofiler-sdk "
          "${DFT_ROCPROF_VERSION} in ${DFT_ROCPROF_INCLUDE} do not compile and are not compared")
        set(DFT_ROCPROF_INCLUDE "")
      endif()
    endif()
  endif()
endmacro()

if(NOT DEFINED DFT_ROCM_DEFAULT_ROOT)
  set(DFT_ROCM_DEFAULT_ROOT /opt/rocm)
endif()

# SPDX-License-Identifier: MIT
# The detection of CUDA without a project around it, for tests and for scripts/cuda_matrix.py:
#   cmake -D... [-DDECLARATIONS=FILE] -P test/cuda/detect.cmake
# Prints NAME=VALUE lines of what was found; with DECLARATIONS also writes the list for layout_proofs.cc.
cmake_minimum_required(VERSION 3.24)
get_filename_component(PROJECT_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(option DFTRACER_ENABLE_CUDA_TRACING DFTRACER_ENABLE_DYNAMIC_DETECTION DFTRACER_CUDA_PATH)
  if(NOT DEFINED ${option})
    set(${option} "")
  endif()
endforeach()
include(${PROJECT_SOURCE_DIR}/cmake/cuda.cmake)
dft_detect_cuda()
foreach(name DFT_HAS_CUDA_TRACING DFT_CUDA_ROOT DFT_CUPTI_INCLUDE DFT_CUDA_INCLUDE DFT_CUPTI_LIBDIR DFT_CUDA_VERSION
    DFT_CUDA_VERSION_MAJOR DFT_CUDA_VERSION_MINOR DFT_CUDA_VERSION_PATCH)
  message(STATUS "${name}=${${name}}")
endforeach()
if(DECLARATIONS)
  include(${PROJECT_SOURCE_DIR}/cmake/cupti_declarations.cmake)
  dft_list_cupti_declarations(${DECLARATIONS})
endif()

# SPDX-License-Identifier: MIT
# The two libraries that live inside traced programs, put together from the layer archives.
#   libdftracer_core     objects of api, session, sources/io and intercept (whose tables preload needs), everything
#                        below them from the archives
#   libdftracer_preload  objects of preload; finds core beside itself
# Only documented names leave them (cmake/exports; test/hygiene holds the real lists against committed ones), and
# nothing but glibc is needed: the C++ runtime and all dependencies are inside, hidden.

function(dft_injected_library target map)
  cmake_parse_arguments(L "" "" "OBJECTS;LINK" ${ARGN})
  set(objects)
  foreach(layer IN LISTS L_OBJECTS)
    list(APPEND objects $<TARGET_OBJECTS:dft_${layer}>)
  endforeach()
  add_library(${target} SHARED ${objects})
  if(map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  if(NOT SKBUILD)  # a wheel holds no links
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()
  target_link_libraries(${target} PRIVATE ${L_LINK})
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:-z,relro,-z,now
    LINKER:--gc-sections LINKER:--build-id LINKER:--as-needed)
  if(NOT DFTRACER_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,defs)
  endif()
  add_custom_command(TARGET ${target} POST_BUILD COMMENT "" VERBATIM
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:${target}>
      ${PROJECT_BINARY_DIR}/lib/lib${target}_dbg.so)
endfunction()

function(dft_shared_libraries)
  foreach(layer api session preload)
    if(NOT TARGET dft_${layer})
      message(FATAL_ERROR "src/${layer}/CMakeLists.txt does not define dft_${layer}")
    endif()
  endforeach()
  dft_injected_library(dftracer_core ${PROJECT_SOURCE_DIR}/cmake/exports/core.map
    OBJECTS api session io intercept LINK dft_api dft_session)
  target_include_directories(dftracer_core INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(preload_map)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(preload_map ${PROJECT_SOURCE_DIR}/cmake/exports/preload.map)
  endif()
  dft_injected_library(dftracer_preload "${preload_map}"
    OBJECTS preload LINK dft_preload dftracer_core)
endfunction()

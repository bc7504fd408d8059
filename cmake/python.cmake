# SPDX-License-Identifier: MIT
# How the Python package is built: by pip (scikit-build-core, which sets SKBUILD), or as part of an installation.
#
#   pip           the prefix is the package's own folder: dftracer/{lib64,include,bin}, the module beside them. A wheel
#                 holds no links, so the libraries have one name each. The command goes to the scripts, too, and finds the
#                 libraries in the site-packages of whichever Python the environment has, wherever that was moved.
#   installation  <libdir>/pythonX.Y/site-packages under the prefix, or DFTRACER_PYTHON_SITE.
set(DFT_PYTHON_COMPONENT Development.Module)
if(NOT Python3_EXECUTABLE AND DFT_PYTHON)
  set(Python3_EXECUTABLE ${DFT_PYTHON})
endif()

function(dft_python_places)
  if(SKBUILD)
    set(DFT_PYTHON_DESTINATION . PARENT_SCOPE)
    set(DFT_PYTHON_LIBRARIES lib64 PARENT_SCOPE)
    return()
  endif()
  set(site "${DFTRACER_PYTHON_SITE}")
  if(site STREQUAL "")
    set(site ${CMAKE_INSTALL_LIBDIR}/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
  endif()
  set(DFT_PYTHON_DESTINATION ${site}/dftracer PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH site BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE folder)
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE libraries)
  file(RELATIVE_PATH way ${folder}/dftracer ${libraries})
  set(DFT_PYTHON_LIBRARIES ${way} PARENT_SCOPE)
endfunction()

# The command in a wheel.
function(dft_command_in_wheel)
  set(places "$ORIGIN/../lib64")
  foreach(minor RANGE 9 20)
    foreach(libdir lib lib64)
      list(APPEND places "$ORIGIN/../${libdir}/python3.${minor}/site-packages/dftracer/lib64")
    endforeach()
    list(APPEND places "$ORIGIN/../lib/python3.${minor}/dist-packages/dftracer/lib64")
  endforeach()
  set_target_properties(dftracer PROPERTIES INSTALL_RPATH "${places}")
  install(TARGETS dftracer RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT scripts)
  get_target_property(kind simdjson::simdjson TYPE)
  if(kind STREQUAL "SHARED_LIBRARY")
    install(FILES $<TARGET_SONAME_FILE:simdjson::simdjson> DESTINATION lib64)
  endif()
endfunction()

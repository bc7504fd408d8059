# SPDX-License-Identifier: MIT
# What a user of the installed (or only built) product sees: headers, libraries, the command, find_package, pkg-config
# and the modulefile. The version is project()'s, in the top CMakeLists.txt, and nowhere else.
include(CMakePackageConfigHelpers)

set(DFT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/dftracer)
if(SKBUILD)  # lib64, where annotated codes look for the libraries, is not where CMake looks on every system
  set(DFT_CMAKE_DIR share/cmake/dftracer)
endif()

foreach(switch MPI HDF5 FTRACING PAPI_TRACING VARIORUM)
  set(DFT_HAS_${switch} 0)
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/dftracer_config.hpp.in
  ${PROJECT_BINARY_DIR}/include/dftracer/dftracer_config.hpp @ONLY)

# pkg-config and the modulefile find everything from where they lie, so that an installed tree can be moved.
set(DFT_PC_UP "")
string(REPLACE "/" ";" parts "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
foreach(part IN LISTS parts)
  string(APPEND DFT_PC_UP "/..")
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(DFT_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(DFT_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
  set(DFT_LUA_LIBDIR "\"${CMAKE_INSTALL_LIBDIR}\"")
else()
  set(DFT_PC_PREFIX "\${pcfiledir}${DFT_PC_UP}")
  set(DFT_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(DFT_LUA_LIBDIR "pathJoin(root, \"${CMAKE_INSTALL_LIBDIR}\")")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/dftracer.pc.in ${PROJECT_BINARY_DIR}/dftracer.pc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/dftracer.lua.in ${PROJECT_BINARY_DIR}/dftracer-${PROJECT_VERSION}.lua @ONLY)

write_basic_package_version_file(${PROJECT_BINARY_DIR}/dftracer-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)

# ---- install tree
set(PACKAGE_INCLUDE_DIRS ${CMAKE_INSTALL_INCLUDEDIR})
set(PACKAGE_LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/dftracer-config.cmake.in
  ${PROJECT_BINARY_DIR}/install-tree/dftracer-config.cmake INSTALL_DESTINATION ${DFT_CMAKE_DIR}
  PATH_VARS PACKAGE_INCLUDE_DIRS PACKAGE_LIBRARY_DIR)
install(FILES ${PROJECT_BINARY_DIR}/install-tree/dftracer-config.cmake
  ${PROJECT_BINARY_DIR}/dftracer-config-version.cmake DESTINATION ${DFT_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/dftracer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/dftracer-${PROJECT_VERSION}.lua DESTINATION etc/modulefiles)
if(EXISTS ${PROJECT_SOURCE_DIR}/include/dftracer)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dftracer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(FILES ${PROJECT_BINARY_DIR}/include/dftracer/dftracer_config.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dftracer)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dftracer)

# ---- build tree: the same file over the build's folders (find_package(dftracer PATHS <build>))
set(PACKAGE_INCLUDE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
set(PACKAGE_LIBRARY_DIR ${PROJECT_BINARY_DIR}/lib)
set(PACKAGE_PACKAGE_INCLUDE_DIRS "${PACKAGE_INCLUDE_DIRS}")
set(PACKAGE_PACKAGE_LIBRARY_DIR "${PACKAGE_LIBRARY_DIR}")
set(PACKAGE_INIT "")
configure_file(${PROJECT_SOURCE_DIR}/cmake/dftracer-config.cmake.in ${PROJECT_BINARY_DIR}/dftracer-config.cmake @ONLY)

foreach(name core preload)
  if(TARGET dftracer_${name})
    install(TARGETS dftracer_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    if(NOT SKBUILD)
      install(FILES ${PROJECT_BINARY_DIR}/lib/libdftracer_${name}_dbg.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  endif()
endforeach()
if(TARGET dftracer)
  install(TARGETS dftracer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

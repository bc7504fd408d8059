# SPDX-License-Identifier: MIT
# How the Python package is built: by pip (scikit-build-core, which sets SKBUILD), or as part of an installation.
# DFT_PYTHON_LIBDIR is where the module finds the libraries, relative to its own folder.
set(DFT_PYTHON_LIBDIR lib64)
set(DFT_PYTHON_COMPONENT Development.Module)
if(NOT Python3_EXECUTABLE AND DFT_PYTHON)
  set(Python3_EXECUTABLE ${DFT_PYTHON})
endif()

# SPDX-License-Identifier: MIT
"""The build backend of pyproject.toml: scikit-build-core, with the build variables of DFTracer's earlier releases.

Every build option of cmake/options.cmake may stand in the environment by its name, as for autobuild.sh:
DFTRACER_ENABLE_CUDA_TRACING=ON pip install --no-binary dftracer dftracer. Besides: DFTRACER_CMAKE_ARGS (more arguments for
cmake, appended last), JOBS, DFTRACER_BUILD_DEPENDENCIES=1 (builds ISA-L first, from PyPI's source package).
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

from scikit_build_core import build as _build

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of setup.py's time: where pip installs is pip's to say (--target, --prefix, --user).
_NOT_HERE = ("DFTRACER_INSTALL_DIR", "DFTRACER_PYTHON_SITE", "DFT_LOGGER_USER", "DFTRACER_INSTALL_DEPS_ONLY")
_SET_BY_PYPROJECT = ("DFTRACER_BUILD_PYTHON_BINDINGS",)


def _options() -> list:
    text = (ROOT / "cmake" / "options.cmake").read_text()
    names = set(re.findall(r"DFTRACER_[A-Z0-9_]+", text)) - set(_SET_BY_PYPROJECT) - set(_NOT_HERE)
    return sorted(n for n in names if not n.startswith("DFTRACER_ABSENT_") and not n.endswith("_"))


def _build_dependencies() -> None:
    if os.environ.get("DFTRACER_BUILD_DEPENDENCIES", "0") not in ("1", "ON", "on", "true"):
        return
    target = ROOT / "_deps" / "isal"
    if not target.exists():
        subprocess.run(["bash", str(ROOT / "scripts" / "build_isal.sh"), str(target)], check=True)


def _prepare() -> None:
    for name in _NOT_HERE:
        if os.environ.get(name):
            print(f"dftracer: {name} is not used: pip decides where it installs (--target, --prefix, --user)", file=sys.stderr)
    arguments = [f"-D{name}={os.environ[name]}" for name in _options() if os.environ.get(name)]
    more = os.environ.get("DFTRACER_CMAKE_ARGS", "")
    arguments += [word for part in more.split(";") for word in shlex.split(part)]
    if arguments:
        before = os.environ.get("SKBUILD_CMAKE_ARGS")
        os.environ["SKBUILD_CMAKE_ARGS"] = ";".join(([before] if before else []) + arguments)
    if os.environ.get("JOBS"):
        os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", os.environ["JOBS"])


def get_requires_for_build_sdist(config_settings=None):
    return _build.get_requires_for_build_sdist(config_settings)


def get_requires_for_build_wheel(config_settings=None):
    return _build.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    return _build.get_requires_for_build_editable(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    return _build.build_sdist(sdist_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build_dependencies()
    _prepare()
    return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _build_dependencies()
    _prepare()
    return _build.build_editable(wheel_directory, config_settings, metadata_directory)

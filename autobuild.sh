#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds DFTracer on this machine from a fresh clone, system packages included. ./autobuild.sh --help lists the flags.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- what the system must have: probe (a command, py:module or <header>), Debian package, what for
needs_to_build=(
  "make|make|ISA-L" "cc|gcc|C compiler" "c++|g++|C++ compiler" "cmake|cmake|build" "ninja|ninja-build|build"
  "nasm|nasm|ISA-L" "pkg-config|pkg-config|package file" "python3|python3|generator"
  "py:pip|python3-pip|fetches ISA-L" "<yaml.h>|libyaml-dev|configuration file"
  "<libdeflate.h>|libdeflate-dev|compression without ISA-L" "<zlib.h>|zlib1g-dev|reading traces"
  "<libiberty/demangle.h>|libiberty-dev|long kernel names" "<simdjson.h>|libsimdjson-dev|reading traces" "<CLI/CLI.hpp>|libcli11-dev|the dftracer command"
)
needs_for_python=("glob:/usr/include/python3.*/Python.h|python3-dev|Python package" "py:ensurepip|python3-venv|Python package")
needs_to_test=(
  "<gtest/gtest.h>|libgtest-dev|unit tests" "<benchmark/benchmark.h>|libbenchmark-dev|benchmarks"
  "py:ensurepip|python3-venv|tests" "clang++|clang|second compiler"
  "glob:/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a|libclang-rt-dev|fuzzers"
  "clang-format|clang-format|format gate" "clang-tidy|clang-tidy|lint gate"
  "valgrind|valgrind|instruction budgets" "shellcheck|shellcheck|script gate"
  "strace|strace|I/O tests" "rsync|rsync|I/O tests" "sqlite3|sqlite3|I/O tests" "git|git|I/O tests"
  "glob:/usr/lib/*/libjemalloc.so.2|libjemalloc2|I/O tests" "ccache|ccache|tests that build the package again"
)
# Not every distribution has these; the tests that need them say that they are skipped.
wanted_to_test=("glob:/usr/lib/python3/dist-packages/torch/__init__.py|python3-torch|PyTorch tests"
  "glob:/usr/lib/python3/dist-packages/PIL/__init__.py|python3-pil|image tests"
  "glob:/usr/lib/python3/dist-packages/h5py/__init__.py|python3-h5py|HDF5 tests")

usage() {
  cat <<'TEXT'
Usage: ./autobuild.sh [flags]
Without --demo or --test: builds and installs into --install-prefix.

What to do
  --demo                 build, trace a real program, check the trace and print its summary
  --test                 build once and run every test
  --test-long            the same with whole event counts (tens of minutes)
  --dry-run              print the commands, run none
  -h, --help             this text

Where and how
  --build-dir DIR        build folder (default: build/autobuild)
  --install-prefix DIR   where to install (default: install)
  --install-mode MODE    cmake, or pip: the Python package with everything in it, into the Python of --python
  --build-type TYPE      Release, Debug, RelWithDebInfo or PROFILE (default: Release)
  --with-c-compiler CC, --with-cxx-compiler CXX, --python PATH
  --enable-tests         build the tests, run none
  --enable-coverage      PROFILE and the tests
  --enable-benchmarks    build bench/
  --enable-cuda          trace CUDA (needs the headers of a toolkit; nothing of it is linked)
  --with-cuda DIR        the same with the toolkit in DIR, and in no other place
  --enable-hip           trace HIP (needs nothing of ROCm, neither to be built nor to be installed)
  --enable-dynamic-detection  switch on what the machine has: CUDA and HIP tracing
  --jobs N               parallel jobs (default: all cores)
  --no-deps, --skip-deps install no system package and build no dependency
  --clean                remove the build folder first
  --clean-install        remove the install prefix first
  --quiet, -v, --verbose

Parts that this version does not have; each flag is refused
  --enable-mpi, --with-mpi DIR, --enable-hdf5, --with-hdf5 DIR, --enable-ftracing, --enable-papi,
  --enable-variorum, --build-variorum MODE, --generate-interfaces, --enable-hwloc, --enable-dlio-tests,
  --enable-paper-tests, --with-dfanalyzer

Environment: BUILD_DIR, INSTALL_PREFIX, PYTHON_EXE, JOBS (or CMAKE_BUILD_PARALLEL_LEVEL); DFTRACER_CMAKE_ARGS (more
arguments for cmake, appended last); any build option of cmake/options.cmake by its name.
TEXT
}

say() { [[ $quiet == 1 ]] || printf '%s\n' "== $*"; }
fail() { printf 'autobuild: %s\n' "$*" >&2; exit 1; }
usage_error() { printf 'autobuild: %s\n' "$*" >&2; usage >&2; exit 2; }
not_here() { printf 'autobuild: %s: this version of DFTracer does not have %s yet\n' "$1" "$2" >&2; exit 2; }

run() {
  if [[ $dry_run == 1 || $verbose == 1 ]]; then printf '+ %s\n' "${*@Q}"; fi
  [[ $dry_run == 1 ]] || "$@"
}

# ---- flags
action=install
build_dir=${BUILD_DIR:-$root/build/autobuild}
prefix=${INSTALL_PREFIX:-$root/install}
build_type=${DFTRACER_BUILD_TYPE:-Release}
python=${PYTHON_EXE:-}
jobs=${JOBS:-${CMAKE_BUILD_PARALLEL_LEVEL:-}}
c_compiler='' cxx_compiler=''
with_tests=0 with_benchmarks=0 with_deps=1 long=0
clean=0 clean_install=0 dry_run=0 quiet=0 verbose=0

value() { [[ $# -ge 2 && -n $2 ]] || usage_error "$1 needs a value"; printf '%s' "$2"; }

parse_flags() {
  while [[ $# -gt 0 ]]; do
    local flag=$1 mode
    if [[ $flag == --*=* ]]; then
      set -- "${flag%%=*}" "${flag#*=}" "${@:2}"
      flag=$1
    fi
    case $flag in
      -h | --help) usage; exit 0 ;;
      --demo) action=demo ;;
      --test) action='test' ;;
      --test-long) action='test'; long=1 ;;
      --dry-run) dry_run=1 ;;
      --build-dir) build_dir=$(value "$@"); shift ;;
      --install-prefix) prefix=$(value "$@"); shift ;;
      --install-mode)
        mode=$(value "$@")
        case $mode in
          cmake) ;;
          pip) [[ $action != install ]] || action=pip ;;
          *) usage_error "--install-mode $mode: accepted are cmake, pip" ;;
        esac
        shift ;;
      --build-type)
        build_type=$(value "$@")
        [[ $build_type =~ ^(Release|Debug|RelWithDebInfo|PROFILE)$ ]] ||
          usage_error "--build-type $build_type: accepted are Release, Debug, RelWithDebInfo, PROFILE"
        shift ;;
      --python) python=$(value "$@"); shift ;;
      --with-c-compiler) c_compiler=$(value "$@"); shift ;;
      --with-cxx-compiler) cxx_compiler=$(value "$@"); shift ;;
      --enable-tests) with_tests=1 ;;
      --enable-coverage) with_tests=1; build_type=PROFILE ;;
      --enable-benchmarks) with_benchmarks=1 ;;
      --enable-cuda) export DFTRACER_ENABLE_CUDA_TRACING=ON ;;
      --with-cuda)
        DFTRACER_CUDA_PATH=$(value "$@")
        DFTRACER_CUDA_PATH=$(realpath -m -- "$DFTRACER_CUDA_PATH")
        export DFTRACER_ENABLE_CUDA_TRACING=ON DFTRACER_CUDA_PATH
        shift ;;
      --enable-hip) export DFTRACER_ENABLE_HIP_TRACING=ON ;;
      --enable-dynamic-detection) export DFTRACER_ENABLE_DYNAMIC_DETECTION=ON ;;
      --jobs | -j)
        jobs=$(value "$@")
        [[ $jobs =~ ^[1-9][0-9]*$ ]] || usage_error "--jobs $jobs: a number above 0 is needed"
        shift ;;
      --no-deps | --skip-deps) with_deps=0 ;;
      --clean) clean=1 ;;
      --clean-install) clean_install=1 ;;
      --quiet | --quite) quiet=1 ;;
      -v | --verbose) verbose=1 ;;
      --enable-mpi | --with-mpi) not_here "$flag" "tracing of MPI" ;;
      --enable-hdf5 | --with-hdf5 | --skip-hdf5-trace-ci) not_here "$flag" "tracing of HDF5" ;;
      --enable-ftracing) not_here "$flag" "tracing by -finstrument-functions" ;;
      --enable-papi) not_here "$flag" "PAPI counters" ;;
      --enable-variorum | --build-variorum) not_here "$flag" "Variorum power counters" ;;
      --generate-interfaces) not_here "$flag" "generation of interfaces from system headers" ;;
      --enable-hwloc) not_here "$flag" "hwloc" ;;
      --enable-dlio-tests | --enable-paper-tests) not_here "$flag" "those tests" ;;
      --with-dfanalyzer) not_here "$flag" "installation of other projects" ;;
      --skip-smoke-test) not_here "$flag" "the telemetry service, so no test of it" ;;
      --run-valgrind-ctest | --valgrind-ctest-timeout | --run-valgrind-dlio | --skip-valgrind-dlio)
        not_here "$flag" "tests under valgrind (scripts/gates asan tsan takes their place)" ;;
      --skip-build-run-tests | --skip-build | --run-pr-ci-local | --list-steps | --skip-to-step)
        not_here "$flag" "that step (.ci/run runs what CI runs)" ;;
      *) usage_error "unknown flag: $flag" ;;
    esac
    shift
  done
  [[ -n $jobs ]] || jobs=$(nproc)
  build_dir=$(realpath -m -- "$build_dir")
  prefix=$(realpath -m -- "$prefix")
}

# ---- system packages
present() {
  case $1 in
    glob:*) compgen -G "${1#glob:}" >/dev/null ;;
    py:*) "${python:-python3}" -c "import ${1#py:}" 2>/dev/null ;;
    '<'*) [[ -e /usr/include/${1:1:-1} || -e /usr/local/include/${1:1:-1} ]] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

install_packages() {
  local rows=("${needs_to_build[@]}") packages=() described=() row probe package what
  [[ $action == test || $with_tests == 1 || $with_benchmarks == 1 ]] && rows+=("${needs_to_test[@]}")
  [[ $action == test || $action == pip ]] && rows+=("${needs_for_python[@]}")
  for row in "${rows[@]}"; do
    IFS='|' read -r probe package what <<<"$row"
    present "$probe" && continue
    packages+=("$package")
    described+=("  $package ($what)")
  done
  [[ ${#packages[@]} -gt 0 ]] || return 0
  say "missing system packages: ${packages[*]}"
  if ! command -v apt-get >/dev/null; then
    printf '%s\n' "autobuild: install what gives these (Debian's package names), then run this again with --no-deps:" \
      "${described[@]}" >&2
    exit 1
  fi
  local as_root=()
  if [[ $EUID -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      printf '%s\n' "autobuild: this needs root once: apt-get install ${packages[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  run "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
    say "apt-get update failed; going on with the package lists that are here"
  run "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}"
}

install_wanted_packages() {
  local row probe package what as_root=()
  command -v apt-get >/dev/null || return 0
  [[ $EUID -eq 0 ]] || { command -v sudo >/dev/null && as_root=(sudo); }
  for row in "${wanted_to_test[@]}"; do
    IFS='|' read -r probe package what <<<"$row"
    present "$probe" && continue
    run "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" ||
      say "$package cannot be installed: the $what are skipped"
  done
}

build_isal() {
  [[ -n ${DFTRACER_ISAL_ROOT:-} || ${DFTRACER_COMPRESSOR:-isal} != isal ]] && return 0
  say "ISA-L (compression)"
  run bash "$root/scripts/build_isal.sh" "$root/_deps/isal" && return 0
  printf 'autobuild: ISA-L cannot be built here (see above); libdeflate is used, which compresses at a third of the speed\n' >&2
}

make_test_python() {
  local venv=$build_dir/venv
  if [[ ! -x $venv/bin/python ]]; then
    run "${python:-python3}" -m venv "$venv"
  fi
  run "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/test/requirements.txt"
  python=$venv/bin/python
  use_test_cupti
}

# The GPU part is tested everywhere, by replay: without a toolkit of one's own against the headers that PyPI has.
use_test_cupti() {
  local root_of_wheels
  [[ -z ${DFTRACER_ENABLE_CUDA_TRACING:-} && $dry_run == 0 && $(uname -m) == x86_64 ]] || return 0
  run "$python" -m pip install --quiet --disable-pip-version-check -r "$root/test/cuda/requirements.txt" || return 0
  root_of_wheels=$("$python" -c 'import nvidia; print(list(nvidia.__path__)[0] + "/cu13")')
  [[ -e $root_of_wheels/include/cupti.h ]] || return 0
  export DFTRACER_ENABLE_CUDA_TRACING=ON DFTRACER_CUDA_PATH=$root_of_wheels
}

# The tests build the wheel and the source distribution from the same sources: each is compiled once.
use_test_cache() {
  command -v ccache >/dev/null || return 0
  export CCACHE_DIR=${CCACHE_DIR:-$build_dir/ccache} CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
}

# ---- build
configure() {
  local args=(-S "$root" -B "$build_dir" -DDFTRACER_BUILD_TYPE="$build_type" -DCMAKE_INSTALL_PREFIX="$prefix") name
  # The generator cannot change in a folder that is configured already.
  [[ -e $build_dir/CMakeCache.txt ]] || { command -v ninja >/dev/null && args+=(-G Ninja); }
  [[ -n $c_compiler ]] && args+=(-DCMAKE_C_COMPILER="$c_compiler")
  [[ -n $cxx_compiler ]] && args+=(-DCMAKE_CXX_COMPILER="$cxx_compiler")
  [[ -n $python ]] && args+=(-DDFTRACER_PYTHON_EXE="$python")
  [[ $with_tests == 1 ]] && args+=(-DDFTRACER_ENABLE_TESTS=ON)
  [[ $action == test ]] && args+=(-DDFTRACER_BUILD_PYTHON_BINDINGS=ON)
  [[ $with_benchmarks == 1 ]] && args+=(-DDFTRACER_BUILD_BENCHMARKS=ON)
  [[ $action == demo ]] && args+=(-DDFTRACER_BUILD_EXAMPLES=ON)
  while read -r name; do
    [[ -n ${!name:-} && $name != DFTRACER_BUILD_TYPE ]] && args+=("-D$name=${!name}")
  done < <(grep -oE 'DFTRACER_[A-Z0-9_]+' "$root/cmake/options.cmake" | grep -vE '^DFTRACER_ABSENT_|_$' | sort -u)
  local extra=()
  if [[ -n ${DFTRACER_CMAKE_ARGS:-} ]]; then
    IFS=$'; \t\n' read -r -d '' -a extra < <(printf '%s\0' "$DFTRACER_CMAKE_ARGS")
  fi
  run cmake "${args[@]}" "${extra[@]}"
}

build() {
  say "configure ($build_type) in $build_dir"
  if [[ $quiet == 1 ]]; then configure >/dev/null; else configure; fi
  say "build with $jobs jobs"
  run cmake --build "$build_dir" --parallel "$jobs"
}

# ---- actions
demo() {
  local texts=/usr/share/common-licenses out=$build_dir/demo/wordcount
  [[ -d $texts ]] || texts=$root/docs
  say "trace examples/wordcount over $texts"
  run rm -rf "$build_dir/demo"
  run mkdir -p "$build_dir/demo"
  run "$build_dir/bin/dftracer" run -o "$out" -- "$build_dir/examples/wordcount/wordcount" "$texts"
  say "check the trace"
  run "$build_dir/bin/dftracer" validate "$out"
  say "summary"
  run "$build_dir/bin/dftracer" summary "$out"
  say "the trace lies in"
  [[ $dry_run == 1 ]] || ls -l "$out"*.pfw.gz
}

run_tests() {
  say "tests"
  [[ $long == 1 ]] && export DFT_LONG=1
  run ctest --test-dir "$build_dir" --output-on-failure --parallel "$jobs"
}

parse_flags "$@"
cd "$root"
[[ $clean == 1 ]] && run rm -rf "$build_dir"
[[ $clean_install == 1 ]] && run rm -rf "$prefix"
[[ $with_deps == 1 ]] && install_packages
[[ $with_deps == 1 ]] && build_isal
if [[ $action == pip ]]; then
  say "pip install into $("${python:-python3}" -c 'import sys; print(sys.prefix)')"
  export DFTRACER_BUILD_TYPE=$build_type CMAKE_BUILD_PARALLEL_LEVEL=$jobs
  [[ -z $c_compiler ]] || export CC=$c_compiler
  [[ -z $cxx_compiler ]] || export CXX=$cxx_compiler
  [[ ! -d $root/_deps/isal ]] || export DFTRACER_ISAL_ROOT=${DFTRACER_ISAL_ROOT:-$root/_deps/isal}
  run "${python:-python3}" -m pip install "$root"
  exit
fi
if [[ $action == test ]]; then
  [[ $with_deps == 1 ]] && install_wanted_packages
  with_tests=1
  # Tested everywhere: it needs nothing of ROCm.
  export DFTRACER_ENABLE_HIP_TRACING=${DFTRACER_ENABLE_HIP_TRACING:-ON}
  [[ $with_deps == 1 ]] && make_test_python
  use_test_cache
fi
build
case $action in
  demo) demo ;;
  test) run_tests ;;
  install)
    say "install into $prefix"
    run cmake --install "$build_dir" ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Gathers what run_on_gpu.sh needs on a machine without this source tree, compiler or libraries:
#   test/cuda/collect_for_gpu.sh BUILD FOLDER [RELEASE=LIBCUPTI ...]
# RELEASE=LIBCUPTI: copies of other releases of CUPTI, such as 12.0=/path/libcupti.so.12, for the part `old`.
# Then there: bash FOLDER/run_on_gpu.sh FOLDER OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=$2
shift 2
programs="record_workload workload truth launches peers graph_callbacks"
targets="dftracer_core dftracer_preload dftracer dft_record_cupti dft_bare_cupti"
if [ -d "$build/python" ]; then targets="$targets dftracer_python"; fi
for program in $programs; do targets="$targets dft_cuda_$program"; done
# shellcheck disable=SC2086
cmake --build "$build" --parallel 2 --target $targets
rm -rf "$folder"
mkdir -p "$folder"/{lib,bin,programs,vendor,test/cuda}
cp -a "$build"/lib/libdftracer_*.so* "$folder/lib/"
cp "$build/bin/dftracer" "$folder/bin/"
ldd "$build/bin/dftracer" | awk '/simdjson|isal|yaml/ { print $3 }' | xargs -r cp -L -t "$folder/bin/"
for program in $programs; do cp "$build/test/cuda/dft_cuda_$program" "$folder/programs/$program"; done
cp "$build"/test/cuda/lib{record,bare}_cupti.so "$folder/programs/"
cc -O1 -I"$here/../../include" -I"$build/include" -I"$here/../support" -o "$folder/programs/starts" \
  "$here/programs/starts.c" -L"$folder/lib" -ldftracer_core -Wl,-rpath,"\$ORIGIN/../lib" -ldl
# Where nvcc is at hand, a program as it compiles them.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
  "$nvcc" -std=c++17 -O1 -gencode arch=compute_75,code=compute_75 -o "$folder/programs/runtime_launch" \
    "$here/programs/runtime_launch.cu"
fi
# The name under which record_on_gpu.sh finds them.
ln -s ../../programs/librecord_cupti.so "$folder/test/cuda/librecord_cupti.so"
ln -s ../../programs/record_workload "$folder/test/cuda/dft_cuda_record_workload"
libraries=$(sed -n 's/^DFT_CUPTI_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
for library in libcupti.so.13 libcudart.so.13; do
  for place in "$libraries" /usr/local/cuda/lib64; do
    if [ -e "$place/$library" ]; then cp -L "$place/$library" "$folder/vendor/"; break; fi
  done
done
find "$folder/lib" "$folder/bin" "$folder/programs" -type f -exec strip --strip-unneeded {} \;
cp "$here"/{run_on_gpu.sh,record_on_gpu.sh,gpu_parts.py,gpu_torch_parts.py,gpu_trace.py,check_*.py} "$folder/"
if [ -d "$build/python" ]; then
  cp -aL "$build/python" "$folder/python"
  find "$folder/python" -name __pycache__ -prune -exec rm -rf {} +
  cp "$here/../py/cuda_test.py" "$here/../../examples/pytorch/train.py" "$folder/"
fi
for old in "$@"; do
  mkdir -p "$folder/old/${old%%=*}"
  cp -L "${old#*=}" "$folder/old/${old%%=*}/libcupti.so.${old%%.*}"
done
du -sh "$folder"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the recordings that are committed, on a machine with a GPU, from a build tree with CUDA tracing:
#   test/cuda/record_on_gpu.sh BUILD_DIR OUT_DIR [libcupti.so] [libcudart.so]
# Then, anywhere: copy OUT_DIR/*.cuptirec to test/cuda/recordings, run dft_cuda_replay_test with DFT_UPDATE_GOLDEN=1,
# look at the new files in test/golden/cuda, commit.
set -euo pipefail
build=$1
out=$2
mkdir -p "$out"
[ ! -e "$build/CMakeCache.txt" ] || cmake --build "$build" --target dft_record_cupti dft_cuda_record_workload
[ -n "${3:-}" ] && export RECORD_CUPTI=$3
export CUDA_INJECTION64_PATH=$build/test/cuda/librecord_cupti.so
# Graph mode: one record a launch. Node mode: without kind 51 each node has its own.
RECORD_FILE=$out/h200-graph.cuptirec "$build/test/cuda/dft_cuda_record_workload" ${4:+"$4"}
RECORD_KINDS=8,9,37,10,1,22,2,5,4,38,17,49,50 \
  RECORD_FILE=$out/h200-node.cuptirec "$build/test/cuda/dft_cuda_record_workload" ${4:+"$4"}
ls -l "$out"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that needs an NVIDIA GPU, in one go, within eight minutes:
#   run_on_gpu.sh KIT OUT [PART...]
# KIT is a folder of collect_for_gpu.sh. One line RESULT for each part on stdout; OUT gets results.txt, details and the
# recordings for the replay tests. A part that fails or hangs does not stop the rest. Parts: gpu_parts.py, and those
# of gpu_torch_parts.py, which need PyTorch.
set -u
here=$(cd "$(dirname "$0")" && pwd)
kit=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- machine workload starts runtime truth ends counts rounds start own_io record
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
declare -A limit=([machine]=20 [workload]=110 [starts]=60 [truth]=50 [ends]=60 [counts]=110 [rounds]=120 [start]=45
  [own_io]=20 [runtime]=30 [record]=40 [torch]=240 [cuda_test]=240 [profiler]=200 [quiet]=200 [example]=120 [tail]=150 [idle]=$((${GPU_IDLE:-60} + 90)))
failed=0
for part in "$@"; do
  begin=$SECONDS
  script=gpu_parts.py
  if grep -q "^def $part()" "$here/gpu_torch_parts.py"; then script=gpu_torch_parts.py; fi
  timeout -k 5 "${limit[$part]:-60}" python3 "$here/$script" "$part" "$kit" "$out" > "$out/$part.log" 2>&1
  status=$?
  grep '^RESULT' "$out/$part.log" || { echo "RESULT $part: no result (status $status)"; tail -n 15 "$out/$part.log"; }
  grep -v '^RESULT' "$out/$part.log" | tail -n 8 | cut -c1-600
  echo "  ($part: status $status, $((SECONDS - begin)) s)"
  [ $status -eq 0 ] || failed=$((failed + 1))
done | tee "$out/results.txt"
cd "$out" && tar czf detail.tgz --exclude=detail.tgz --exclude=results.txt . 2> /dev/null
find . -mindepth 1 -maxdepth 1 ! -name detail.tgz ! -name results.txt -exec rm -rf {} +
! grep -qE 'FAILED|no result' results.txt

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds ISA-L's deflate as one static, position-independent archive with hidden symbols:
#   build_isal.sh PREFIX  ->  PREFIX/lib/libisal.a, PREFIX/include/isal/*.h, PREFIX/isal.version
# The source is the `isal` source package of PyPI, pinned by version and hash, since distributions have no static ISA-L.
# Does nothing when PREFIX is up to date. DFTRACER_ISAL_SDIST names a local copy of the package to use instead of pip.
# Exit status: 0 built or up to date; 2 usage; 3 not possible here (the reason is on stderr; libdeflate or zlib serve
# then); 1 anything else.
set -euo pipefail

readonly version=1.9.1
readonly sha256=d210dca02a689ef2af709d2c62d2daac2e36b5d2fa06e6dc0d023c83fee77e91
readonly archive="isal-$version.tar.gz"
# What may be called from outside; everything else becomes local.
readonly api="isal_deflate_stateless isal_deflate_stateless_init isal_deflate isal_deflate_init isal_deflate_reset
isal_inflate isal_inflate_init isal_inflate_reset isal_inflate_stateless crc32_gzip_refl"

cannot() {
  echo "build_isal.sh: $*" >&2
  exit 3
}

need() { command -v "$1" >/dev/null 2>&1 || cannot "$1 was not found (Debian: apt-get install $2)"; }

get_source() {
  local to=$1
  if [[ -n ${DFTRACER_ISAL_SDIST:-} ]]; then
    [[ -r $DFTRACER_ISAL_SDIST ]] || cannot "DFTRACER_ISAL_SDIST=$DFTRACER_ISAL_SDIST cannot be read"
    cp "$DFTRACER_ISAL_SDIST" "$to/$archive"
  else
    need python3 python3
    python3 -m pip --version >/dev/null 2>&1 || cannot "pip was not found (Debian: apt-get install python3-pip)"
    echo "isal==$version --hash=sha256:$sha256" >"$to/requirements.txt"
    python3 -m pip download --quiet --no-deps --no-binary isal --disable-pip-version-check --dest "$to" \
      --requirement "$to/requirements.txt" >"$to/pip.log" 2>&1 ||
      cannot "pip cannot download isal $version: $(grep -v '^ *$' "$to/pip.log" | tail -n 1)"
  fi
  echo "$sha256  $to/$archive" | sha256sum --check --status ||
    cannot "$archive is not the pinned one (expected sha256 $sha256)"
  tar -xzf "$to/$archive" -C "$to"
}

# One object from everything, in which only the API can be seen, and that only inside the library that links it.
combine() {
  local objects=$1
  {
    for name in $api; do echo "extern __attribute__((visibility(\"hidden\"))) char $name;"; done
    echo "__attribute__((visibility(\"hidden\"))) char* const dft_isal_api[] = {"
    for name in $api; do echo "  &$name,"; done
    echo "};"
  } >"$objects/api.c"
  # References that are hidden make the definitions hidden too when both are merged.
  "$cc" -O2 -fPIC -ffunction-sections -fdata-sections -fno-builtin -c "$objects/api.c" -o "$objects/api.o"
  tr ' ' '\n' <<<"$api" >"$objects/api.txt"
  ld -r -o "$objects/merged.o" "$objects"/*.o
  objcopy --keep-global-symbols="$objects/api.txt" --strip-debug "$objects/merged.o" "$objects/isal.o"
  ar rcsD "$objects/libisal.a" "$objects/isal.o"
}

build() {
  local source=$1 objects=$2 cflags="-O2 -fPIC -fvisibility=hidden -DNDEBUG -w -Iinclude -Iigzip -Icrc"
  local c="igzip/igzip.c igzip/hufftables_c.c igzip/igzip_base.c igzip/igzip_icf_base.c igzip/adler32_base.c
    igzip/flatten_ll.c igzip/encode_df.c igzip/igzip_icf_body.c igzip/huff_codes.c igzip/igzip_inflate.c
    crc/crc_base.c crc/crc64_base.c"
  local assembly=""
  cd "$source"
  case $machine in
    x86_64)
      # shellcheck disable=SC2010  # the names are those of a pinned archive
      assembly=$(ls igzip/*.asm crc/*.asm | grep -v -e igzip_perf_misc -e bitbuf2 -e data_struct2 -e heap_macros \
        -e huffman.asm -e inflate_data_structs -e lz0a_const -e options.asm -e stdmac \
        -e igzip_compare_types -e 'igzip_decode_block_stateless.asm' -e 'igzip_update_histogram.asm' \
        -e crc_const_extern)
      ;;
    aarch64)
      c="$c igzip/proc_heap_base.c igzip/aarch64/igzip_multibinary_aarch64_dispatcher.c
        crc/aarch64/crc_aarch64_dispatcher.c"
      # shellcheck disable=SC2010
      assembly=$(ls igzip/aarch64/*.S crc/aarch64/*.S | grep -v -e _common.S)
      ;;
    *) c="$c igzip/igzip_base_aliases.c igzip/proc_heap_base.c crc/crc_base_aliases.c" ;;
  esac
  local file
  for file in $c; do echo "$cc $cflags -c $file -o $objects/$(basename "$file" .c).o"; done >"$objects/commands"
  for file in $assembly; do
    case $file in
      *.asm) echo "nasm -f elf64 -D LINUX -I include/ -I igzip/ -I crc/ $file -o $objects/$(basename "$file" .asm).asm.o" ;;
      *.S) echo "$cc $cflags -D__ASSEMBLY__ -c $file -o $objects/$(basename "$file" .S).asm.o" ;;
    esac
  done >>"$objects/commands"
  xargs -P "${DFTRACER_JOBS:-2}" -I{} sh -c '{}' <"$objects/commands" >"$objects/build.log" 2>&1 || {
    tail -n 20 "$objects/build.log" >&2
    cannot "ISA-L $version does not build with $cc"
  }
  combine "$objects"
}

install_from() {
  local source=$1 objects=$2
  mkdir -p "$prefix/lib" "$prefix/include/isal"
  install -m 644 "$source/include/igzip_lib.h" "$source/include/crc.h" "$source/LICENSE" "$prefix/include/isal/"
  install -m 644 "$objects/libisal.a" "$prefix/lib/libisal.a"
  echo "$stamp" >"$prefix/isal.version"  # last: an interrupted run is not taken for a whole one
}

[[ $# -eq 1 && $1 != -* ]] || {
  echo "usage: build_isal.sh PREFIX" >&2
  exit 2
}
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
machine=$(uname -m)
stamp="$version $sha256 $machine $(sha256sum "${BASH_SOURCE[0]}" | cut -c 1-16)"
readonly prefix machine stamp cc=${CC:-cc}
if [[ -f $prefix/lib/libisal.a && -f $prefix/isal.version && $(<"$prefix/isal.version") == "$stamp" ]]; then
  exit 0
fi
need "$cc" gcc
for tool in ar ld objcopy; do need $tool binutils; done
[[ $machine != x86_64 ]] || need nasm nasm
work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT
get_source "$work"
mkdir "$work/objects"
build "$work/isal-$version/src/isal/isa-l" "$work/objects"
install_from "$work/isal-$version/src/isal/isa-l" "$work/objects"

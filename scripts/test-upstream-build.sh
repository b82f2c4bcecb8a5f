#!/usr/bin/env bash
# Tests of building the upstream C kernel: what is refused and in which words, and what the objects do.
#
#   scripts/test-upstream-build.sh
#
# Needs the sources (THREADX_DIR or ./threadx-src), which it leaves alone. The last line is
# `N passed, N failed`; exits with 0 only if nothing failed.
# Every build has the variables of its own subshell.
# shellcheck disable=SC2030,SC2031
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

case ${1-} in
  '') ;;
  -h | --help) help; exit 0 ;;
  *) die "unknown option $1, see --help" 2 ;;
esac
sources=$(upstream_sources) || die 'no upstream sources: set THREADX_DIR or run scripts/get-threadx.sh'
check_sources "$sources"
sources=$(cd "$sources" && pwd)
say_ignored
find_tools || die 'no tool chain for the firmware: run scripts/setup.sh'
cd "$ROOT"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
ok() { passed=$((passed + 1)); say "ok: $1"; }
bad() { failed=$((failed + 1)); say "FAILED: $1"; }

build() { fw_cargo build --release --package threadx-sys; }

# refused NAME TEXT [VARIABLE=VALUE...]: the build stops with one line of error that holds TEXT.
refused() {
  local name=$1 text=$2 code=0 lines
  shift 2
  # shellcheck disable=SC2163 # the arguments are assignments
  (export "$@"; build) >"$scratch/log" 2>&1 </dev/null || code=$?
  # Cargo indents what the build script wrote to standard error.
  lines=$(sed -n '/--- stderr/,$s/^  error: //p' "$scratch/log")
  if [ "$code" = 0 ]; then
    bad "$name: the build went through"
  elif [ "$(printf '%s\n' "$lines" | wc -l)" != 1 ] || [[ $lines != *"$text"* ]]; then
    bad "$name: expected one line with '$text', got: ${lines:-$(tail -n 3 "$scratch/log")}"
  else
    ok "$name: $lines"
  fi
}

# copy NAME: a checkout of its own to spoil, prints its folder.
copy() {
  local to=$scratch/$1
  mkdir -p "$to/common" "$to/ports"
  cp -r "$sources/common/." "$to/common"
  local port
  for port in cortex_r52 cortex_r5; do
    [ ! -d "$sources/ports/$port/gnu" ] || { mkdir -p "$to/ports/$port" && cp -r "$sources/ports/$port/gnu" "$to/ports/$port/"; }
  done
  printf '%s\n' "$to"
}

# ---- sources ----
if [ ! -e threadx-src ]; then
  refused 'no sources' 'set THREADX_DIR to a checkout of eclipse-threadx/threadx, or run scripts/get-threadx.sh, or build with --features bundled' THREADX_DIR=
fi
refused 'no such folder' 'is not a folder' THREADX_DIR="$scratch/nowhere"
mkdir "$scratch/other" && echo 'another project' >"$scratch/other/README.md"
refused 'another repository' 'is not a checkout of eclipse-threadx/threadx' THREADX_DIR="$scratch/other"
half=$(copy half) && rm "$half/common/src/tx_thread_relinquish.c"
refused 'a source is missing' 'is incomplete: common/src/tx_thread_relinquish.c is missing' THREADX_DIR="$half"
noport=$(copy noport) && rm -r "$noport/ports"
refused 'no port' 'is incomplete: ports/cortex_r52/gnu' THREADX_DIR="$noport"
holes=$(copy holes) && rm "$holes"/ports/*/gnu/src/tx_thread_schedule.S
refused 'a file of the port is missing' 'gnu/src/tx_thread_schedule.S is missing' THREADX_DIR="$holes"
noapi=$(copy noapi) && rm "$noapi/common/inc/tx_api.h"
refused 'a header is missing' 'is incomplete: common/inc/tx_api.h is missing' THREADX_DIR="$noapi"
noheader=$(copy noheader) && rm "$noheader/common/inc/tx_mutex.h"
refused 'another header is missing' 'is incomplete: common/inc/tx_mutex.h is missing' THREADX_DIR="$noheader"
empty=$(copy empty) && : >"$empty/common/src/tx_thread_sleep.c"
refused 'a source is empty' 'is incomplete: common/src/tx_thread_sleep.c is missing or empty' THREADX_DIR="$empty"
hollow=$(copy hollow) && : >"$hollow/common/inc/tx_queue.h"
refused 'a header is empty' 'is incomplete: common/inc/tx_queue.h is missing or empty' THREADX_DIR="$hollow"
broken=$(copy broken) && echo 'this is not C;' >>"$broken/common/src/tx_thread_sleep.c"
refused 'a source does not compile' 'tx_thread_sleep.c' THREADX_DIR="$broken"

# ---- compiler ----
refused 'no compiler' 'the C compiler no-such-gcc is not there' CC_armv8r_none_eabihf=no-such-gcc THREADX_DIR="$sources"
refused 'soft-float compiler' 'soft-float ABI' CFLAGS_armv8r_none_eabihf=-mfloat-abi=softfp THREADX_DIR="$sources"
refused 'T32 code' 'T32 code' CFLAGS_armv8r_none_eabihf=-mthumb THREADX_DIR="$sources"
refused 'Advanced SIMD' 'D16-D31' CFLAGS_armv8r_none_eabihf='-mcpu=cortex-r52 -mfpu=neon-fp-armv8' THREADX_DIR="$sources"
if command -v gcc >/dev/null && ! gcc -v 2>&1 | grep -q 'Target: arm'; then
  refused "this machine's compiler" 'does not fit the image' CC_armv8r_none_eabihf=gcc THREADX_DIR="$sources"
fi
refused 'no libclang' 'finds no libclang' LIBCLANG_PATH="$scratch/other" THREADX_DIR="$sources"

# ---- configuration ----
echo '#define TX_NO_FILEX_POINTER' >"$scratch/harmless.h"
echo '#define TX_EXECUTION_PROFILE_ENABLE' >"$scratch/unused.h"
# A field in front of those that the assembly reaches by number.
cat >"$scratch/layout.h" <<'END'
#ifndef __ASSEMBLER__
#define TX_TIMER_INTERNAL_EXTENSION unsigned long moves_what_follows;
#endif
END
refused 'tx_user.h that moves a field' 'tx_thread_vfp_enable is not at byte 144' THREADX_TX_USER_H="$scratch/layout.h" THREADX_DIR="$sources"
refused 'tx_user.h that is missing' 'is not a file' THREADX_TX_USER_H="$scratch/no.h" THREADX_DIR="$sources"
echo '#define TX_ENABLE_FIQ_SUPPORT' >"$scratch/fiq.h"
if (export THREADX_TX_USER_H="$scratch/fiq.h" THREADX_DIR="$sources"; build) >"$scratch/log" 2>&1; then
  bad 'FIQ support: the build went through'
elif grep -q 'TX_ENABLE_FIQ_SUPPORT is on' "$scratch/log"; then
  ok 'FIQ support is refused'
else
  bad "FIQ support: $(grep -m 1 '^error' "$scratch/log")"
fi

# ---- a port without a floating-point flag, and one with it ----
# The older port's header leaves the flag's place to another field; the newer one names it. Both
# layouts must come out the same. Where the checkout has one of the two, the other is made from it.
for kind in with without; do
  made=$(copy "port-$kind")
  ports=("$made"/ports/*/gnu)
  port=$(basename "$(dirname "${ports[-1]}")")
  for other in "$made"/ports/*; do [ "$(basename "$other")" = "$port" ] || rm -r "$other"; done
  field=''
  [ "$kind" = without ] || field='ULONG tx_thread_vfp_enable;'
  sed -i "s/^#define TX_THREAD_EXTENSION_2 .*/#define TX_THREAD_EXTENSION_2 $field/" "$made/ports/$port/gnu/inc/tx_port.h"
  rm -f "$made/ports/$port/gnu/src/tx_port_offset_check.c"
  for name in cortex_r5 cortex_r52; do
    [ "$port" = "$name" ] || { mv "$made/ports/$port" "$made/ports/$name"; port=$name; }
    if (export THREADX_DIR="$made"; build) >"$scratch/log" 2>&1; then ok "port $name $kind a flag in its header builds"; else bad "port $name $kind a flag: $(grep -m 1 'error' "$scratch/log")"; fi
  done
done

# ---- objects ----
# The last build's library is the one of these sources. Flags that are not for the image would make it
# soft-float, with thread control blocks that Rust does not know.
(export THREADX_DIR="$sources" CFLAGS='-mfloat-abi=softfp -DTX_THREAD_USER_EXTENSION=int/**/moved;' TARGET_CFLAGS=-mthumb; build) >"$scratch/log" 2>&1 ||
  die "the kernel does not build: $(grep -m 1 error "$scratch/log")"
if [ "$(grep -c 'TARGET_CFLAGS, CFLAGS ignored: .* CFLAGS_armv8r_none_eabihf' "$scratch/log")" = 1 ]; then
  ok 'plain CFLAGS are ignored, in one line'
else
  bad "plain CFLAGS: expected one warning, got: $(grep warning "$scratch/log" || echo none)"
fi
# shellcheck disable=SC2012 # by time; the names are cargo's
library=$(ls -t "$(fw_dir release)"/build/threadx-sys-*/out/libthreadx.a | head -n 1)
objects=$(arm-none-eabi-ar t "$library" | wc -l)
hard=$(arm-none-eabi-readelf -A "$library" 2>/dev/null | grep -c 'Tag_ABI_VFP_args: VFP registers' || true)
files_of_c=$(arm-none-eabi-ar t "$library" | grep -c '\.o$')
soft=$(arm-none-eabi-readelf -A "$library" 2>/dev/null | awk '/^File:/ {file = $2} /Tag_ABI_VFP_args/ {seen[file] = 1} /Tag_CPU_name/ {cpu[file] = 1} END {for (f in cpu) if (!(f in seen)) print f}' | wc -l)
arm-none-eabi-objdump -d "$library" >"$scratch/code"
# Assembly files carry no mark of the float ABI unless they pass arguments; C files must.
if [ "$hard" -gt 150 ]; then
  ok "float ABI: $hard of $objects objects are marked hard-float"
else
  bad "float ABI: only $hard of $files_of_c objects are marked hard-float, $soft are not"
fi
if grep -qE '\<d(1[6-9]|2[0-9]|3[01])\>|\<q[0-9]+\>' "$scratch/code"; then bad 'D16-D31 are used'; else ok 'no D16-D31'; fi
if grep -qE '\.(f64)\b' "$scratch/code"; then bad 'double-precision arithmetic, which the target has not'; else ok 'no double-precision arithmetic'; fi
if grep -q '\<clz\>' "$scratch/code"; then ok 'the ready search is the CLZ one'; else bad 'the ready search is the portable loop'; fi

# ---- the bundled kernel's header ----
sample=$sources/samples/demo_threadx.c
if [ ! -f "$sample" ]; then
  say "not checked: upstream's sample with the bundled kernel's header, as the sources have no samples/demo_threadx.c"
elif arm-none-eabi-gcc -mcpu=cortex-r52 -mfloat-abi=hard -mfpu=fp-armv8 -c -I kernel/include "$sample" -o "$scratch/sample.o" >"$scratch/log" 2>&1; then
  ok "upstream's sample compiles with the bundled kernel's header"
else
  bad "upstream's sample with the bundled kernel's header: $(grep -m 1 error "$scratch/log")"
fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]

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

no_options "$@"
sources=$(upstream_sources) || die 'no upstream sources: set THREADX_DIR or run scripts/get-threadx.sh'
check_sources "$sources"
sources=$(cd "$sources" && pwd)
say_ignored
find_tools || die 'no tool chain for the firmware: run scripts/setup.sh'
cd "$ROOT"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

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
clang=''
for name in clang clang-{22,21,20,19,18,17,16}; do
  [ -n "$clang" ] || ! command -v "$name" >/dev/null || clang=$name
done
export THREADX_DIR=$sources
refused 'no compiler' 'the C compiler no-such-gcc is not there' CC_armv8r_none_eabihf=no-such-gcc
refused 'no wrapper' 'the C compiler no-such-wrapper is not there' CC_armv8r_none_eabihf='no-such-wrapper arm-none-eabi-gcc'
refused 'no compiler behind the wrapper' '--version` fails' CC_armv8r_none_eabihf='env no-such-gcc'
refused 'soft-float compiler' 'soft-float ABI' CFLAGS_armv8r_none_eabihf=-mfloat-abi=softfp
refused 'T32 code' 'T32 code' CFLAGS_armv8r_none_eabihf=-mthumb
refused 'Advanced SIMD' 'D16-D31' CFLAGS_armv8r_none_eabihf='-mcpu=cortex-r52 -mfpu=neon-fp-armv8'
if command -v gcc >/dev/null && ! gcc -v 2>&1 | grep -q 'Target: arm'; then
  refused "this machine's compiler" 'does not fit the image' CC_armv8r_none_eabihf=gcc
fi
refused 'no libclang' 'finds no libclang' LIBCLANG_PATH="$scratch/other"

# ---- configuration ----
# told KEY: what the last build script said. size TYPE: bytes that Rust has for it.
output() {
  # shellcheck disable=SC2012 # by time; the names are cargo's
  ls -t "$(fw_dir release)"/build/threadx-sys-*/output | head -n 1
}
told() { sed -n "s/^cargo::.*[=:]$1=//p" "$(output)"; }
size() { sed -nE "s/.*\"Size of $1\" *\][^-]* - ([0-9]+)usize.*/\\1/p" "$(dirname "$(output)")/out/bindings.rs"; }
# built NAME [VARIABLE=VALUE...]: the build goes through.
built() {
  local name=$1
  shift
  # shellcheck disable=SC2163 # the arguments are assignments
  if (export "$@"; build) >"$scratch/log" 2>&1 </dev/null; then return 0; fi
  bad "$name: $(grep -m 1 error "$scratch/log")"
  return 1
}
# same NAME GOT WANTED
same() { if [ "$2" = "$3" ]; then ok "$1: $2"; else bad "$1: '$2' instead of '$3'"; fi; }

# Options that the safe crate or the board cannot do with.
while read -r option text; do
  printf '#define %s\n' "$option" >"$scratch/option.h"
  refused "$option" "$option is defined, but $text" THREADX_TX_USER_H="$scratch/option.h"
done <<'END'
TX_DISABLE_NOTIFY_CALLBACKS the end of a thread
TX_NO_TIMER sleeping
TX_NOT_INTERRUPTABLE sections without preemption
TX_TIMER_PROCESS_IN_ISR a timer's closure
TX_DISABLE_PREEMPTION_THRESHOLD threads are created with
TX_DISABLE_STACK_FILLING a stack's high-water mark
TX_ENABLE_FIQ_SUPPORT FIQ belongs to nobody
TX_ENABLE_IRQ_NESTING the board nests
TX_ENABLE_EXECUTION_CHANGE_NOTIFY nobody defines
END
refused 'an option by CFLAGS' 'TX_NO_TIMER is defined' CFLAGS_armv8r_none_eabihf=-DTX_NO_TIMER
echo '#define TX_MINIMUM_STACK 200' >"$scratch/stack.h"
refused 'a stack without room for an interrupt' 'TX_MINIMUM_STACK is 200' THREADX_TX_USER_H="$scratch/stack.h"
echo '#define TX_TIMER_TICKS_PER_SECOND ((ULONG) 0)' >"$scratch/tick.h"
refused 'no tick' 'TX_TIMER_TICKS_PER_SECOND is 0' THREADX_TX_USER_H="$scratch/tick.h"
# A field in front of those that the assembly reaches by number (P02).
cat >"$scratch/layout.h" <<'END'
#ifndef __ASSEMBLER__
#define TX_TIMER_INTERNAL_EXTENSION unsigned long moves_what_follows;
#endif
END
refused 'P02: tx_user.h that moves a field' 'tx_thread_vfp_enable is not at byte 144' THREADX_TX_USER_H="$scratch/layout.h"
refused 'tx_user.h that is missing' 'is not a file' THREADX_TX_USER_H="$scratch/no.h"
echo '#error "written for another board"' >"$scratch/error.h"
refused 'tx_user.h that does not compile' 'written for another board' THREADX_TX_USER_H="$scratch/error.h"
# What C sees and bindgen does not: the layout table that the C compiler checks (D01).
refused 'D01: C and Rust see another layout' 'TX_THREAD_STRUCT does not have the' \
  CFLAGS_armv8r_none_eabihf='-DTX_THREAD_USER_EXTENSION=int/**/moved;'

# A changed tx_user.h makes new bindings and a new kernel (D02); its path may be relative.
mkdir -p "$CARGO_TARGET_DIR"
user=$CARGO_TARGET_DIR/test-tx_user.h
relative=$(realpath --relative-to="$ROOT" "$user")
# What it includes counts too.
more=$CARGO_TARGET_DIR/test-tx_more.h
trap 'rm -rf "$scratch" "$user" "$more"' EXIT
echo "#include \"${more##*/}\"" >"$user"
for words in 0 2; do
  {
    echo "#define TX_MAX_PRIORITIES $((32 + 16 * words))"
    [ "$words" = 0 ] || printf '#ifndef __ASSEMBLER__\n#define TX_THREAD_USER_EXTENSION unsigned long mine[%s];\n#endif\n' "$words"
  } >"$more"
  built "D02: tx_user.h with $words own words" THREADX_TX_USER_H="$relative" || continue
  [ "$words" != 0 ] || { thread=$(size TX_THREAD_STRUCT); continue; }
  same 'D02: a thread grows by what tx_user.h adds' "$(size TX_THREAD_STRUCT)" $((thread + 4 * words))
  list=$(arm-none-eabi-nm -S "$(dirname "$(output)")/out/libthreadx.a" 2>/dev/null | awk '$4 == "_tx_thread_priority_list" {print $2}')
  same "D02: the kernel has tx_user.h's priorities" $((16#${list:-0} / 4)) $((32 + 16 * words))
done

# The banner says what the headers define, not what this crate meant to (M10, D06).
banner='error checking on, stack checking off, tick 100 Hz, ready search clz, floating point on, notify callbacks on, timers in thread, inline suspension off, performance info off, trace off, optimisation -O2'
built 'default configuration' && same 'D06: the default configuration' "$(told THREADX_CONFIGURATION)" "$banner"
cat >"$user" <<'END'
#define TX_DISABLE_ERROR_CHECKING
#define TX_ENABLE_STACK_CHECKING
#define TX_TIMER_TICKS_PER_SECOND (500UL * 2)
#define TX_INLINE_THREAD_RESUME_SUSPEND
#define TX_QUEUE_ENABLE_PERFORMANCE_INFO
#define TX_ENABLE_EVENT_TRACE
END
built 'own configuration' THREADX_TX_USER_H="$user" CFLAGS_armv8r_none_eabihf=-O3 && {
  same 'M10: own configuration' "$(told THREADX_CONFIGURATION)" \
    'error checking off, stack checking on, tick 1000 Hz, ready search clz, floating point on, notify callbacks on, timers in thread, inline suspension on, performance info in part, trace on, optimisation -O3'
  same "M10: the kernel's name has its optimisation" "$(told THREADX_NAME | grep -oE -- '-O[^)]*')" '-O3'
}
# lto NAME FLAGS WANTED [VARIABLE=VALUE...]: banner and name say how the C kernel is optimised, at link time too.
lto() {
  local name=$1 flags=$2 wanted=$3
  shift 3
  built "M10: $name" CFLAGS_armv8r_none_eabihf="$flags" "$@" || return 0
  same "M10: the banner of $name" "$(told THREADX_CONFIGURATION | grep -o 'optimisation .*')" "optimisation $wanted"
  same "M10: the kernel's name, $name" "$(told THREADX_NAME | grep -oE -- '-O[^)]*')" "$wanted"
}
lto 'link-time optimisation' '-flto' '-O2 -flto'
lto 'link-time optimisation that is taken back' '-O3 -flto -fno-lto' '-O3'
[ -z "$clang" ] || lto 'link-time optimisation across C and Rust' '-flto=thin' '-O2 -flto=thin' CC_armv8r_none_eabihf="$clang"
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
# objects NAME: looks at the last build's library.
objects() {
  local name=$1 library asm
  library=$(dirname "$(output)")/out/libthreadx.a
  # Files of assembly pass no arguments in registers of either kind; all others carry the mark.
  asm=$(cd "$sources"/ports && find . -name '*.S' -exec basename {} .S \; | sort -u)
  arm-none-eabi-readelf -A "$library" 2>/dev/null | awk -v asm="$asm" '
    BEGIN { n = split(asm, names, "\n"); for (i = 1; i <= n; i++) assembly[names[i]] = 1 }
    /^File:/ { file = $2; sub(/.*\(/, "", file); sub(/\.o\)$/, "", file); sub(/^[0-9a-f]*-/, "", file); objects++ }
    /Tag_ABI_VFP_args: VFP registers/ { hard[file] = 1; marked++ }
    /Tag_Advanced_SIMD_arch/ { print file " may use Advanced SIMD" }
    /Tag_CPU_arch:/ { seen[file] = 1 }
    END {
      for (file in seen) if (!(file in hard) && !(file in assembly)) print file " is not marked hard-float"
      if (marked < 150) print "only " marked + 0 " of " objects + 0 " objects are marked hard-float"
    }' >"$scratch/attributes"
  if [ -s "$scratch/attributes" ]; then bad "D03, $name: $(head -n 1 "$scratch/attributes")"; else ok "D03, $name: every object has the hard-float ABI"; fi
  arm-none-eabi-objdump -d "$library" >"$scratch/code" 2>/dev/null
  if grep -qE '\<d(1[6-9]|2[0-9]|3[01])\>|\<q[0-9]+\>' "$scratch/code"; then bad "D05, $name: D16-D31 are used"; else ok "D05, $name: no D16-D31"; fi
  if grep -qE '\.(f64)\b' "$scratch/code"; then bad "D05, $name: double-precision arithmetic, which the target has not"; else ok "D05, $name: no double-precision arithmetic"; fi
  if grep -q '\<clz\>' "$scratch/code"; then ok "D06, $name: the ready search is the CLZ one"; else bad "D06, $name: the ready search is the portable loop"; fi
}
built 'another wrapper' CC_armv8r_none_eabihf='env arm-none-eabi-gcc' && same 'a wrapper before the compiler' "$(told CC)" 'env arm-none-eabi-gcc'
if [ -n "$clang" ]; then
  built "$clang" CC_armv8r_none_eabihf="$clang" && {
    same "$clang compiles the kernel" "$(told THREADX_NAME | grep -o clang)" clang
    objects "$clang"
  }
else
  say 'not checked: clang as the C compiler, as this machine has none'
fi
# Flags that are not for the image would make it soft-float, with thread control blocks that Rust does not know.
(export CFLAGS='-mfloat-abi=softfp -DTX_THREAD_USER_EXTENSION=int/**/moved;' TARGET_CFLAGS=-mthumb; build) >"$scratch/log" 2>&1 ||
  die "the kernel does not build: $(grep -m 1 error "$scratch/log")"
if [ "$(grep -c 'TARGET_CFLAGS, CFLAGS ignored: .* CFLAGS_armv8r_none_eabihf' "$scratch/log")" = 1 ]; then
  ok 'plain CFLAGS are ignored, in one line'
else
  bad "plain CFLAGS: expected one warning, got: $(grep warning "$scratch/log" || echo none)"
fi
objects gcc

# Everything that the demo with its C twin is linked from: Rust's own objects and libraries too.
if fw_cargo rustc --quiet --release --package demo --features demo/twin -- -C save-temps --print link-args >"$scratch/link" 2>"$scratch/log"; then
  inputs=$(tr ' ' '\n' <"$scratch/link" | sed -n 's/^"\(.*\.\(o\|rlib\|a\)\)"$/\1/p'; dirname "$(output)" | sed 's,$,/out/libthreadx.a,')
  linked=0 unmarked=''
  while read -r file; do
    count=$(arm-none-eabi-readelf -A "$file" 2>/dev/null | grep -c 'Tag_ABI_VFP_args: VFP registers' || true)
    linked=$((linked + count))
    [ "$count" -gt 0 ] || unmarked="$unmarked $(basename "$file")"
  done <<<"$inputs"
  if [ "$linked" -gt 150 ] && [ -z "$unmarked" ]; then
    ok "D03: $linked objects of the demo's link have the hard-float ABI"
  else
    bad "D03: $linked objects of the demo's link have the hard-float ABI, none in:${unmarked:- no file}"
  fi
  # One definition of each memory function, and none that calls itself (D04).
  image=$(fw_dir release)/demo
  for name in memcpy memmove memset memcmp; do
    count=$(arm-none-eabi-nm "$image" | grep -cE " [TtWw] (__aeabi_)?$name\$" || true)
    addresses=$(arm-none-eabi-nm "$image" | awk -v name="$name" '$3 == name {print $1}' | sort -u | wc -l)
    calls=$(arm-none-eabi-objdump -d --disassemble="$name" "$image" | grep -cE "\\sbl?x?\\s.*<$name>" || true)
    if [ "$addresses" -le 1 ] && [ "$calls" = 0 ]; then ok "D04: $name has $addresses definition (names: $count) and does not call itself"; else bad "D04: $name has $addresses definitions and $calls calls of itself"; fi
  done
  rm -rf "$(fw_dir release)"/deps/rustc?????? "$(fw_dir release)"/deps/demo-*.{o,bc,ll}
else
  bad "D03: the demo does not link: $(grep -m 1 error "$scratch/log")"
fi
# The linker takes an object of the other ABI without a word; the mark that is looked for here is missing in it.
echo 'float soft(float x) { return x; }' >"$scratch/soft.c"
arm-none-eabi-gcc -mcpu=cortex-r52 -marm -mfloat-abi=softfp -c "$scratch/soft.c" -o "$scratch/soft.o"
if arm-none-eabi-readelf -A "$scratch/soft.o" | grep -q 'Tag_ABI_VFP_args: VFP registers'; then bad 'D03: a soft-float object has the mark'; else ok 'D03: a soft-float object has no such mark'; fi

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

#!/usr/bin/env bash
# Tests everything about the S32Z280 that needs no S32Z280: drivers on models, images by their checks, start-up in QEMU.
#
#   scripts/test-board.sh
#
# QEMU's mps3-an536 has RAM at the board's addresses, so the board's start-up, memory map and MPU table run there, with
# QEMU's devices (feature qemu-devices). The last line is `N passed, N failed`; exits with 0 only if nothing failed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"
no_options "$@"
find_tools || die 'no tool chain: run scripts/setup.sh'
cd "$ROOT"
build_txbench --quiet
images=$CARGO_TARGET_DIR/images
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# run NAME COMMAND...: one test; its output is shown if it fails.
run() {
  local name=$1 code=0
  shift
  "$@" >"$output" 2>&1 </dev/null || code=$?
  if [ "$code" = 0 ]; then
    passed=$((passed + 1)); echo "$name: ok"
  else
    failed=$((failed + 1)); tail -n 30 "$output" | sed 's/^/    /'; echo "$name: FAILED, exit code $code"
  fi
}

# refused TEXT COMMAND...: fails and says so.
# shellcheck disable=SC2317 # called by run
refused() {
  local text=$1 code=0
  shift
  "$@" >"$output.refused" 2>&1 || code=$?
  cat "$output.refused"
  local said=1
  grep -qF -- "$text" "$output.refused" || said=0
  rm -f "$output.refused"
  [ "$code" != 0 ] && [ "$said" = 1 ]
}

# bsp FEATURES: checks the board support alone, on this machine.
# shellcheck disable=SC2317
bsp() { host_cargo check --quiet --package bsp --no-default-features --features "bundled,$1"; }

# firmware OPTION...: builds ontarget's images for the board in QEMU.
# shellcheck disable=SC2317
firmware() {
  # shellcheck disable=SC2046 # several words
  fw_cargo build --quiet --release --no-default-features \
    --features ontarget/s32z280,ontarget/qemu-devices,ontarget/stack-checking $(fw_features bundled ontarget) "$@"
}

# fault IMAGE: runs it and asks for what its first line says.
# shellcheck disable=SC2317
fault() {
  local line text options=()
  line=$(sed -n '1s,^//! *,,p' "ontarget/src/bin/$1.rs" | tr ';' '\n' | sed 's/^ *//')
  options=(--expect-exit "$(sed -n 's/^expect-exit: *//p' <<<"$line")")
  while read -r text; do options+=(--expect "$text"); done < <(sed -n 's/^expect: *//p' <<<"$line")
  "$TXBENCH" run "$(fw_dir release)/$1" --timeout 60 "${options[@]}"
}

# upstream_start: the demo on upstream's board files as far as QEMU has the board: RAM stands in for the UART, with the two
# flags that its driver waits for set. GDB reads what goes into its data register. PMCCNTR does not count in QEMU, which
# the demo has to find out and say.
# shellcheck disable=SC2317,SC2016
upstream_start() {
  local gdb port=$((20000 + $$ % 20000)) text folder qemu
  gdb=$(command -v gdb-multiarch || command -v arm-none-eabi-gdb) || { echo 'skipped: no debugger'; return 0; }
  folder=$(mktemp -d)
  printf '%s\n' 'set pagination off' 'set confirm off' 'set language c' 'set tcp connect-timeout 20' \
    "target remote localhost:$port" 'break linflexd_putc' 'commands' 'silent' 'printf "%c", $r0' 'continue' 'end' \
    'continue' >"$folder/commands"
  timeout -k 5 300 qemu-system-arm -M mps3-an536 -smp 1 -nographic -monitor none -serial none -S -gdb "tcp::$port" \
    -device loader,addr=0x42980008,data=0x1000,data-len=4 -device loader,addr=0x42980014,data=2,data-len=4 \
    -kernel "$images/demo-s32z280-upstream-release-upstream-bsp.elf" </dev/null &
  qemu=$!
  timeout -k 5 290 "$gdb" -nx -q -batch -x "$folder/commands" \
    "$images/demo-s32z280-upstream-release-upstream-bsp.elf" >"$folder/out" 2>&1 </dev/null &
  local debugger=$!
  for _ in $(seq 280); do
    if grep -q 'exit status' "$folder/out" || ! kill -0 "$debugger" 2>/dev/null; then break; fi
    sleep 1
  done
  sleep 2
  kill "$qemu" 2>/dev/null || true
  wait "$qemu" "$debugger" 2>/dev/null || true
  cat "$folder/out"
  local said=0
  for text in 'board files: upstream, entered with CPSR 0x' 'MPU on, ' 'tick 100 Hz' 'counter PMCCNTR is dead' 'exit status 1'; do
    grep -aqF "$text" "$folder/out" || { echo "missing: $text"; said=1; }
  done
  rm -rf "$folder"
  return "$said"
}

# missing_board_file: a checkout without one of the files is refused in one line that names it.
# shellcheck disable=SC2317
missing_board_file() {
  local folder code=0
  folder=$(mktemp -d)
  mkdir -p "$folder/ports/cortex_r52/gnu/example_build/s32z280_evb"
  ln -s "$sources/common" "$folder/common"
  ln -s "$sources/ports/cortex_r52/gnu/inc" "$sources/ports/cortex_r52/gnu/src" "$folder/ports/cortex_r52/gnu/"
  ln -s "$evb"/* "$folder/ports/cortex_r52/gnu/example_build/s32z280_evb/"
  rm "$folder/ports/cortex_r52/gnu/example_build/s32z280_evb/timer.c"
  THREADX_DIR=$folder refused 's32z280_evb/timer.c is not there: ' "${upstream_bsp[@]}" || code=$?
  rm -rf "$folder"
  return "$code"
}

run 'drivers on models, board s32z280' host_cargo test --quiet --package bsp --no-default-features --features bundled,s32z280
run 'no board is refused' refused 'bsp needs one board' bsp boot-at-el1
run 'two boards are refused' refused 'bsp is for one board' bsp mps3-an536,s32z280
# shellcheck disable=SC2016 # names in the messages
run 'flash-cache needs EL2' refused 'which `boot-at-el1` leaves to the monitor' bsp s32z280,flash-cache,boot-at-el1
# shellcheck disable=SC2016
run 'flash-cache needs the board' refused 'is for the board `s32z280`' bsp mps3-an536,flash-cache
# shellcheck disable=SC2016
run 'code-in-ddr needs the board' refused 'is for the board `mps3-an536`' bsp s32z280,code-in-ddr
run 'memory map with code in the DDR' host_cargo test --quiet --package bsp --features bundled,code-in-ddr

for board in mps3-an536 s32z280; do
  for profile in release debug; do
    run "image, $board, $profile" scripts/build.sh --board "$board" "--$profile"
  done
done
run 'image, s32z280, suite' scripts/build.sh --board s32z280 --package suite
run 'image, s32z280, flash-cache' scripts/build.sh --board s32z280 --flash-cache
run 'image, s32z280, boot-at-el1' scripts/build.sh --board s32z280 --boot-at-el1
run 'an image of EL2 is no guest' refused 'accesses a register of EL2' \
  "$TXBENCH" image "$images/demo-s32z280-bundled-release.elf" --board s32z280 --boot-at-el1
run "an image of another board is refused" refused 'FAILED' \
  "$TXBENCH" image "$images/demo-mps3-an536-bundled-release.elf" --board s32z280
run "an image of another board is not booted" refused 'is linked for s32z280, QEMU has mps3-an536 only' \
  "$TXBENCH" run "$images/demo-s32z280-bundled-release.elf" --timeout 5
if sources=$(upstream_sources); then
  run 'image, s32z280, upstream kernel' scripts/build.sh --board s32z280 --kernel upstream
fi
run 'upstream-bsp needs the board' refused 'is for --board s32z280' scripts/build.sh --kernel bundled --upstream-bsp
run 'upstream-bsp needs the kernel' refused 'needs --kernel upstream' scripts/build.sh --board s32z280 --upstream-bsp
# shellcheck disable=SC2016
run 'upstream-bsp needs the kernel, cargo' refused 'needs upstream'"'"'s kernel: drop `bundled`' bsp s32z280,upstream-bsp
# shellcheck disable=SC2016
run 'upstream-bsp needs the board, cargo' refused 'is for the board `s32z280`' bsp mps3-an536,upstream-bsp
evb=${sources-}/ports/cortex_r52/gnu/example_build/s32z280_evb
if [ -n "${sources-}" ] && [ -f "$evb/entry.S" ]; then
  upstream_bsp=(scripts/build.sh --board s32z280 --kernel upstream --upstream-bsp)
  run "image, s32z280, upstream's board files" "${upstream_bsp[@]}"
  run "image, s32z280, upstream's board files, debug" "${upstream_bsp[@]}" --debug
  run "image, s32z280, upstream's demo on its board files" "${upstream_bsp[@]}" --package upstream-demo
  run "upstream's entry, console, MPU and the kernel's start in QEMU" upstream_start
  run 'a board file is missing' missing_board_file
elif [ -n "${sources-}" ]; then
  echo "upstream's board files: not tested, the sources in $sources have none (s32z280_evb/entry.S)"
else
  echo "upstream's board files: not tested, there are no sources of the upstream kernel"
fi

faults=(fault_boot_svc fault_boot_undefined fault_boot_data_abort fault_boot_hypervisor_call)
bins=(boot threads "${faults[@]}" fault_boot_cntfrq)
run 'on-target images, s32z280 in QEMU' firmware "${bins[@]/#/--bin=}"
for name in boot threads; do run "$name, s32z280 in QEMU" "$TXBENCH" test --timeout 120 "$(fw_dir release)/$name"; done
for name in "${faults[@]}"; do run "$name, s32z280 in QEMU" fault "$name"; done
# The start-up writes CNTFRQ, so that here nobody is missing it.
run 'CNTFRQ 0 at the entry, s32z280 in QEMU' "$TXBENCH" run "$(fw_dir release)/fault_boot_cntfrq" --timeout 60 \
  --expect-exit 1 --expect 'counter 1000000000 Hz' --expect survived
run 'on-target images, s32z280 in QEMU, boot-at-el1' firmware --features ontarget/boot-at-el1 --bin=boot_guest
run 'boot_guest, s32z280 in QEMU' "$TXBENCH" test --timeout 60 "$(fw_dir release)/boot_guest"
# shellcheck disable=SC2046 # several words
run 'demo, s32z280 in QEMU' fw_cargo build --quiet --release --no-default-features \
  --features demo/s32z280,demo/qemu-devices $(fw_features bundled demo)
cp -f "$(fw_dir release)/demo" "$images/demo-s32z280-in-qemu.elf"
run 'demo runs, s32z280 in QEMU' "$TXBENCH" run "$images/demo-s32z280-in-qemu.elf" --timeout 120 --expect 'DONE ok'

# QEMU has no PMU: its PMCCNTR reads 0 for ever (M02). That is an error and no record, not a switch that costs nothing.
# shellcheck disable=SC2317
dead_counter() {
  local code=0
  "$TXBENCH" run "$(fw_dir release)/demo" --timeout 60 --expect-exit 1 \
    --expect 'DONE FAILED: the counter PMCCNTR is dead' --log "$output.uart" || code=$?
  ! grep -a '^RECORD' "$output.uart" || code=1
  rm -f "$output.uart"
  return "$code"
}
# shellcheck disable=SC2046 # several words
run 'demo with a dead counter' fw_cargo build --quiet --release --no-default-features \
  --features demo/s32z280,demo/qemu-devices,demo/pmu $(fw_features bundled demo)
run 'M02: a dead counter ends the demo' dead_counter

if command -v gdb-multiarch >/dev/null || command -v arm-none-eabi-gdb >/dev/null; then
  run 'flash.sh' scripts/test-flash.sh "$images/demo-s32z280-in-qemu.elf" "$images/demo-s32z280-bundled-release.elf"
else
  echo 'flash.sh: not tested, there is neither gdb-multiarch nor arm-none-eabi-gdb'
fi

echo
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]

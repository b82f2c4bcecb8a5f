#!/usr/bin/env bash
# Tests the timing model through QEMU: the micro-guest's cycles against those worked out by hand, two runs
# of the demo against each other, what must be refused, and how much slower than plain QEMU it is.
#
#   scripts/test-model.sh
#
# Needs what scripts/setup.sh installs. The last line is `N passed, N failed`.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

case ${1-} in
  '') ;;
  -h | --help) help; exit 0 ;;
  *) die "unknown option $1, see --help" 2 ;;
esac
find_tools || die 'no tool chain: run scripts/setup.sh'
cd "$ROOT"
build_txbench --quiet
host_cargo build --quiet --release --package r52-model || die 'the model does not build, see above'
# shellcheck disable=SC2046 # several words
fw_cargo build --quiet --release --package model-guest $(fw_features bundled demo) || die 'the firmware does not build, see above'
images=$(fw_dir release)
plugin=$CARGO_TARGET_DIR/release/libr52_model.so
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

# test NAME COMMAND...: the command's output only if it fails.
test() {
  local name=$1
  shift
  if "$@" >"$out/log" 2>&1; then
    passed=$((passed + 1))
    printf 'test %s ... ok\n' "$name"
  else
    failed=$((failed + 1))
    printf 'test %s ... FAILED\n' "$name"
    tail -n 30 "$out/log"
  fi
}

# refused TEXT COMMAND...: fails, and says TEXT in one line.
refused() {
  local text=$1
  shift
  if "$@" >"$out/refused" 2>&1; then
    echo "not refused, expected: $text"
    return 1
  fi
  grep -F "$text" "$out/refused" || { cat "$out/refused"; return 1; }
}

# qemu IMAGE ARG...: a machine as txbench has it, under a limit.
qemu() {
  local image=$1
  shift
  timeout -k 5 60 qemu-system-arm -M mps3-an536 -nographic -icount shift=0,sleep=off \
    -global cortex-r52-arm-cpu.cntfrq=1000000000 -semihosting-config enable=on,target=native \
    -kernel "$image" "$@" </dev/null
}

# The last two reads of the counter before a name of the micro-guest, against expected.txt.
micro() {
  "$TXBENCH" run "$images/model-guest" --model an536 --timeout 60 --cycles "$out/micro" || return 1
  awk '$1 == "C" {a = b; b = $4} $1 == "U" && $2 == "MICRO" {print $3, b - a}' "$out/micro" >"$out/got"
  awk '!/^#/ {print $1, $2}' model/guest/expected.txt >"$out/expected"
  diff "$out/expected" "$out/got"
}

twice() {
  local run
  for run in 1 2; do
    "$TXBENCH" run "$images/demo" --model s32z280 --timeout 120 --expect 'DONE ok' --modelled "$out/demo$run" || return 1
    grep '^RECORD ' "$out/demo$run" >"$out/records$run" || return 1
  done
  ! grep -v '"unit":"modelled cycles"' "$out/records1" || return 1
  cmp "$out/records1" "$out/records2"
}

bad_part() {
  sed "$1" model/parts/s32z280.toml >"$out/part.toml"
  refused "$2" "$TXBENCH" run "$images/model-guest" --model "$out/part.toml" --timeout 60
}

other_qemu() {
  # shellcheck disable=SC2016 # for the stand-in
  printf '#!/bin/sh\nif [ "$1" = --version ]; then echo "QEMU emulator version 11.0.0"; else exec qemu-system-arm "$@"; fi\n' >"$out/qemu"
  chmod +x "$out/qemu"
  refused 'needs QEMU 10.0' "$TXBENCH" run "$images/model-guest" --model s32z280 --qemu "$out/qemu"
}

never_cached() {
  "$TXBENCH" run "$images/uncached" --model an536 --timeout 60 2>&1 | grep -F 'warning: the guest never enabled a cache'
}

# milliseconds COMMAND...: what the command computes for.
milliseconds() {
  local TIMEFORMAT='%3U'
  { time "$@" >/dev/null 2>&1; } 2>&1 | tr -d .
}

# The same image under icount and under the model, in turn; the best of two each. At most 8 times.
speed() {
  local plain=999999 model=999999 took
  for _ in 1 2; do
    took=$((10#$(milliseconds qemu "$images/demo" -smp 1)))
    [ "$took" -ge "$plain" ] || plain=$took
    took=$((10#$(milliseconds qemu "$images/demo" -smp 1 -plugin "$plugin,part=model/parts/s32z280.toml,log=$out/speed")))
    [ "$took" -ge "$model" ] || model=$took
  done
  tail -n 1 "$out/speed" | grep '^end ' || return 1
  speeds="icount $plain ms, model $model ms: $((model * 10 / plain)) tenths"
  echo "$speeds"
  [ "$model" -le $((8 * plain)) ]
}

test 'micro-guest against hand-computed cycles' micro
test 'two runs of the demo, records byte for byte' twice
test 'another version of QEMU' other_qemu
test 'two CPUs' refused '2 CPUs' qemu "$images/model-guest" -smp 2 -plugin "$plugin,part=model/parts/s32z280.toml,log=$out/two"
test 'overlapping memories' bad_part 's/^size = 0x80000$/size = 0x20000000/' 'overlap'
test 'a parameter without unit' bad_part '/^load_use/s/unit = "cycles", //' 'load_use has no unit'
test 'a cache that maintenance would miss' bad_part '0,/^ways = { value = 4/!{0,/^ways = { value = 4/s//ways = { value = 2/}' 'would miss lines'
test 'another geometry than the guest is told' bad_part 's/^data_ccsidr = .*/data_ccsidr = 0x7007e01a/' 'the guest was told'
test 'a guest without caches' never_cached
test 'an unknown part' refused 'neither a file nor a part' "$TXBENCH" run "$images/model-guest" --model r5
test 'at most 8 times slower than icount' speed
printf '%s\n' "${speeds-}"
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Tests the timing model through QEMU: the micro-guest's cycles against those worked out by hand, two runs
# of the demo against each other, steered ones against recorded ones, what must be refused, what falls back
# to recording, and how much slower than plain QEMU it is.
#
#   scripts/test-model.sh
#
# Needs what scripts/setup.sh installs. The last line is `N passed, N failed`.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

no_options "$@"
find_tools || die 'no tool chain: run scripts/setup.sh'
cd "$ROOT"
build_txbench --quiet
host_cargo build --quiet --release --package r52-model || die 'the model does not build, see above'
# shellcheck disable=SC2046 # several words
fw_cargo build --quiet --release --package model-guest $(fw_features bundled demo suite) || die 'the firmware does not build, see above'
images=$(fw_dir release)
plugin=$CARGO_TARGET_DIR/release/libr52_model.so
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
version=$(qemu-system-arm --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')

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

# twice MODE: records in modelled cycles that name the mode, and every read of the counter, the same twice.
twice() {
  local run
  for run in 1 2; do
    "$TXBENCH" run "$images/demo" --model s32z280 --mode "$1" --timeout 120 --expect 'DONE ok' \
      --modelled "$out/$1$run" --cycles "$out/$1.cycles$run" || return 1
    grep '^RECORD ' "$out/$1$run" >"$out/$1.records$run" || return 1
  done
  ! grep -v '"unit":"modelled cycles"' "$out/$1.records1" || return 1
  ! grep -v "\"board\":\"mps3-an536 as s32z280, $1\"" "$out/$1.records1" || return 1
  cmp "$out/$1.records1" "$out/$1.records2" || return 1
  cmp "$out/$1.cycles1" "$out/$1.cycles2"
}

# field NAME MODE: the figures of that name in the records of the mode's first run, one a line.
field() {
  grep -o "\"$1\":[0-9]*" "$out/$2.records1" | cut -d : -f 2
}

# The guest's own clock gives what joining gives. Both count hundredths of a cycle and show whole ones, so the
# smallest sample, the median and the mean may part by one.
alike() {
  local name
  for name in min p50 mean; do
    paste <(field "$name" steered) <(field "$name" recorded) | tee "$out/pairs"
    awk -v name="$name" 'NF != 2 || $1 - $2 > 1 || $2 - $1 > 1 {print name, $0; bad = 1} END {exit bad || NR < 6}' "$out/pairs" ||
      return 1
  done
}

# The demo lasts some twenty ticks of 10^7 counts: of cycles if its timers are steered, else of instructions.
timers() {
  local steered recorded
  steered=$(awk '$1 == "end" {print $5}' "$out/steered.cycles1")
  recorded=$(awk '$1 == "end" {print $3}' "$out/recorded.cycles1")
  echo "steered: $steered cycles, recorded: $recorded instructions"
  [ $((steered * 5)) -gt $((recorded * 4)) ] && [ $((steered * 5)) -lt $((recorded * 6)) ]
}

# falls_back TEXT SED: a QEMU whose arguments are edited so that a check fails; the run is recorded, whole, and
# says TEXT once on standard error and in its heading.
falls_back() {
  # shellcheck disable=SC2016 # for the stand-in
  {
    printf '#!/usr/bin/env bash\nargs=()\nfor arg; do\n  args+=("$(sed -e %q <<<"$arg")")\ndone\n' "$2"
    printf 'exec qemu-system-arm "${args[@]}"\n'
  } >"$out/edited"
  chmod +x "$out/edited"
  "$TXBENCH" run "$images/demo" --qemu "$out/edited" --model s32z280 --mode steered --timeout 120 --expect 'DONE ok' \
    --modelled "$out/fallen" >"$out/said" 2>"$out/errors" || { cat "$out/said" "$out/errors"; return 1; }
  cat "$out/errors"
  [ "$(grep -c 'not steered' "$out/errors")" = 1 ] || return 1
  grep -F "r52-model: not steered but recorded: $1" "$out/errors" || return 1
  grep -F 'model      s32z280, recorded' "$out/said" || return 1
  grep '^RECORD ' "$out/fallen" | cmp - "$out/recorded.records1"
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
  local plain=999999 model=99999999 took
  # The least of several turns, as many as it takes: what else the machine does only adds.
  for _ in 1 2 3 4 5 6; do
    [ "$model" -gt $((7 * plain)) ] || break
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

# The same with a steered clock, on measurements that do not wait for a tick: with the clock the waiting changes.
speed_steered() {
  local plain=999999 model=99999999 took words
  words=arg=image,arg=context_switch/BTCM,arg=service,arg=semaphore_handoff,arg=deep_stack
  for _ in 1 2 3 4 5 6; do
    [ "$model" -gt $((7 * plain)) ] || break
    took=$((10#$(milliseconds qemu "$images/suite" -smp 1 -semihosting-config "$words")))
    [ "$took" -ge "$plain" ] || plain=$took
    took=$((10#$(milliseconds qemu "$images/suite" -smp 1 -semihosting-config "$words" \
      -plugin "$plugin,part=model/parts/s32z280.toml,log=$out/speed,mode=steered")))
    [ "$took" -ge "$model" ] || model=$took
  done
  head -n 1 "$out/speed" | grep -x 'model 1 s32z280 steered' || return 1
  tail -n 1 "$out/speed" | grep '^end ' || return 1
  steered="icount $plain ms, steered $model ms: $((model * 10 / plain)) tenths (suite)"
  echo "$steered"
  [ "$model" -le $((8 * plain)) ]
}

test 'micro-guest against hand-computed cycles' micro
test 'two runs of the demo, records and reads byte for byte' twice recorded
test 'two steered runs of the demo, records and reads byte for byte' twice steered
test 'steered figures are the recorded ones' alike
test 'timers follow a steered clock' timers
test 'a symbol that QEMU does not export: recorded' falls_back 'this QEMU does not export icount_get' \
  's/,mode=steered$/&,without=icount_get/'
test 'another version than steering knows: recorded' falls_back "this QEMU is $version, steering was checked with 10.0.3 only" \
  's/,mode=steered$/&,steers=10.0.3/'
test 'another -icount than was checked: recorded' falls_back 'QEMU was not started with exactly one -icount shift=0,sleep=off' \
  's/^shift=0,sleep=off$/shift=0,sleep=off,align=off/'
test 'another version of QEMU' other_qemu
test 'two CPUs' refused '2 CPUs' qemu "$images/model-guest" -smp 2 -plugin "$plugin,part=model/parts/s32z280.toml,log=$out/two"
test 'overlapping memories' bad_part 's/^size = 0x80000$/size = 0x20000000/' 'overlap'
test 'a parameter without unit' bad_part '/^load_use/s/unit = "cycles", //' 'load_use has no unit'
test 'a cache that maintenance would miss' bad_part '0,/^ways = { value = 4/!{0,/^ways = { value = 4/s//ways = { value = 2/}' 'would miss lines'
test 'another geometry than the guest is told' bad_part 's/^data_ccsidr = .*/data_ccsidr = 0x7007e01a/' 'the guest was told'
test 'a guest without caches' never_cached
test 'an unknown part' refused 'neither a file nor a part' "$TXBENCH" run "$images/model-guest" --model r5
test 'at most 8 times slower than icount' speed
test 'steered, at most 8 times slower than icount' speed_steered
printf '%s\n' "${speeds-}" "${steered-}"
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Runs all tests: on this machine and, in QEMU, on the target.
#
#   scripts/test.sh           everything
#   scripts/test.sh --quick   without the debug firmware, the soak images and two of the three demo runs
#
# Installs what is missing first, see scripts/setup.sh. Logs stay in target/test-logs. The last line
# is `N passed, N failed, N skipped`, where the skipped are stages that this machine or --quick leaves
# out; exits with 0 only if nothing failed.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

quick=0
for arg; do
  case $arg in
    --quick) quick=1 ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $arg, see --help" 2 ;;
  esac
done

cd "$ROOT"
say_ignored
kernels=(bundled)
sources=''
if sources=$(upstream_sources); then
  check_sources "$sources"
  kernels+=(upstream)
  say "kernels: bundled, and upstream from $sources"
else
  say 'kernels: bundled only; not tested on upstream: neither THREADX_DIR nor ./threadx-src (scripts/get-threadx.sh)'
fi
logs=$CARGO_TARGET_DIR/test-logs
mkdir -p "$logs"
rm -f "$logs"/*.log
passed=0 failed=0 skipped=0
failures=() # what failed, stage by stage

# add PASSED FAILED [NAME]: counts for the last stage, or for NAME.
add() {
  passed=$((passed + $1)) failed=$((failed + $2))
  [ "$2" = 0 ] || failures+=("${3:-$last}")
}

# skip NAME WHY: a stage that is left out.
skip() {
  skipped=$((skipped + 1))
  printf '\n== %s: not checked, %s\n' "$1" "$2"
}

# stage NAME COMMAND...: runs it with its output on the terminal and in a log; the exit code is in
# `code`, the log's name in `log`. The caller counts.
stage() {
  local name=$1 start=$SECONDS
  shift
  last=$name
  log=$logs/${name// /-}.log
  printf '\n== %s\n' "$name"
  code=0
  "$@" 2>&1 | tee "$log" || code=$?
  printf '== %s: %s after %d s\n' "$name" "$([ "$code" = 0 ] && echo ok || echo "exit code $code")" $((SECONDS - start))
}

# cargo_tests NAME ARG...: a stage of `cargo test` on this machine, as many tests as its closing lines say.
cargo_tests() {
  local name=$1 bad
  shift
  stage "$name" host_cargo test "$@"
  bad=$(sum failed)
  # A test binary that does not build or dies has no closing line.
  [ "$code" = 0 ] || [ "$bad" -gt 0 ] || bad=1
  add "$(sum passed)" "$bad"
}

# check NAME COMMAND...: a stage that counts as one test.
check() {
  stage "$@"
  if [ "$code" = 0 ]; then add 1 0; else add 0 1; fi
}

# optional NAME WHY COMMAND...: the same, of which exit code 77 says that it is left out, for the reason WHY.
optional() {
  local name=$1 why=$2
  shift 2
  stage "$name" "$@"
  case $code in
    0) add 1 0 ;;
    77) skip "$name" "$why" ;;
    *) add 0 1 ;;
  esac
}

# counted NAME COMMAND...: a stage that ends with `N passed, N failed`.
counted() {
  local counts
  stage "$@"
  counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
  # shellcheck disable=SC2086 # two words
  add ${counts:-0 1}
}

# sum FIELD: adds up `N FIELD` of cargo's closing lines in the stage's log.
sum() {
  sed -n "s/^test result: .* \([0-9][0-9]*\) $1.*/\1/p" "$log" | awk '{n += $1} END {print n + 0}'
}

setup_options=()
[ "${#kernels[@]}" = 1 ] || setup_options=(--upstream)
check 'set-up' "$ROOT/scripts/setup.sh" "${setup_options[@]}"
[ "$code" = 0 ] || die 'set-up failed, nothing else can run'
find_tools

# Packages that are firmware only have nothing to run here.
host=()
for package in c-conformance costs demo examples model-guest model-published ontarget suite twin upstream-demo; do host+=(--exclude "$package"); done
cargo_tests 'host tests' --workspace "${host[@]}" --features "bsp/bundled,scenarios/bundled,threadx/allocator,threadx/embedded-hal" --no-fail-fast
# The same of the kernel that counts.
cargo_tests 'host tests, performance info' --package kernel --package scenarios \
  --features scenarios/bundled,scenarios/performance-info --no-fail-fast
cargo_tests 'host tests, performance info in Rust' --package threadx --features bundled,performance-info --test performance

if host_cargo clippy --version >/dev/null 2>&1; then
  check clippy host_cargo clippy --quiet --workspace "${host[@]}" --features "bsp/bundled,scenarios/bundled,threadx/allocator,threadx/embedded-hal" --all-targets -- -D warnings
else
  skip clippy 'this tool chain has none'
fi
if host_cargo fmt --version >/dev/null 2>&1; then
  check format host_cargo fmt --all --check
else
  skip format 'this tool chain has no rustfmt'
fi

# shellcheck disable=SC2317 # called by check
docs() {
  RUSTDOCFLAGS='-D warnings' host_cargo doc --quiet --no-deps --package kernel --package measure --package threadx \
    --package threadx-sys --package bsp --features bsp/bundled
}
check docs docs

# The fuzz target builds, and finds nothing in a short while.
if [ "$quick" = 1 ]; then
  skip fuzzing '--quick'
elif command -v c++ >/dev/null; then
  check fuzzing "$ROOT/scripts/fuzz.sh" 10
else
  skip fuzzing 'no C++ compiler for its runtime'
fi

# The example of README.md is an image that is built and run below.
# shellcheck disable=SC2317,SC2016
example() {
  diff <(sed -n '/^```rust/,/^```$/p' README.md | sed '1d;$d') <(tail -n +2 ontarget/src/bin/readme_example.rs) &&
    echo 'the code in README.md is ontarget/src/bin/readme_example.rs'
}
check 'README example' example

# Labels of field reports lead to docs/field-reports.md, and the tests that it and docs/method.md name are there.
# shellcheck disable=SC2317,SC2016
field_reports() {
  local bad=0 label file name
  for label in $(grep -rhoiE '(field reports?:? |^ *//[/!]? [kpbdm][0-9]{2}\b).*|fn [kpbdm][0-9]{2}_' --include='*.rs' kernel threadx bsp measure demo scenarios ontarget/src |
    grep -oiE '\b([KPBM][0-9]|D0)[0-9](\b|_)' | tr -d _ | tr '[:lower:]' '[:upper:]' | sort -u); do
    grep -q "^| $label |" docs/field-reports.md || { echo "$label is not in docs/field-reports.md"; bad=1; }
  done
  while IFS=: read -r file name; do
    if [ ! -e "$file" ]; then
      echo "docs: there is no $file"; bad=1
    elif [ -n "$name" ] && ! grep -q "fn $name(" "$file"; then
      echo "docs: $file has no $name"; bad=1
    fi
  done < <(grep -ohE '`[a-z0-9_-]+/[a-z0-9_/.-]+(::[a-z0-9_]+)?`' docs/field-reports.md docs/method.md | tr -d '`' | sed 's/::/:/')
  [ "$bad" = 0 ] && echo 'every label and every test is there'
}
check 'field reports' field_reports

counted 'fetching upstream' "$ROOT/scripts/test-get-threadx.sh"

check txbench build_txbench --quiet
txbench_built=$code
TXBENCH=$CARGO_TARGET_DIR/debug/txbench

# The model ties itself to the version of QEMU that it was checked with.
case $(qemu-system-arm --version) in
  *'version 10.0.'*)
    counted 'timing model' "$ROOT/scripts/test-model.sh"
    ;;
  *) skip 'timing model' 'it needs QEMU 10.0' ;;
esac

# A field of the first line of an image that ends by itself, `//! expect-exit: CODE; expect: TEXT; expect: TEXT`.
fields() { sed -n '1s,^//! *,,p' "$1" | tr ';' '\n' | sed -n "s/^ *$2: *//p" | sed 's/ *$//'; }

# boot_suite IMAGE WORD...: the suite's image with these words on its command line; exits with its status.
boot_suite() {
  local image=$1 word config=enable=on,target=native,arg=suite
  shift
  for word; do config=$config,arg=$word; done
  timeout -k 5 240 qemu-system-arm -M "$MACHINE" -smp 1 -nographic -icount shift=0,sleep=off \
    -global cortex-r52-arm-cpu.cntfrq=1000000000 -semihosting-config "$config" -kernel "$image" </dev/null
}

# suite IMAGE NAME: the core cells pass their self-checks, and those named are those that ran.
# shellcheck disable=SC2317
suite() {
  local uart=$logs/suite-$kernel-$2.uart status=0
  boot_suite "$1" quick >"$uart" || status=$?
  boot_suite "$1" quick list | tr -d '\r' | grep -a '^CELL ' >"$uart.cells" || true
  grep -av '^RECORD \|^SAMPLES \|^CELL ' "$uart"
  [ "$status" = 0 ] || { echo "the image ended with $status"; return 1; }
  grep -aq '^DONE ok' "$uart" || { echo 'no DONE ok'; return 1; }
  cmp "$uart.cells" <(tr -d '\r' <"$uart" | grep -a '^CELL ') || return 1
  echo "$(wc -l <"$uart.cells") cells, $(grep -ac '^RECORD ' "$uart") records, $(grep -ac '^SAMPLES ' "$uart") raw series"
}

# refused_cell IMAGE: a word that no cell answers to ends the image with 2, before anything is measured.
# shellcheck disable=SC2317
refused_cell() {
  local text status=0
  text=$(boot_suite "$1" quick no_such_cell) || status=$?
  echo "$text"
  [ "$status" = 2 ] && ! grep -q '^RECORD ' <<<"$text" && grep -q '^DONE FAILED: no cell matches no_such_cell' <<<"$text"
}

# lane KERNEL: everything that runs on the target, on one kernel.
lane() {
  local kernel=$1 images debug tests=() single=() name source options runs run
  # One package a time: the tests switch on kernel options that the measured images do without.
  local package built=0
  for package in demo suite ontarget; do
    # shellcheck disable=SC2046 # several words
    set -- $(fw_features "$kernel" "$package")
    # Unoptimized, the stacks of both do not fit into one BTCM: without the twin.
    [ "$quick" = 1 ] || check "$package, debug, $kernel" fw_cargo build --quiet "$@"
    # With its C twin where there is a compiler for it.
    if [ "$package" = demo ]; then
      if command -v arm-none-eabi-gcc >/dev/null; then set -- "$@" --features demo/twin; else skip "C twin, $kernel" 'no arm-none-eabi-gcc'; fi
    fi
    if "$FW_BIN/cargo-clippy" --version >/dev/null 2>&1; then
      check "clippy, $package, $kernel" fw_cargo clippy --quiet "$@" -- -D warnings
    else
      skip "clippy, $package, $kernel" 'this tool chain has none'
    fi
    check "$package, release, $kernel" fw_cargo build --quiet --release "$@"
    built=$((built + code))
  done
  [ "$built" = 0 ] || return 0
  images=$(fw_dir release)
  debug=$(fw_dir debug)
  for source in ontarget/src/bin/*.rs ontarget/src/bin/*/main.rs; do
    [ -e "$source" ] || continue
    name=$(basename "${source%/main.rs}" .rs)
    if [ -n "$(fields "$source" expect-exit)" ]; then
      single+=("$name:$source")
      continue
    fi
    case $name in
      fault_*)
        say "$source: the first line must be //! expect-exit: CODE; expect: TEXT"
        add 0 1 "on-target $name, $kernel"
        ;;
      soak*) if [ "$quick" = 1 ]; then skip "on-target $name, $kernel" '--quick'; else tests+=("$images/$name"); fi ;;
      *) tests+=("$images/$name") ;;
    esac
  done

  if [ "${#tests[@]}" -gt 0 ]; then
    counted "on-target tests, $kernel" "$TXBENCH" test --timeout 240 "${tests[@]}"
  else
    say 'no on-target tests found in ontarget/src/bin'
    add 0 1 "on-target tests, $kernel"
  fi

  # What a kernel that counts tells: images of their own, as the others are without.
  # shellcheck disable=SC2046 # several words
  check "performance info, build, $kernel" fw_cargo build --quiet --release $(fw_features "$kernel" ontarget) \
    --features ontarget/performance-info --bin scenarios --bin performance
  if [ "$code" = 0 ]; then
    counted "performance info, $kernel" "$TXBENCH" test --timeout 240 "$images/scenarios" "$images/performance"
  fi

  # Instructions of every service, and Thread-Metric: exactly as in costs/golden and docs/costs.md.
  if "$FW_BIN/cargo-clippy" --version >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # several words
    check "clippy, costs and examples, $kernel" fw_cargo clippy --quiet $(fw_features "$kernel" costs examples) -- -D warnings
  fi
  optional "costs, $kernel" 'the golden figures are those of other compilers' "$ROOT/scripts/costs.sh" "$kernel"
  check "examples, $kernel" "$ROOT/scripts/examples.sh" "$kernel"

  for name in "${single[@]}"; do
    source=${name#*:} name=${name%%:*}
    options=(--expect-exit "$(fields "$source" expect-exit)")
    while read -r text; do options+=(--expect "$text"); done < <(fields "$source" expect)
    check "on-target $name, $kernel" "$TXBENCH" run "$images/$name" --timeout 60 "${options[@]}"
  done

  # Unoptimized code needs more stack and hits other windows.
  if [ "$quick" = 0 ]; then
    counted "on-target tests, debug, $kernel" "$TXBENCH" test --timeout 240 "$debug"/{services,threads,misuse,scenarios}
    check "demo, debug, run, $kernel" "$TXBENCH" run "$debug/demo" --timeout 240 --expect 'DONE ok'
    check "suite, debug, $kernel" suite "$debug/suite" debug
  else
    skip "debug firmware, $kernel" '--quick'
  fi

  # The same image must give the same records to the byte, however busy this machine is.
  runs=3
  [ "$quick" = 0 ] || runs=1
  for run in $(seq "$runs"); do
    check "demo run $run, $kernel" "$TXBENCH" run "$images/demo" --timeout 120 --expect 'DONE ok' --expect '"detail":"24x16"' \
      --log "$logs/demo-$kernel-$run.uart"
    grep -a '^RECORD ' "$logs/demo-$kernel-$run.uart" >"$logs/demo-$kernel-$run.records" || true
  done
  same_records() {
    local run
    [ -s "$logs/demo-$kernel-1.records" ] || { echo 'the demo printed no records'; return 1; }
    for run in $(seq 2 "$runs"); do
      cmp "$logs/demo-$kernel-1.records" "$logs/demo-$kernel-$run.records" || return 1
    done
    echo "$runs runs, $(wc -l <"$logs/demo-$kernel-1.records") records each, byte for byte the same"
  }
  if [ "$runs" = 1 ]; then skip "demo records, $kernel" '--quick'; else check "demo records, $kernel" same_records; fi

  check "suite, $kernel" suite "$images/suite" release
  check "suite, unknown cell, $kernel" refused_cell "$images/suite"
  optional "README figures, $kernel" 'they are of another version or compiler' "$ROOT/scripts/readme.sh" "$kernel"

  # C programs with nothing but tx_api.h; upstream's sample where the sources have it.
  if command -v arm-none-eabi-gcc >/dev/null; then
    # shellcheck disable=SC2046 # several words
    set -- $(fw_features "$kernel" c-conformance)
    [ ! -f "${sources:-/}/samples/demo_threadx.c" ] || set -- "$@" --features c-conformance/sample
    check "C programs, build, $kernel" fw_cargo build --quiet --release "$@"
    [ "$code" != 0 ] || check "C conformance, $kernel" "$TXBENCH" run "$images/c-conformance" --timeout 120 --expect-exit 0 \
      --expect 'checks of the documented C API passed'
    # Control blocks of other sizes, which the header has to know.
    # shellcheck disable=SC2046 # several words
    check "C programs, performance info, build, $kernel" fw_cargo build --quiet --release $(fw_features "$kernel" c-conformance) \
      --features c-conformance/performance-info --bin c-conformance
    [ "$code" != 0 ] || check "C conformance, performance info, $kernel" "$TXBENCH" run "$images/c-conformance" --timeout 120 \
      --expect-exit 0 --expect 'checks of the documented C API passed'
    if [ ! -f "${sources:-/}/samples/demo_threadx.c" ]; then
      skip "upstream's sample, $kernel" 'no sources that have it'
    else
      check "upstream's sample, $kernel" "$TXBENCH" run "$images/sample" --timeout 120 --expect-exit 0 --expect 'ran for a second'
    fi
  else
    skip "C programs, $kernel" 'no arm-none-eabi-gcc'
  fi

  # Upstream's own demo, where the sources have it.
  if [ -f "${sources:-/}/ports/cortex_r52/gnu/example_build/s32z280_evb/demo_s32z280.c" ]; then
    # shellcheck disable=SC2046 # several words
    check "upstream's demo, build, $kernel" fw_cargo build --quiet --release $(fw_features "$kernel" upstream-demo)
    [ "$code" != 0 ] || check "upstream's demo, $kernel" "$TXBENCH" run "$images/upstream-demo" --timeout 120 \
      --expect-exit 0 --expect 'PASS threads, tick and preemption all verified'
  else
    skip "upstream's demo, $kernel" 'no sources that have it'
  fi
}

if [ "$txbench_built" = 0 ]; then
  for kernel in "${kernels[@]}"; do lane "$kernel"; done
else
  skip 'everything on the target' 'txbench does not build'
fi
# The banners of both kernels have the same keys (M10). Their values are letters, digits and signs of
# what a build can choose.
# shellcheck disable=SC2317
same_keys() {
  local kernel keys=()
  for kernel in bundled upstream; do
    keys+=("$(sed -n 's/^configured //p' "$logs/demo-$kernel-1.uart" | tr -d '\r' | tr ',' '\n' |
      sed -E 's/^ *//; s/ (on|off|in part|thread|interrupt|clz|loop|[0-9]+ Hz|-O.*|opt-level .)$//')")
  done
  printf '%s\n' "${keys[0]}"
  [ -n "${keys[0]}" ] && [ "${keys[0]}" = "${keys[1]}" ]
}
# The documents show what the images give; another compiler gives other sizes.
if [ "$quick" = 1 ]; then
  skip 'docs results' '--quick'
else
  optional 'docs results' 'made by another compiler' "$ROOT/scripts/bench.sh" --check
fi
if [ "${#kernels[@]}" = 1 ]; then
  skip 'upstream kernel' 'neither THREADX_DIR nor ./threadx-src (scripts/get-threadx.sh)'
elif [ "$quick" = 1 ]; then
  skip 'building upstream' '--quick'
  check 'banner keys' same_keys
else
  check 'banner keys' same_keys
  counted 'building upstream' "$ROOT/scripts/test-upstream-build.sh"
  optional 'LTO across C and Rust' 'no clang and lld for it, or docs/cross-lto.md is of other tools' "$ROOT/scripts/bench.sh" --cross-lto --check
  case $(qemu-system-arm --version) in
    *'version 10.0.'*) check 'timing model against published figures' "$ROOT/scripts/validate.sh" 2 ;;
    *) skip 'timing model against published figures' 'it needs QEMU 10.0' ;;
  esac
fi

counted 'board s32z280' "$ROOT/scripts/test-board.sh"

echo
for name in "${failures[@]}"; do printf 'failed: %s\n' "$name"; done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]

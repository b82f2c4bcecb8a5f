#!/usr/bin/env bash
# Runs all tests: on this machine and, in QEMU, on the target.
#
#   scripts/test.sh           everything
#   scripts/test.sh --quick   without the debug firmware, the soak images and two of the three demo runs
#
# Installs what is missing first, see scripts/setup.sh. Logs stay in target/test-logs. The last line
# is `N passed, N failed`; exits with 0 only if nothing failed.
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
kernels=(bundled)
sources=''
if sources=$(upstream_sources); then
  kernels+=(upstream)
  say "kernels: bundled, and upstream from $sources"
else
  say 'kernels: bundled only; not tested on upstream: neither THREADX_DIR nor ./threadx-src (scripts/get-threadx.sh)'
fi
logs=$CARGO_TARGET_DIR/test-logs
mkdir -p "$logs"
rm -f "$logs"/*.log
passed=0 failed=0

# add PASSED FAILED
add() { passed=$((passed + $1)) failed=$((failed + $2)); }

# stage NAME COMMAND...: runs it with its output on the terminal and in a log; the exit code is in
# `code`, the log's name in `log`. The caller counts.
stage() {
  local name=$1 start=$SECONDS
  shift
  log=$logs/${name// /-}.log
  printf '\n== %s\n' "$name"
  code=0
  "$@" 2>&1 | tee "$log" || code=$?
  printf '== %s: %s after %d s\n' "$name" "$([ "$code" = 0 ] && echo ok || echo "exit code $code")" $((SECONDS - start))
}

# check NAME COMMAND...: a stage that counts as one test.
check() {
  stage "$@"
  if [ "$code" = 0 ]; then add 1 0; else add 0 1; fi
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
stage 'host tests' host_cargo test --workspace --exclude demo --exclude ontarget --exclude twin --exclude upstream-demo --features "bsp/bundled,threadx/allocator,threadx/embedded-hal" --no-fail-fast
host_failed=$(sum failed)
# A test binary that does not build or dies has no closing line.
[ "$code" = 0 ] || [ "$host_failed" -gt 0 ] || host_failed=1
add "$(sum passed)" "$host_failed"

if host_cargo clippy --version >/dev/null 2>&1; then
  check clippy host_cargo clippy --quiet --workspace --exclude demo --exclude ontarget --exclude twin --exclude upstream-demo --features "bsp/bundled,threadx/allocator,threadx/embedded-hal" --all-targets -- -D warnings
else
  printf '\n== clippy: not checked, this tool chain has none\n'
fi
if host_cargo fmt --version >/dev/null 2>&1; then
  check format host_cargo fmt --all --check
else
  printf '\n== format: not checked, this tool chain has no rustfmt\n'
fi

check txbench build_txbench --quiet
TXBENCH=$CARGO_TARGET_DIR/debug/txbench

# A field of the first line of a fault image, `//! expect-exit: CODE; expect: TEXT; expect: TEXT`.
fields() { sed -n '1s,^//! *,,p' "$1" | tr ';' '\n' | sed -n "s/^ *$2: *//p" | sed 's/ *$//'; }

# lane KERNEL: everything that runs on the target, on one kernel.
lane() {
  local kernel=$1 images tests=() faults=() name source expected options counts runs run fault
  # One package a time: the tests switch on kernel options that the measured images do without.
  local package built=0
  for package in demo ontarget; do
    # shellcheck disable=SC2046 # several words
    set -- $(fw_features "$kernel" "$package")
    # With its C twin where there is a compiler for it.
    if [ "$package" = demo ] && command -v arm-none-eabi-gcc >/dev/null; then set -- "$@" --features demo/twin; fi
    if "$FW_BIN/cargo-clippy" --version >/dev/null 2>&1; then
      check "clippy, $package, $kernel" fw_cargo clippy --quiet "$@" -- -D warnings
    else
      printf '\n== clippy, %s, %s: not checked, this tool chain has none\n' "$package" "$kernel"
    fi
    [ "$quick" = 1 ] || check "$package, debug, $kernel" fw_cargo build --quiet "$@"
    check "$package, release, $kernel" fw_cargo build --quiet --release "$@"
    built=$((built + code))
  done
  [ "$built" = 0 ] || return 0
  images=$(fw_dir release)
  for source in ontarget/src/bin/*.rs ontarget/src/bin/*/main.rs; do
    [ -e "$source" ] || continue
    name=$(basename "${source%/main.rs}" .rs)
    case $name in
      fault_*) faults+=("$name:$source") ;;
      soak*) [ "$quick" = 1 ] || tests+=("$images/$name") ;;
      *) tests+=("$images/$name") ;;
    esac
  done

  if [ "${#tests[@]}" -gt 0 ]; then
    stage "on-target tests, $kernel" "$TXBENCH" test --timeout 240 "${tests[@]}"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
    # shellcheck disable=SC2086 # two words
    add ${counts:-0 1}
  else
    say 'no on-target tests found in ontarget/src/bin'
    add 0 1
  fi

  for fault in "${faults[@]}"; do
    name=${fault%%:*} source=${fault#*:}
    expected=$(fields "$source" expect-exit)
    if [ -z "$expected" ]; then
      say "$source: the first line must be //! expect-exit: CODE; expect: TEXT"
      add 0 1
      continue
    fi
    options=(--expect-exit "$expected")
    while read -r text; do options+=(--expect "$text"); done < <(fields "$source" expect)
    check "on-target $name, $kernel" "$TXBENCH" run "$images/$name" --timeout 60 "${options[@]}"
  done

  # The same image must give the same records to the byte, however busy this machine is.
  runs=3
  [ "$quick" = 0 ] || runs=1
  for run in $(seq "$runs"); do
    check "demo run $run, $kernel" "$TXBENCH" run "$images/demo" --timeout 120 --log "$logs/demo-$kernel-$run.uart"
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
  [ "$runs" = 1 ] || check "demo records, $kernel" same_records

  # Upstream's own demo, where the sources have it.
  if [ -f "${sources:-/}/ports/cortex_r52/gnu/example_build/s32z280_evb/demo_s32z280.c" ]; then
    # shellcheck disable=SC2046 # several words
    check "upstream's demo, build, $kernel" fw_cargo build --quiet --release $(fw_features "$kernel" upstream-demo)
    [ "$code" != 0 ] || check "upstream's demo, $kernel" "$TXBENCH" run "$images/upstream-demo" --timeout 120 \
      --expect-exit 0 --expect 'PASS threads, tick and preemption all verified'
  fi
}

if [ "$code" = 0 ]; then
  for kernel in "${kernels[@]}"; do lane "$kernel"; done
fi
if [ "${#kernels[@]}" -gt 1 ] && [ "$quick" = 0 ]; then
  stage 'building upstream' "$ROOT/scripts/test-upstream-build.sh"
  counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
  # shellcheck disable=SC2086 # two words
  add ${counts:-0 1}
fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]

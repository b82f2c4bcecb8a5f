#!/usr/bin/env bash
# Builds the measurements, runs them on QEMU's Cortex-R52 and ends with their table and verdict.
#
#   scripts/demo.sh [--kernel auto|bundled|upstream] [--model PART [--mode recorded|steered]]
#
# auto (the default) takes the upstream C kernel where its sources are there (THREADX_DIR or
# ./threadx-src), else the bundled kernel; it says which. Installs
# what is missing first, see scripts/setup.sh. Exits with 0 only if all self-checks pass.
#
# With --model s32z280 the run is followed by the memory timing model with the figures of that part, and
# the table is in modelled cycles instead of instructions; docs/model.md says what these are worth. With
# --mode steered the guest's own clock and timers follow the model, as far as this QEMU lets them.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

kernel=auto
model='' mode=''
while [ $# -gt 0 ]; do
  case $1 in
    --kernel) kernel=${2-}; shift $(($# > 1 ? 2 : 1)) ;;
    --kernel=*) kernel=${1#*=}; shift ;;
    --model) model=${2-}; shift $(($# > 1 ? 2 : 1)); [ -n "$model" ] || die '--model takes a part, as in --model s32z280' 2 ;;
    --model=*) model=${1#*=}; shift ;;
    --mode) mode=${2-}; shift $(($# > 1 ? 2 : 1)); [ -n "$mode" ] || die '--mode takes recorded or steered' 2 ;;
    --mode=*) mode=${1#*=}; shift ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $1, see --help" 2 ;;
  esac
done
case $mode in
  '') ;;
  recorded | steered) [ -n "$model" ] || die '--mode goes with --model, as in --model s32z280 --mode steered' 2 ;;
  *) die "--mode takes recorded or steered, not '$mode'" 2 ;;
esac
sources=$(upstream_sources) || sources=''
if [ -n "$sources" ] && [ "$kernel" != bundled ]; then check_sources "$sources"; fi
say_ignored
case $kernel in
  auto)
    if [ -n "$sources" ]; then
      kernel=upstream
      say "kernel: upstream, from $sources"
    else
      kernel=bundled
      say 'kernel: bundled (no upstream sources: neither THREADX_DIR nor ./threadx-src)'
    fi
    ;;
  bundled) say 'kernel: bundled' ;;
  upstream)
    [ -n "$sources" ] ||
      die 'no sources of the upstream kernel: set THREADX_DIR to a checkout of eclipse-threadx/threadx, or run scripts/get-threadx.sh, or use --kernel bundled'
    say "kernel: upstream, from $sources"
    ;;
  *) die "--kernel takes auto, bundled or upstream, not '$kernel'" 2 ;;
esac

if [ "$kernel" = upstream ]; then "$ROOT/scripts/setup.sh" --upstream; else "$ROOT/scripts/setup.sh"; fi
find_tools
cd "$ROOT"
say 'building txbench and the firmware'
# shellcheck disable=SC2119 # no arguments meant
build_txbench
# shellcheck disable=SC2046 # several words
fw_cargo build --release $(fw_features "$kernel" demo) || die 'the firmware does not build, see above'
options=()
if [ -n "$model" ]; then
  host_cargo build --release --manifest-path "$ROOT/Cargo.toml" --package r52-model || die 'the model does not build, see above'
  options=(--model "$model" --mode "${mode:-recorded}")
fi
exec "$TXBENCH" run "$(fw_dir release)/demo" --timeout 120 --expect 'DONE ok' "${options[@]}"

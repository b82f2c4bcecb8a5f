#!/usr/bin/env bash
# Builds an image of the measurements for a board and checks it; the last line is its path.
#
#   scripts/build.sh [--board mps3-an536|s32z280] [--kernel bundled|upstream] [OPTION...]
#
#   --board NAME     mps3-an536 (the default, runs in QEMU) or s32z280 (NXP's S32Z280-594EVB)
#   --kernel NAME    bundled (the default), or upstream: the C kernel in THREADX_DIR or ./threadx-src
#   --release        optimised (the default): what is measured
#   --debug          opt-level 1 and overflow checks
#   --flash-cache    s32z280: the instruction cache's ways for the port that code is fetched through
#   --boot-at-el1    entered at EL1 by a monitor
#   --upstream-bsp   s32z280, kernel upstream: the checkout's own board files in place of those in Rust
#   --package NAME   another package of firmware than demo; with --upstream-bsp, upstream-demo is the checkout's own
#                    demo on its own board files
#
# The image is copied to target/images, named after its choices, so that builds do not replace one another.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

board=mps3-an536 kernel=bundled profile=release package=demo extra=() check=()
need() { [ -n "${2-}" ] || die "$1 needs a value, see --help" 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --board) need "$@"; board=$2; shift ;;
    --board=*) board=${1#*=} ;;
    --kernel) need "$@"; kernel=$2; shift ;;
    --kernel=*) kernel=${1#*=} ;;
    --package) need "$@"; package=$2; shift ;;
    --package=*) package=${1#*=} ;;
    --release) profile=release ;;
    --debug) profile=debug ;;
    --flash-cache) extra+=(flash-cache) ;;
    --boot-at-el1) extra+=(boot-at-el1); check+=(--boot-at-el1) ;;
    --upstream-bsp) extra+=(upstream-bsp) ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $1, see --help" 2 ;;
  esac
  shift
done
case $board in mps3-an536 | s32z280) ;; *) die "--board takes mps3-an536 or s32z280, not '$board'" 2 ;; esac
case $kernel in
  bundled) ;;
  upstream)
    sources=$(upstream_sources) ||
      die 'no sources of the upstream kernel: set THREADX_DIR to a checkout of eclipse-threadx/threadx, or run scripts/get-threadx.sh, or use --kernel bundled'
    check_sources "$sources"
    say "kernel: upstream, from $sources"
    ;;
  *) die "--kernel takes bundled or upstream, not '$kernel'" 2 ;;
esac
if [[ " ${extra[*]} " = *' upstream-bsp '* ]]; then
  [ "$board" = s32z280 ] || die "--upstream-bsp is for --board s32z280, not '$board'" 2
  [ "$kernel" = upstream ] || die "--upstream-bsp needs --kernel upstream, not '$kernel'" 2
  [ "${#extra[@]}" = 1 ] || die "upstream's board files have no --flash-cache and no --boot-at-el1: drop those or --upstream-bsp" 2
  case $package in
    demo | upstream-demo) ;;
    *) die "--upstream-bsp is for the packages demo and upstream-demo, not '$package'" 2 ;;
  esac
fi
say_ignored
find_tools || die 'no tool chain for the firmware: run scripts/setup.sh'
cd "$ROOT"

options=(--quiet --no-default-features --features "$package/$board")
for name in "${extra[@]}"; do options+=(--features "$package/$name"); done
[ "$profile" = debug ] || options+=(--release)
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# shellcheck disable=SC2046 # several words
if ! fw_cargo build "${options[@]}" $(fw_features "$kernel" "$package") 2>"$said"; then
  # What the checkout lacks is one line of a build script.
  if missing=$(grep -m 1 -o '[^ ]*/s32z280_evb/[^ ]* is not there: .*' "$said"); then die "$missing"; fi
  cat "$said" >&2
  die 'the image does not build, see above'
fi
cat "$said" >&2
built=$(fw_dir "$profile")/$package
[ -f "$built" ] || die "the build left no $built: is $package a package with one image?"

name=$package-$board-$kernel-$profile
for part in "${extra[@]}"; do name=$name-$part; done
images=$CARGO_TARGET_DIR/images
mkdir -p "$images"
cp -f "$built" "$images/$name.elf"
build_txbench --quiet
"$TXBENCH" image "$images/$name.elf" --board "$board" "${check[@]}" ||
  die "$images/$name.elf does not pass the checks above: do not flash it"
if [ "$name" = "demo-$board-$kernel-$profile-upstream-bsp" ]; then
  say "the checkout's own demo for the same board: the same with --package upstream-demo"
fi
realpath --relative-to "$ROOT" "$images/$name.elf"

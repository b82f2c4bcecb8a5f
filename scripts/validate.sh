#!/usr/bin/env bash
# Holds the timing model against published figures: builds measuring code as it was published, without
# optimisation, on upstream's kernel, links it in several layouts, and ends with `txbench validate`.
#
#   scripts/validate.sh [LAYOUTS]
#
# LAYOUTS is how many orders of the same functions are linked (default 5). Needs upstream's sources
# (THREADX_DIR or ./threadx-src) and scripts/setup.sh --upstream; without the sources it says so and exits with 0.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

layouts=5
case ${1-} in
  '') ;;
  -h | --help) help; exit 0 ;;
  *[!0-9]* | 0) die "'$1' is no number of layouts, see --help" 2 ;;
  *) layouts=$1 ;;
esac
find_tools || die 'no tool chain: run scripts/setup.sh'
cd "$ROOT"
build_txbench --quiet
sources=$(upstream_sources) || exec "$TXBENCH" validate
check_sources "$sources"
command -v arm-none-eabi-gcc >/dev/null || die 'no arm-none-eabi-gcc: run scripts/setup.sh --upstream'
host_cargo build --quiet --release --package r52-model || die 'the model does not build, see above'

# A folder of its own: the kernel is compiled with other flags than everywhere else. The measuring code and
# the kernel are C, whose optimisation these flags say; the profile is that of the Rust code around them.
say "building $layouts layouts, kernel from $sources"
target=$CARGO_TARGET_DIR
CARGO_TARGET_DIR=$target/validate
export CARGO_TARGET_DIR CFLAGS_armv8r_none_eabihf='-O0 -mlong-calls'
images=()
for layout in $(seq "$layouts"); do
  MODEL_LAYOUT=$layout fw_cargo build --quiet --package model-published || die 'the measuring code does not build, see above'
  image=$target/validate/published-$layout
  cp "$(fw_dir debug)/model-published" "$image"
  images+=("$image")
done
exec "$TXBENCH" validate "${images[@]}"

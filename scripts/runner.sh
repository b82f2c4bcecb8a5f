#!/usr/bin/env bash
# Runs an image in QEMU through txbench: cargo's runner for the firmware target.
#
#   scripts/runner.sh ELF [OPTION...]     options of `txbench run`, see `txbench run --help`
#
# Builds txbench for this machine if needed; TXBENCH names one that is used as it is.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

case ${1-} in
  '') help >&2; exit 2 ;;
  -h | --help) help; exit 0 ;;
esac
if [ -z "${TXBENCH-}" ]; then
  find_tools || [ -n "$HOST_BIN" ] || die "no Rust $MSRV or newer for this machine: run scripts/setup.sh"
  [ -x "$CARGO_TARGET_DIR/debug/txbench" ] || say 'building txbench, once'
  build_txbench --quiet
fi
exec "$TXBENCH" run "$@"

#!/usr/bin/env bash
# Builds and runs the firmware in examples/ in QEMU and compares what it prints with examples/golden.
#
#   scripts/examples.sh [--refresh] [KERNEL...]
#
#   KERNEL      bundled, upstream; without any: bundled, and upstream where there are sources
#   --refresh   writes examples/golden instead of comparing; the kernels must print the same all the same
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

golden_options "$@"
# shellcheck disable=SC2119 # no arguments meant
build_txbench --quiet

failed=0
out=$CARGO_TARGET_DIR/examples
mkdir -p "$out"
for kernel in "${kernels[@]}"; do
  # shellcheck disable=SC2046 # several words
  fw_cargo build --quiet --release $(fw_features "$kernel" examples) || die "the examples do not build on the $kernel kernel, see above"
  for source in examples/src/bin/*.rs; do
    name=$(basename "$source" .rs)
    seen=$out/$name-$kernel.uart golden=examples/golden/$name.txt
    "$TXBENCH" run "$(fw_dir release)/$name" --timeout 60 --expect-exit 0 --log "$seen" >"$out/$name-$kernel.log" 2>&1 ||
      { cat "$out/$name-$kernel.log"; say "$name does not end with 0 on the $kernel kernel"; failed=1; continue; }
    tr -d '\r' <"$seen" >"$seen.lines" && mv "$seen.lines" "$seen"
    if [ "$refresh" = 1 ] && [ "$kernel" = "${kernels[0]}" ]; then
      cp "$seen" "$golden"
      say "$golden: $(wc -l <"$golden") lines"
    elif diff "$golden" "$seen"; then
      say "$name, $kernel kernel: as in $golden"
    else
      say "$name, $kernel kernel: differs from $golden (< golden, > now); if that is meant: scripts/examples.sh --refresh"
      failed=1
    fi
  done
done
exit "$failed"

#!/usr/bin/env bash
# Fuzzes the bundled kernel's host port against the model of kernel/tests/model.rs, guided by coverage.
#
#   scripts/fuzz.sh [--build | --merge] [SECONDS]
#
#   SECONDS   how long, 60 by default
#   --build   builds only
#
# New inputs and failing ones stay in target/fuzz; a failing one is run again with
# `target/fuzz/*/release/operations FILE`. `scripts/fuzz.sh --merge` adds to fuzz/corpus/operations, which
# the kernel's tests replay, those that reach something new. Needs a C++ compiler, but no nightly Rust.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

build=0 merge=0 seconds=60
for arg; do
  case $arg in
    --build) build=1 ;;
    --merge) merge=1 ;;
    -h | --help) help; exit 0 ;;
    *[!0-9]* | '') die "unknown argument $arg, see --help" 2 ;;
    *) seconds=$arg ;;
  esac
done
cd "$ROOT"
find_tools || die 'no usable tool chain: run scripts/setup.sh'
command -v c++ >/dev/null || die 'no C++ compiler for the fuzzing runtime: install g++'

work=$CARGO_TARGET_DIR/fuzz
# Named, so that build scripts are compiled without the flags.
host=$("$HOST_BIN/rustc" -vV | sed -n 's/^host: //p')
target=$work/$host/release/operations
mkdir -p "$work/corpus"
# What cargo-fuzz passes, without a sanitizer, which would need a nightly compiler.
RUSTFLAGS='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1' \
  host_cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target-dir "$work" --target "$host" || die 'the fuzz target does not build, see above'
[ "$build" = 0 ] || { say "built: $target"; exit 0; }
if [ "$merge" = 1 ]; then
  exec "$target" -merge=1 -max_len=1024 -rss_limit_mb=8192 fuzz/corpus/operations "$work/corpus"
fi
# Every run leaves its threads' control blocks and stacks behind, hence the memory.
exec "$target" -max_total_time="$seconds" -max_len=1024 -len_control=0 -rss_limit_mb=8192 -timeout=60 \
  -artifact_prefix="$work/" "$work/corpus" fuzz/corpus/operations

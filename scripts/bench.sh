#!/usr/bin/env bash
# Builds the measurement images, runs all their cells in QEMU and makes a report of them.
#
#   scripts/bench.sh [--quick] [--out FOLDER] [--kernel all|bundled|upstream] [--repeat N] [--fresh]
#   scripts/bench.sh --docs     regenerates docs/results.md and its plots
#   scripts/bench.sh --check    fails if docs/results.md differs from what --docs would write
#   scripts/bench.sh --cross-lto [--docs|--check]   only the C kernel with and without link-time
#                               optimisation across C and Rust; prints it, or docs/cross-lto.md
#
# Leaves report.json, report.html and the plots in FOLDER (default target/bench). --quick runs the
# core set. Called again it goes on where it stopped; --fresh begins anew. The upstream kernel takes
# part where its sources are (THREADX_DIR or ./threadx-src), its build across C and Rust where there
# are also a clang and an ld.lld of at least rustc's LLVM (scripts/setup.sh --cross-lto); the report
# says why not. Installs what is missing first, see scripts/setup.sh. Exits with 0 only if every image
# passed its self-checks; 77 says that there was nothing to compare with or no clang, 130 that it was
# interrupted. Stopped, it leaves the report of before as it was and what was measured in matrix.json.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

out='' quick=() kernel=all repeat=1 fresh=() docs='' cross=''
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=(--quick); shift ;;
    --fresh) fresh=(--fresh); shift ;;
    --out) out=${2-}; shift $(($# > 1 ? 2 : 1)); [ -n "$out" ] || die '--out needs a folder' 2 ;;
    --out=*) out=${1#*=}; shift; [ -n "$out" ] || die '--out needs a folder' 2 ;;
    --kernel) kernel=${2-}; shift $(($# > 1 ? 2 : 1)) ;;
    --kernel=*) kernel=${1#*=}; shift ;;
    --repeat) repeat=${2-}; shift $(($# > 1 ? 2 : 1)) ;;
    --repeat=*) repeat=${1#*=}; shift ;;
    --cross-lto) cross=only; shift ;;
    --docs | --check)
      [ "${docs:-${1#--}}" = "${1#--}" ] || die '--docs writes what --check compares: give one of them' 2
      docs=${1#--}
      shift
      ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $1, see --help" 2 ;;
  esac
done
[[ $repeat =~ ^[1-9][0-9]{0,2}$ ]] || die "--repeat takes a number from 1 to 999, not '$repeat'" 2
if [ -n "$cross" ]; then
  kernel=upstream fresh=(--fresh) repeat=1
  : "${out:=$CARGO_TARGET_DIR/bench-cross-lto}"
elif [ -n "$docs" ]; then
  # What the repository shows must not depend on sources that it does not have, nor on this machine.
  kernel=bundled quick=(--quick) fresh=(--fresh) repeat=1
  : "${out:=$CARGO_TARGET_DIR/bench-docs}"
fi
: "${out:=$CARGO_TARGET_DIR/bench}"
if [[ $out == "$CARGO_TARGET_DIR"/* ]]; then mkdir -p "$out"; else own_folder "$out" .bench.sh matrix.json; fi
mkdir -p "$out/images" || die "cannot create $out/images: give another folder with --out" 2
out=$(cd "$out" && pwd)
# Before minutes of work: whatever is written at its end can be.
for folder in "$out" "$out/images"; do
  probe=$(mktemp "$folder/.probe.XXXXXX" 2>/dev/null) || die "cannot write to $folder: give another folder with --out" 2
  rm -f "$probe"
done
for file in matrix.json report.json report.html host.json; do
  [ ! -d "$out/$file" ] || die "$out/$file is a folder: give another folder with --out" 2
done
[ ! -e "$out/plots" ] || [ -d "$out/plots" ] || die "$out/plots is no folder: give another folder with --out" 2

matrix=$out/matrix.json
failed=0 doing='the set-up'
# What follows takes minutes, and Ctrl-C ends it with a line of its own.
interrupted() {
  local kept=''
  rm -f "$out/host.json.part"
  [ ! -s "$matrix" ] || kept=", what was measured is in $matrix"
  die "interrupted at $doing: the same command goes on$kept" 130
}
trap interrupted INT

# try WHAT COMMAND...: its exit code is in `code`.
try() {
  doing=$1 code=0
  "${@:2}" || code=$?
  [ "$code" != 130 ] || interrupted
}
# must WHAT COMMAND...: goes on only where it succeeds.
must() {
  try "$@"
  [ "$code" = 0 ] || die "$1 failed, see above"
}
# step WHAT COMMAND...: the same of txbench, and goes on after 1 and 3, which say that something did not pass.
step() {
  try "$@"
  case $code in
    0) ;;
    1 | 3) failed=1 ;;
    *) die "$1 failed, see above" "$code" ;;
  esac
}

say_ignored
case $kernel in
  bundled) kernels=(bundled) ;;
  upstream | all)
    kernels=(bundled)
    if sources=$(upstream_sources); then
      check_sources "$sources"
      kernels=(bundled upstream)
      [ "$kernel" = all ] || kernels=(upstream)
    elif [ "$kernel" = upstream ]; then
      die 'no sources of the upstream kernel: set THREADX_DIR to a checkout of eclipse-threadx/threadx, or run scripts/get-threadx.sh'
    else
      say 'upstream kernel left out: neither THREADX_DIR nor ./threadx-src (scripts/get-threadx.sh)'
    fi
    ;;
  *) die "--kernel takes all, bundled or upstream, not '$kernel'" 2 ;;
esac
setup=()
[ "${kernels[-1]}" != upstream ] || setup=(--upstream)
must 'the set-up' "$ROOT/scripts/setup.sh" "${setup[@]}"
find_tools
cd "$ROOT"
must 'building txbench' host_cargo build --quiet --package bench
TXBENCH=$CARGO_TARGET_DIR/debug/txbench

images=()
# image NAME KERNEL PACKAGE LTO [CARGO-OPTION...]: builds it and keeps it under its name.
image() {
  local name=$1 kernel=$2 package=$3 lto=$4 target=$CARGO_TARGET_DIR
  shift 4
  # A folder for each kind of link, so that neither throws the other's libraries away.
  [ "$lto" = fat ] || target=$CARGO_TARGET_DIR/lto-$lto
  say "building $name"
  # shellcheck disable=SC2046 # several words
  CARGO_TARGET_DIR=$target CARGO_PROFILE_RELEASE_LTO=$lto must "building $name" fw_cargo build --quiet --release $(fw_features "$kernel" "$package") "$@"
  cp "$(CARGO_TARGET_DIR=$target fw_dir release)/$package" "$out/images/$name"
  images+=(--image "$name=$out/images/$name")
}
for kernel in "${kernels[@]}"; do
  [ -z "$cross" ] || break
  image "suite-$kernel" "$kernel" suite fat
  # The same with all code, the kernel's too, in another memory; after it in every list.
  image "suite-$kernel-ddr" "$kernel" suite fat --features suite/code-in-ddr
  # Each with one variant of relinquish, so that its size belongs to that variant.
  image "call-fat-$kernel" "$kernel" demo fat
  image "call-off-$kernel" "$kernel" demo off
  # On upstream's kernel the inlined relinquish is the call.
  if [ "$kernel" = bundled ]; then
    image "inline-fat-$kernel" "$kernel" demo fat --features demo/inline
    image "inline-off-$kernel" "$kernel" demo off --features demo/inline
  fi
done

# The C kernel by clang, and once more with C and Rust optimised together by the linker. What LLVM inlines
# only where both sides agree on it is said for both: processor, thread pointer, that library calls may be
# understood (which -ffreestanding denies). rustc's bitcode is that of ThinLTO, which full LTO of the C code
# would not be merged with.
across() {
  local tools flags='-mcpu=generic -mtp=soft -fhosted'
  if ! tools=$("$TXBENCH" cross-lto --rustc "$FW_BIN/rustc" 2>&1); then
    say "LTO across C and Rust is not available: ${tools#txbench: }"
    return 1
  fi
  export CC_armv8r_none_eabihf=${tools% *} CFLAGS_armv8r_none_eabihf=$flags
  image call-clang-upstream upstream demo off
  export CFLAGS_armv8r_none_eabihf="-flto=thin $flags"
  export CARGO_TARGET_ARMV8R_NONE_EABIHF_LINKER=${tools#* } CARGO_TARGET_ARMV8R_NONE_EABIHF_RUSTFLAGS=-Clinker-plugin-lto
  FW_LINKER=${tools#* } CARGO_TARGET_DIR=$CARGO_TARGET_DIR/cross-lto image cross-upstream upstream demo off
  unset CC_armv8r_none_eabihf CFLAGS_armv8r_none_eabihf
  unset CARGO_TARGET_ARMV8R_NONE_EABIHF_LINKER CARGO_TARGET_ARMV8R_NONE_EABIHF_RUSTFLAGS
}
case " ${kernels[*]} " in
  *' upstream '*) across || [ -z "$cross" ] || exit 77 ;;
esac

step 'the matrix' "$TXBENCH" matrix "${images[@]}" --out "$matrix" --repeat "$repeat" "${quick[@]}" "${fresh[@]}"
[ -s "$matrix" ] || die 'nothing was measured, see above'

if [ -n "$docs$cross" ]; then
  [ "$failed" = 0 ] || die 'an image did not pass its self-checks, see above'
  into=$out
  [ "$docs" != docs ] || into=docs
  # Figures, sizes among them, are those of tools: what `tools` shows of a page must be alike for a comparison.
  if [ -n "$cross" ]; then
    page=cross-lto again='scripts/bench.sh --cross-lto --docs'
    tools() { sed -n '/^## Images/,$p' "$1"; }
    "$TXBENCH" builds "$matrix" >"$out/page.part"
    mv "$out/page.part" "$into/$page.md"
  else
    page=results again='scripts/bench.sh --docs'
    tools() { sed -n 's/^| [^|]*suite[^|]* | built with | \(rustc .*\), opt-level .*/\1/p' "$1" | head -n 1; }
    "$TXBENCH" report "$matrix" --title 'Results on the emulated board' --markdown "$into/$page.md"
  fi
  case $docs in
    docs) say "wrote docs/$page.md" ;;
    check)
      theirs=$(tools "docs/$page.md" | paste -sd ' ') ours=$(tools "$out/$page.md" | paste -sd ' ')
      if [ "$theirs" != "$ours" ]; then
        say "docs/$page.md is of $theirs, this is $ours: neither figures nor sizes of .text are compared"
        exit 77
      fi
      { diff -u "docs/$page.md" "$out/$page.md" && { [ -n "$cross" ] || diff -rq docs/plots "$out/plots"; }; } ||
        die "docs/$page.md is not what the images give: run $again"
      say "docs/$page.md is what the images give, to the byte of .text"
      ;;
    *) cat "$out/$page.md" ;;
  esac
  exit 0
fi

host=()
if [ "$(uname -s)" = Linux ]; then
  say 'the same question on this machine'
  options=(--samples 100000 --timeout 5)
  [ "${#quick[@]}" = 0 ] || options=(--samples 10000 --timeout 1)
  # Optimised, as txbench is part of what it times here.
  must 'building txbench' host_cargo build --quiet --profile tool --package bench
  flip() { "$CARGO_TARGET_DIR/tool/txbench" host-flip "${options[@]}" --json >"$out/host.json.part"; }
  try 'the measurement on this machine' flip
  if [ "$code" = 0 ]; then
    mv "$out/host.json.part" "$out/host.json"
    host=("$out/host.json")
  fi
  rm -f "$out/host.json.part"
  case $code in
    0) ;;
    # A machine that hides its caches, for example.
    4) say 'left out: this machine cannot measure it, see above' ;;
    *) die "$doing failed, see above" "$code" ;;
  esac
fi
step 'the merge' "$TXBENCH" merge --out "$out/report.json" "$matrix" "${host[@]}"
step 'the report' "$TXBENCH" report "$out/report.json" --html "$out/report.html" --rustc "$FW_BIN/rustc"
step 'the plots' "$TXBENCH" plot "$out/report.json" --out "$out/plots"
say "report.json, report.html and plots are in $out"
[ "$failed" = 0 ] || die 'not everything passed, see above'

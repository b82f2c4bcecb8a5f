# shellcheck shell=bash
# Sourced by the other scripts: which tools this machine has and how they are called.
#
#   host_cargo SUBCOMMAND [ARG...]  cargo for packages that run on this machine
#   fw_cargo SUBCOMMAND [ARG...]    cargo for firmware, target armv8r-none-eabihf
#   fw_dir PROFILE                  folder that fw_cargo leaves images of this profile in
#   find_tools                      fills the variables below; fails if there is no usable cargo
#   upstream_sources                prints where the C kernel's sources are; fails if there are none
#   fw_features KERNEL PACKAGE...   prints cargo's options for packages of firmware on a kernel
#   say_ignored                     one line that names the caller's cargo settings that are left out
#
# Two kinds of tool chain build the firmware. One brings the target's libraries (rustup), the other
# the library's sources (Debian), from which cargo builds `core` on the way.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=armv8r-none-eabihf
# shellcheck disable=SC2034 # for setup.sh
MACHINE=mps3-an536
MSRV=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$ROOT/Cargo.toml")
: "${CARGO_TARGET_DIR:=$ROOT/target}"
export CARGO_TARGET_DIR

HOST_BIN='' # folder of the cargo for the host
FW_BIN=''   # folder of the cargo for the firmware
FW_KIND=''  # target: the target is installed; source: core is built from its sources
FW_LINKER='' # linker, where the tool chain brings none

# say TEXT: one line of progress. die TEXT [CODE]: one line of error.
say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-1}"
}

# at_least VERSION MINIMUM
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Folders that may hold a cargo and its rustc, best first.
rust_folders() {
  local found
  found=$(command -v cargo || true)
  {
    [ -z "$found" ] || dirname "$found"
    printf '%s\n' "${CARGO_HOME:-$HOME/.cargo}/bin" /usr/bin
  } | awk '!seen[$0]++'
}

# rust_usable FOLDER: a cargo and a rustc of at least the minimum version.
rust_usable() {
  local version
  [ -x "$1/cargo" ] && [ -x "$1/rustc" ] || return 1
  version=$("$1/rustc" --version 2>/dev/null | awk '{print $2}') || return 1
  [ -n "$version" ] && at_least "${version%%-*}" "$MSRV"
}

# A linker for the target outside the tool chain, by name.
find_linker() {
  local name
  for name in ld.lld ld.lld-{22,21,20,19}; do
    if command -v "$name" >/dev/null; then
      printf '%s\n' "$name"
      return
    fi
  done
  return 1
}

find_tools() {
  local folder sysroot
  HOST_BIN='' FW_BIN='' FW_KIND='' FW_LINKER=''
  while read -r folder; do
    rust_usable "$folder" || continue
    [ -n "$HOST_BIN" ] || HOST_BIN=$folder
    sysroot=$("$folder/rustc" --print sysroot)
    if [ -d "$sysroot/lib/rustlib/$TARGET/lib" ]; then
      FW_BIN=$folder FW_KIND=target FW_LINKER=''
      break
    fi
    if [ -z "$FW_KIND" ] && [ -e "$sysroot/lib/rustlib/src/rust/library/core/Cargo.toml" ] &&
      FW_LINKER=$(find_linker); then
      FW_BIN=$folder FW_KIND=source
    fi
  done < <(rust_folders)
  [ -n "$HOST_BIN" ] && [ -n "$FW_KIND" ]
}

# The caller's settings of cargo that choose another target or tool chain, or change the code that is
# measured: left out, here and in whatever is called from here.
IGNORED=''
for name in $(compgen -e); do
  case $name in
    CARGO_BUILD_TARGET | CARGO_UNSTABLE_BUILD_STD | RUSTC_BOOTSTRAP | RUSTC | CARGO_BUILD_RUSTC) ;;
    RUSTFLAGS | CARGO_ENCODED_RUSTFLAGS | CARGO_BUILD_RUSTFLAGS | CARGO_TARGET_*_RUSTFLAGS) ;;
    CARGO_PROFILE_* | CARGO_INCREMENTAL | CARGO_BUILD_INCREMENTAL) ;;
    *) continue ;;
  esac
  IGNORED="$IGNORED $name"
  unset "$name"
done
say_ignored() { [ -z "$IGNORED" ] || say "ignored, as they would change what is built and measured:$IGNORED"; }

host_cargo() {
  PATH="$HOST_BIN:$PATH" "$HOST_BIN/cargo" "$@"
}

fw_cargo() {
  local subcommand=$1
  shift
  case $FW_KIND in
    target)
      PATH="$FW_BIN:$PATH" "$FW_BIN/cargo" "$subcommand" --target "$TARGET" "$@"
      ;;
    source)
      # A folder of its own: the build scripts that RUSTC_BOOTSTRAP compiles differ from the host's. The paths of
      # this machine stay out of the images, whose size is then the same on another.
      PATH="$FW_BIN:$PATH" RUSTC_BOOTSTRAP=1 \
        CARGO_TARGET_ARMV8R_NONE_EABIHF_LINKER="$FW_LINKER" \
        "$FW_BIN/cargo" "$subcommand" -Zbuild-std=core -Ztrim-paths --config 'profile.release.trim-paths="all"' \
        --target "$TARGET" \
        --target-dir "$CARGO_TARGET_DIR/debian" "$@"
      ;;
    *) die 'no tool chain for the firmware: run scripts/setup.sh' ;;
  esac
}

fw_dir() {
  case $FW_KIND in
    source) printf '%s\n' "$CARGO_TARGET_DIR/debian/$TARGET/$1" ;;
    *) printf '%s\n' "$CARGO_TARGET_DIR/$TARGET/$1" ;;
  esac
}

# build_txbench [ARG...]: builds txbench if needed, ARGs are cargo's; its path is then in TXBENCH.
build_txbench() {
  host_cargo build "$@" --manifest-path "$ROOT/Cargo.toml" --package bench ||
    die 'txbench does not build, see above'
  # shellcheck disable=SC2034 # for the caller
  TXBENCH=$CARGO_TARGET_DIR/debug/txbench
}

# own_folder DIR FILE...: makes the folder of a script's outputs. One that has files is this script's if it has one of
# FILE..., of which the first is left there for it; else nothing of it is touched.
own_folder() {
  local dir=$1 file mine=''
  shift
  for file; do [ ! -e "$dir/$file" ] || mine=1; done
  [ -n "$mine" ] || [ ! -d "$dir" ] || [ -z "$(ls -A "$dir" 2>/dev/null)" ] ||
    die "$dir has files, and none that ${0##*/} leaves: give another folder with --out, nothing was written" 2
  { mkdir -p "$dir" && : >>"$dir/$1"; } 2>/dev/null || die "cannot write to $dir: give another folder with --out" 2
}

# golden_options [ARG...]: the start of a script that compares figures of KERNEL... or writes them with --refresh: sets
# `refresh` and `kernels`.
# shellcheck disable=SC2034 # for the caller
golden_options() {
  local arg
  refresh=0 kernels=()
  for arg; do
    case $arg in
      --refresh) refresh=1 ;;
      bundled | upstream) kernels+=("$arg") ;;
      -h | --help) help; exit 0 ;;
      *) die "unknown argument $arg, see --help" 2 ;;
    esac
  done
  cd "$ROOT" || die "cannot enter $ROOT"
  find_tools || die 'no usable tool chain: run scripts/setup.sh'
  select_kernels
}

# The help of a script is the comment at its top.
help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# no_options "$@": for a script without options and arguments.
no_options() {
  case ${1-} in
    '') ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $1, see --help" 2 ;;
  esac
}

# Tests of the scripts count with these and end with `$passed passed, $failed failed`.
passed=0 failed=0
ok() { passed=$((passed + 1)); say "ok: $1"; }
bad() { failed=$((failed + 1)); say "FAILED: $1"; }

# The same two places as in threadx-sys/build/sources.rs, which also checks what is there.
upstream_sources() {
  if [ -n "${THREADX_DIR-}" ]; then
    printf '%s\n' "$THREADX_DIR"
  elif [ -f "$ROOT/threadx-src/common/inc/tx_api.h" ]; then
    printf '%s\n' "$ROOT/threadx-src"
  else
    return 1
  fi
}

# check_sources FOLDER: fails with one line where there cannot be any. The build looks closer.
check_sources() {
  [ -d "$1" ] || die "THREADX_DIR=$1 is not a folder: set it to a checkout of eclipse-threadx/threadx, or unset it"
  [ -f "$1/common/inc/tx_api.h" ] || die "THREADX_DIR=$1 is not a checkout of eclipse-threadx/threadx: it has no common/inc/tx_api.h"
}

# select_kernels: the kernels that `kernels` names; without any bundled, and upstream where there are sources.
select_kernels() {
  local sources
  if [ "${#kernels[@]}" = 0 ]; then
    kernels=(bundled)
    if upstream_sources >/dev/null; then kernels+=(upstream); fi
  fi
  case " ${kernels[*]} " in
    *' upstream '*)
      sources=$(upstream_sources) ||
        die 'no sources of the upstream kernel: set THREADX_DIR to a checkout of eclipse-threadx/threadx, or run scripts/get-threadx.sh'
      check_sources "$sources"
      ;;
  esac
}

fw_features() {
  local kernel=$1 package
  shift
  for package; do
    printf -- '--package %s ' "$package"
    [ "$kernel" != bundled ] || printf -- '--features %s/bundled ' "$package"
  done
}

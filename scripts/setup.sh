#!/usr/bin/env bash
# Installs what the project needs and this machine lacks: QEMU 10 or newer, Rust, a linker.
#
#   scripts/setup.sh              for the demo and the tests
#   scripts/setup.sh --upstream   also what building the upstream C kernel needs
#   scripts/setup.sh --cross-lto  also a clang and an lld that optimise it together with Rust
#
# Debian and Ubuntu: by apt, with sudo unless root. Elsewhere it names what is missing and exits
# with 1. What is there is not downloaded again. A rustup tool chain is used where it has, or can
# add, the target armv8r-none-eabihf; else Debian's Rust with its library sources.
#
# Tested on Debian 12 (QEMU from its backports). Debian 13 and Ubuntu should do, but are untested; so is
# every other release. An Ubuntu that offers no QEMU 10 is refused.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

upstream=0 cross=0
for arg; do
  case $arg in
    --upstream) upstream=1 ;;
    --cross-lto) upstream=1 cross=1 ;;
    -h | --help) help; exit 0 ;;
    *) die "unknown option $arg, see --help" 2 ;;
  esac
done

# What clang is needed depends on the rustc, which must be there first.
[ "$cross" = 0 ] || "$0" --upstream

qemu_version() { qemu-system-arm --version 2>/dev/null | sed -n '1s/.*version \([0-9][0-9.]*\).*/\1/p'; }
qemu_fits() {
  local version
  command -v qemu-system-arm >/dev/null || return 1
  version=$(qemu_version)
  [ -n "$version" ] && at_least "$version" 10 &&
    qemu-system-arm -machine help 2>/dev/null | grep "^$MACHINE " >/dev/null
}
has_cc() { command -v cc >/dev/null; }
has_upstream_tools() {
  command -v arm-none-eabi-gcc >/dev/null || return 1
  compgen -G '/usr/lib/*/libclang*.so*' >/dev/null || compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null
}

# LLVM's major number of the rustc for the firmware.
llvm() { "$FW_BIN/rustc" -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p'; }
# Numbers of versions that could be installed beside the distribution's own.
llvm_versions() { seq "$(llvm)" "$(($(llvm) + 5))"; }
has_cross_tools() {
  local version clang
  clang=$(clang --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
  if [ "${clang:-0}" -ge "$(llvm)" ] && ld.lld --version 2>/dev/null | grep "LLD $clang\." >/dev/null; then return 0; fi
  for version in $(llvm_versions); do
    if command -v "clang-$version" >/dev/null && command -v "ld.lld-$version" >/dev/null; then return 0; fi
  done
  return 1
}

# What is missing, one a line.
missing() {
  qemu_fits || echo qemu
  has_cc || echo cc
  find_tools || echo rust
  [ "$upstream" = 0 ] || has_upstream_tools || echo upstream
  [ "$cross" = 0 ] || has_cross_tools || echo cross
}

describe() {
  local what found
  for what; do
    case $what in
      qemu)
        found=$(command -v qemu-system-arm || true)
        echo "qemu-system-arm 10 or newer with the machine $MACHINE${found:+ (the first on PATH, $found, is version $(qemu_version))}"
        ;;
      cc) echo 'a C compiler as linker for the host (cc)' ;;
      rust) echo "Rust $MSRV or newer with the target $TARGET (rustup target add $TARGET), or with its library sources and lld" ;;
      upstream) echo 'arm-none-eabi-gcc and libclang' ;;
      cross) echo "clang and ld.lld of one version, LLVM $(llvm) or newer" ;;
    esac
  done
}

# A rustup that only lacks the target may be able to add it; a closed network must not stall it.
add_target() {
  local rustup
  rustup=$(command -v rustup || true)
  [ -n "$rustup" ] || rustup=${CARGO_HOME:-$HOME/.cargo}/bin/rustup
  [ -x "$rustup" ] && rust_usable "$(dirname "$rustup")" || return 1
  say "adding the target $TARGET by rustup"
  timeout -k 5 120 "$rustup" target add "$TARGET" >/dev/null 2>&1 && find_tools
}

mapfile -t wanted < <(missing)
case " ${wanted[*]} " in
  *' rust '*)
    if add_target; then mapfile -t wanted < <(missing); fi
    ;;
esac

if [ "${#wanted[@]}" -gt 0 ]; then
  if ! command -v apt-get >/dev/null; then
    describe "${wanted[@]}" | while read -r line; do say "missing: $line" >&2; done
    die 'no apt-get here: install the above by hand, then run this again'
  fi

  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die 'neither root nor sudo: run this as root'
    as_root=(sudo)
  fi
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT

  # apt ARG...: silent unless it fails; retries and limits instead of a stall.
  apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive timeout -k 10 900 apt-get -q -y \
      -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 \
      -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 </dev/null || {
      tail -n 15 "$log" >&2
      die "apt-get $* failed, see above"
    }
  }

  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
  distribution=$(. /etc/os-release && echo "${ID-}")
  backports=$codename-backports

  # versions PACKAGE: `version suite...` of each offer, newest first.
  versions() { apt-cache madison "$1" 2>/dev/null | awk -F'|' '{gsub(/ /, "", $2); print $2, $3}'; }
  # upstream_of VERSION: without epoch, revision and what the distribution appended.
  upstream_of() { local v=${1#*:}; v=${v%%-*}; v=${v%%+*}; printf '%s\n' "${v%%\~*}"; }
  candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p'; }

  # offered PACKAGE MINIMUM: prints the suite to ask for, empty for the default one.
  offered() {
    local version rest
    version=$(candidate "$1")
    if [ -n "$version" ] && [ "$version" != '(none)' ] && at_least "$(upstream_of "$version")" "$2"; then
      echo
      return
    fi
    while read -r version rest; do
      case $rest in
        *" $backports/"*)
          if at_least "$(upstream_of "$version")" "$2"; then
            echo "$backports"
            return
          fi
          ;;
      esac
    done < <(versions "$1")
    return 1
  }

  # Debian's backports from the mirror that this machine uses already.
  add_backports() {
    local file uri='' signed='' list=/etc/apt/sources.list.d/threadx-rust-backports.sources
    [ "$distribution" = debian ] && [ -n "$codename" ] && [ ! -e "$list" ] || return 1
    for file in /etc/apt/sources.list.d/*.sources; do
      [ -e "$file" ] || continue
      # The stanza of the release itself, not of its security updates.
      read -r uri signed < <(awk -v suite="$codename" '
        BEGIN { RS = ""; FS = "\n" }
        {
          uri = signed = ""; hit = 0
          for (i = 1; i <= NF; i++) {
            split($i, word, /[ \t]+/)
            if ($i ~ /^URIs:/) uri = word[2]
            if ($i ~ /^Signed-By:/ && word[2] != "") signed = word[2]
            if ($i ~ /^Suites:/) for (w in word) if (word[w] == suite) hit = 1
          }
          if (hit) { print uri, signed; exit }
        }' "$file") || true
      [ -z "$uri" ] || break
    done
    if [ -z "$uri" ]; then
      # The older form, one line a source.
      read -r uri signed < <(sed -n "s/^deb  *\(\[[^]]*\]\)\{0,1\} *\([a-z+]*:[^ ]*\)  *$codename  *.*main.*/\2 \1/p" \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed 's/\[.*signed-by=\([^] ]*\).*\]/\1/; s/\[.*\]//' | head -n 1) || true
    fi
    [ -n "$uri" ] || return 1
    say "adding the package source $backports"
    {
      printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$backports"
      [ -z "$signed" ] || printf 'Signed-By: %s\n' "$signed"
    } | "${as_root[@]}" tee "$list" >/dev/null
    apt update
  }

  # need PACKAGE MINIMUM: like offered, after adding the backports where that helps.
  need() { offered "$1" "$2" || { add_backports >&2 && offered "$1" "$2"; }; }

  plain=() from_backports=()
  # want SUITE PACKAGE...
  want() {
    local suite=$1 package
    shift
    for package; do
      case " ${plain[*]} ${from_backports[*]} " in
        *" $package "*) ;;
        *) if [ -z "$suite" ]; then plain+=("$package"); else from_backports+=("$package"); fi ;;
      esac
    done
  }

  say 'reading the package lists'
  apt update
  for what in "${wanted[@]}"; do
    case $what in
      qemu)
        suite=$(need qemu-system-arm 10) ||
          die "no qemu-system-arm 10 or newer in this machine's package sources: use Debian 13, or 12 with backports, or install QEMU by hand"
        want "$suite" qemu-system-arm
        ;;
      cc) want '' gcc libc6-dev ;;
      rust)
        if suite=$(offered rustc-web "$MSRV"); then
          want "$suite" rustc-web cargo-web rust-web-src
        elif suite=$(need rustc "$MSRV"); then
          want "$suite" rustc cargo rust-src
        else
          die "no rustc $MSRV or newer in this machine's package sources: enable $codename-security, or install rustup and its target $TARGET"
        fi
        if ! find_linker >/dev/null; then
          linker=''
          for name in lld-19 lld-20 lld-21 lld; do
            if offered "$name" 17 >/dev/null; then linker=$name; break; fi
          done
          [ -n "$linker" ] || die "no lld 17 or newer in this machine's package sources: install LLVM's lld by hand"
          want '' "$linker"
        fi
        want '' gcc libc6-dev
        ;;
      upstream) want '' gcc-arm-none-eabi libnewlib-arm-none-eabi libclang-dev ;;
      cross)
        find_tools
        version=''
        for number in $(llvm_versions); do
          if offered "clang-$number" "$number" >/dev/null && offered "lld-$number" "$number" >/dev/null; then
            version=$number
            break
          fi
        done
        [ -n "$version" ] ||
          die "no clang and lld of LLVM $(llvm) or newer in this machine's package sources: install both by hand, one version"
        want '' "clang-$version" "lld-$version"
        ;;
    esac
  done
  if [ "${#plain[@]}" -gt 0 ]; then
    say "installing ${plain[*]}"
    apt install --no-install-recommends "${plain[@]}"
  fi
  if [ "${#from_backports[@]}" -gt 0 ]; then
    say "installing ${from_backports[*]} from $backports"
    apt install --no-install-recommends -t "$backports" "${from_backports[@]}"
  fi

  mapfile -t wanted < <(missing)
  if [ "${#wanted[@]}" -gt 0 ]; then
    describe "${wanted[@]}" | while read -r line; do say "still missing: $line" >&2; done
    die 'the packages were installed, but do not fit'
  fi
fi

find_tools
case $FW_KIND in
  target) how="its target $TARGET" ;;
  source) how='core from its sources' ;;
esac
say "ready: QEMU $(qemu_version), $("$FW_BIN/rustc" --version | awk '{print $1, $2}') with $how"

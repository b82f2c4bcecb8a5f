#!/usr/bin/env bash
# Compares every figure under "What it costs" in README.md: with what the images give in QEMU, and with
# costs/elsewhere.txt where another image was measured. A figure that nothing is compared with is a failure.
#
#   scripts/readme.sh [--refresh] [KERNEL...]
#
#   KERNEL      bundled, upstream; without any: bundled, and upstream where there are sources
#   --refresh   writes the figures into README.md instead of comparing
#
# Exits with 0 if all are equal, with 77 if a kernel's figures were not compared, and a line says why.
set -euo pipefail
# shellcheck source=scripts/env.sh
. "$(dirname "$0")/env.sh"

golden_options "$@"
build_txbench --quiet
out=$CARGO_TARGET_DIR/readme
mkdir -p "$out"

readme=$(<README.md)
# The section with a # for every figure that was looked at.
left=${readme#*$'\n## What it costs\n'}
left=${left%%$'\n## '*}
differs=0 compared=0 skipped=0

# figures PATTERN [FIGURE...]: README.md has them in place of each # of PATTERN. Without any they are not known here.
figures() {
  local pattern=$1 regex match='' now='' stated=() i
  shift
  # shellcheck disable=SC2016 # no expansions
  regex=$(sed -E 's/[][\.|$()?+*^{}]/\\&/g; s/ /[[:space:]]+/g; s/#/)([0-9]+)(/g' <<<"$pattern")
  if ! [[ $left =~ ($regex) ]]; then
    say "README.md has no '$pattern'"
    differs=1
    return
  fi
  # Text and figures by turns.
  for ((i = 1; i < ${#BASH_REMATCH[@]}; i++)); do
    if ((i % 2)); then
      match+=${BASH_REMATCH[i]} now+=${BASH_REMATCH[i]}
    else
      stated+=("${BASH_REMATCH[i]}")
      match+=${BASH_REMATCH[i]} now+=${1-?}
      shift $(($# > 0))
    fi
  done
  left=${left/"$match"/"$pattern"}
  case $now in
    "$match") compared=$((compared + ${#stated[@]})) ;;
    *'?'*) ;;
    *)
      if [ "$refresh" = 1 ]; then
        readme=${readme/"$match"/"$now"}
      else
        say "README.md: ${match//$'\n'/ }"
        say "      now: ${now//$'\n'/ }"
        differs=1
      fi
      ;;
  esac
}

# run IMAGE WORD...: its output is in the file that `log` names.
run() {
  local image=$1
  shift
  log=$out/$image-$kernel.uart
  "$TXBENCH" run "$(fw_dir release)/$image" --timeout 120 "${@/#/--arg=}" --expect-exit 0 --log "$log" >"$log.txt" 2>&1 ||
    { cat "$log.txt"; die "$image failed on the $kernel kernel"; }
}

# switches NAME KEY...: min, mean, max, samples taken and the counter's cost of the round trips that have all keys are in
# NAME. They must be alike, but for how many of the samples a tick fell into.
switches() {
  local -n into=$1
  local records key
  shift
  records=$(grep -a '^RECORD .*"bench":"context_switch"' "$log") || die "no round trip in $log"
  for key; do records=$(grep -F "$key" <<<"$records") || die "no round trip in $log has $key"; done
  records=$(sed -E 's/.*"n":([0-9]+),"excluded":([0-9]+),"min":([0-9]+),"mean":([0-9]+),"max":([0-9]+),.*"overhead":([0-9]+).*/\1 \2 \3 \4 \5 \6/' <<<"$records" |
    awk '{print $3, $4, $5, $1 + $2, $6}' | sort -u)
  read -ra into <<<"$records"
  [[ $records =~ ^[0-9\ ]+$ && ${#into[@]} = 5 ]] || die "round trips ($*) in $log are not alike: ${records//$'\n'/; }"
}

# elsewhere NAME: figures of costs/elsewhere.txt.
elsewhere() { sed -n "s/^$1 //p" costs/elsewhere.txt; }

build() {
  # shellcheck disable=SC2046 # several words
  fw_cargo build --quiet --release $(fw_features "$kernel" "$1") "${@:2}" || die "$1 does not build on the $kernel kernel, see above"
}

twin=()
if command -v arm-none-eabi-gcc >/dev/null; then twin=(--features demo/twin); fi

# notes NAME COUNT WHAT: so many numbers of what the image notes about it are in NAME, in their order.
notes() {
  local -n noted=$1
  mapfile -t noted < <(grep -a "^note: $3: " "$log" | grep -oE '[0-9]+')
  [ "${#noted[@]}" = "$2" ] || die "$log does not say of its $3 what it should"
}

# Figures of each kernel, empty where they are not known.
call=() inline=() called=() inlined=() rust=() off=() on=()
bundled() {
  build demo "${twin[@]}"
  run demo
  switches call '"language":"rust"'
  build suite
  run suite context_switch
  switches inline '"variant":"inline"'
  build ontarget --bin hotpath
  run hotpath
  notes called 4 relinquish
  notes inlined 5 'inlined relinquish'
}
upstream() {
  build demo "${twin[@]}"
  run demo
  if ! grep -aq '"kernel":"ThreadX 6\.4\.2 (C, [^"]*gcc 12\.2 -O2' "$log"; then
    say "upstream kernel: not compared, README.md has figures of ThreadX 6.4.2 by gcc 12.2 -O2, this is $(grep -ao '"kernel":"[^"]*"' "$log" | sort -u)"
    skipped=1
    return
  fi
  switches rust '"language":"rust"'
  switches off '"language":"c"' '"checks":"off"'
  switches on '"language":"c"' '"checks":"on"'
}
for kernel in "${kernels[@]}"; do "$kernel"; done

# Instructions, masked, words stored and loaded; of the inlined one the bytes come second.
turn=() # instructions of a switch with its call, and what the two of a round trip leave
[ "${#called[@]}" = 0 ] || turn=($((called[0] + 1)) $((call[0] - 2 * (called[0] + 1) - call[4])))
figures "| safe Rust, bundled kernel (opt-level 3, the kernel's package s, fat LTO) | # | # | # | # |" "${call[@]:0:3}" "${called[@]:1:1}"
figures '| the same with the relinquish inlined, # bytes a place instead of # | # | # | # | # |' \
  "${inlined[@]:1:1}" ${inlined[0]:+4} "${inline[@]:0:3}" "${inlined[@]:2:1}"
figures '| safe Rust, ThreadX 6.4.2 in C (gcc 12.2 -O2, floating-point state kept for every thread) | # | # | # | |' "${rust[@]:0:3}"
figures '| the same loop in C, ThreadX 6.4.2, both gcc 12.2 -O2, error checks off / on | # / # | | | |' "${off[@]:0:1}" "${on[@]:0:1}"
# shellcheck disable=SC2046 # several figures
figures '| ThreadX 6.4.2 in C without floating-point state, checks off / on (another image) | # / # | | | # |' $(elsewhere threadx_without_floats)
figures '| FreeRTOS V11.1, ARM_CRx_No_GIC, taskYIELD by SVC, gcc 12.2 -O2 (another image, not built here) | # | | | |' "$(elsewhere freertos)"
figures '# samples each' "${call[@]:3:1}"
figures 'The # contain two calls and both switches (# x #)' "${call[@]:0:1}" ${turn[0]:+2} "${turn[@]:0:1}"
figures "the partner's loop (#) and the counter (#)" "${turn[@]:1:1}" "${call[@]:4:1}"
figures 'A switch stores # words and loads #, an inlined one # and #' "${called[@]:2:2}" "${inlined[@]:3:2}"

# What is left are the numbers of versions, options and registers.
rest=$(sed -E 's/(ThreadX|gcc|opt-level|FreeRTOS) V?[0-9.]+//g; s/(-O|[A-Za-z][A-Za-z-]*)[0-9]+(\.[0-9]+)?//g' <<<"$left" | grep -E '[0-9]') &&
  { say "figures of README.md that nothing is compared with: $rest"; differs=1; }

if [ "$refresh" = 1 ]; then
  printf '%s\n' "$readme" >README.md
  say 'README.md has the figures of the images'
elif [ "$differs" = 0 ]; then
  say "$compared figures under \"What it costs\" in README.md, all as measured"
else
  say 'README.md differs from what the images give: scripts/readme.sh --refresh'
fi
[ "$differs" = 0 ] || exit 1
[ "$skipped" = 0 ] || exit 77
